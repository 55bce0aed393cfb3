"""The details of a case."""

from __future__ import annotations

from typing import Any

from pytest_auepora.core.findings import Answers
from pytest_auepora.core.scoring import Score
from pytest_auepora.reporting.page.case_data import MOST_HITS, _marked_text, case_details
from pytest_auepora.reporting.wording.checks import evidence_lines, fault_lines

from ..builders import Case, run_of, verdict_of
from .pages import BAD_ID, CASES, red


def details(name: str, *, earlier: bool = False) -> dict[str, Any]:
    run, verdict = red()
    before = run_of(CASES).cases[name] if earlier else None
    return case_details(run.cases[name], run, verdict, before, "Monday")


def test_an_opened_case_has_the_turns_before_its_question() -> None:
    run, verdict = red()
    case = run.cases["steady"]
    case.expected = {**case.expected, "chat_history": [{"role": "user", "content": "Hi\x1b[2J"}]}
    assert case_details(case, run, verdict)["turns"] == [["user", "Hi\\x1b[2J"]]
    assert "turns" not in details("mended")


def test_an_opened_case_has_everything() -> None:
    one = details(BAD_ID, earlier=True)
    assert one["where"] == "golden/billing.golden.yaml:12"
    assert one["owner"] == "search-team"
    assert one["docs"] == [["refunds.md", 1, None, 2, True]]
    assert [(hit["rank"], hit["id"], hit["was"]) for hit in one["now"]["hits"]] == [
        (1, "index.md", 1), (2, "terms.md", 3),
    ]  # fmt: skip
    assert [hit["was"] for hit in one["then"]["hits"]] == [1, None, 2]
    assert one["earlier"] == "Monday"
    assert one["cut"] == [10, "mrr@10"]
    recall = next(score for score in one["scores"] if score[0] == "recall@5")
    assert recall[:7] == ["recall@5", "0.000", "1.000", "-1.000", -1, ">= 0.5", False]
    assert ["time", "end to end 20 ms"] in one["facts"]
    case, metrics = red()[0].cases[BAD_ID], red()[0].metrics
    assert (one["problems"], one["evidence"]) == (fault_lines(case, metrics), evidence_lines(case))


def test_phrases_say_whether_they_hold() -> None:
    assert details("wrong-answer")["expected"]["must_contain"] == [["30 days", False]]


def test_forbidden_documents_that_were_returned_are_named() -> None:
    run = run_of([Case("a")])
    case = run.cases["a"]
    case.expected = {**case.expected, "forbidden_docs": ["salaries.md", "contracts.md"]}
    case.scores["no_leak"] = Score("number", 0.0, details={"leaked": ["chunk-7 (salaries.md)"]})
    told = case_details(case, run, verdict_of(run))
    assert told["expected"]["forbidden_docs"] == ["salaries.md", "contracts.md"]
    assert told["leaks"] == ["chunk-7 (salaries.md)"]


def test_what_a_case_took_of_models_is_said() -> None:
    run = run_of([Case("a"), Case("b")])
    case = run.cases["a"]
    case.system_usage = {"m": {"calls": 2, "input_tokens": 1200, "output_tokens": 80, "cost": 0.003}}
    case.judge_usage = {"helpful": {"requests": 1, "prompt_tokens": 300, "completion_tokens": 20}}
    facts = dict(case_details(case, run, verdict_of(run))["facts"])
    assert facts["system"] == "2 model calls, 1,200 + 80 tokens, cost 0.003"
    assert facts["judge"] == "1 request, 300 + 20 tokens"
    assert {"system", "judge"}.isdisjoint(dict(case_details(run.cases["b"], run, verdict_of(run))["facts"]))


def test_an_errored_case_keeps_its_trace_and_has_no_answer() -> None:
    one = details("raises")
    assert one["error"].splitlines()[1].strip() == 'File "shop.py", line 3, in search'
    assert one["now"]["answer"] is None


def test_what_a_judge_says_is_taken_along() -> None:
    run = run_of([Case("a")])
    run.cases["a"].scores["helpful"] = Score("number", 0.5, details={"rationale": {"tone": "too short"}})
    run.cases["a"].scores["right"] = Score("number", 0.5, details={"reason": "says\nnothing"})
    told = case_details(run.cases["a"], run, verdict_of(run))
    assert told["judged"] == [["helpful", "tone", "too short"], ["right", "", "says\nnothing"]]


def test_flaky_cases_and_single_answers() -> None:
    run = run_of([Case("a"), Case("b")])
    run.cases["a"].answers = Answers({"recall@5": [0.0, 1.0, "error"], "mean_latency": [0.1, 9.0]}, {}, [True] * 3)
    run.cases["b"].quarantine = "2026-01-01"
    verdict = verdict_of(run)
    verdict.flaky["a"] = 2 / 3
    told = case_details(run.cases["a"], run, verdict)
    assert told["repeats"] == [{"metric": "recall@5", "now": ["0.000", "1.000", "error"], "then": []}]
    assert any(name == "flaky" for name, _ in told["facts"])
    assert ["quarantined", "until 2026-01-01"] in case_details(run.cases["b"], run, verdict)["facts"]


def test_a_long_ranking_is_cut_but_for_what_is_relevant() -> None:
    got = [f"d{i}" for i in range(60)] + ["refunds.md", "last"]
    run = run_of([Case("a", got=got)])
    now = case_details(run.cases["a"], run, verdict_of(run))["now"]
    assert [hit["rank"] for hit in now["hits"]] == [*range(1, MOST_HITS + 1), 61]
    assert now["returned"] == 62


def test_the_source_stands_beside_an_opaque_id() -> None:
    run = run_of([Case("one", got=["9f8e", "refunds.md#2"])])
    for hit in run.cases["one"].outputs["retrieved"]:
        hit["doc"] = "refunds.md"
    now = case_details(run.cases["one"], run, verdict_of(run))["now"]
    assert [hit["source"] for hit in now["hits"]] == ["refunds.md", ""]


def test_of_a_long_chunk_the_surroundings_of_the_span_are_shown() -> None:
    text = "a " * 500 + "the passage" + " b" * 500
    hit = {"id": "x#1", "doc": "x", "text": text, "span": [10_000, 12_000]}
    pieces = list(_marked_text(hit, [{"id": "x", "span": [11_000, 11_011]}]))
    assert ("the passage", True) in pieces
    assert pieces[0] == ("… ", False)
    assert sum(len(text) for text, _ in pieces) < 1_100
