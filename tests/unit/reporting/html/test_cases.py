from __future__ import annotations

from typing import Any

from pytest_auepora.core.scoring import Score
from pytest_auepora.reporting.html.cases import MOST_HITS, case_rows

from ..builders import Case, baseline_of, run_of, verdict_of
from .pages import BAD_ID, CASES, red


def rows(previous: bool = False) -> dict[str, dict[str, Any]]:
    run, verdict = red()
    return {row["id"]: row for row in case_rows(run, verdict, ["recall@5"], run_of(CASES) if previous else None)}


def test_every_case_says_what_filters_show_it() -> None:
    said = {name: row.get("is", []) for name, row in rows().items()}
    assert said == {
        "steady": [], BAD_ID: ["regressed", "failed"], "wrong-answer": ["regressed", "failed"],
        "raises": ["regressed", "failed"], "mended": ["improved"], "not-today": [],
    }  # fmt: skip


def test_an_opened_case_has_everything() -> None:
    row = rows(previous=True)[BAD_ID]
    assert row["kind"] == "newly failing"
    assert row["where"] == "golden/billing.golden.yaml:12"
    assert row["owner"] == "search-team"
    assert row["docs"] == [["refunds.md", 1, None, 2, True]]
    assert [hit[:2] for hit in row["hits"]] == [[1, "index.md"], [2, "terms.md"]]
    assert row["before"]["ids"] == ["index.md", "refunds.md", "terms.md"]
    assert row["cuts"] == {"10": "mrr@10"}
    assert row["change"] == ["recall@5", "-1.000"]
    recall = next(score for score in row["scores"] if score[0] == "recall@5")
    assert recall[:7] == ["recall@5", "0.000", "1.000", "-1.000", -1, ">= 0.5", False]
    assert row["labels"] == {"scenario": "typo"}
    assert row["tags"] == ["smoke", "refund"]
    assert ["time", "end to end 20 ms"] in row["facts"]


def test_phrases_say_whether_they_hold() -> None:
    assert rows()["wrong-answer"]["expected"]["must_contain"] == [["30 days", False]]


def test_an_errored_case_keeps_its_trace_and_has_no_answer() -> None:
    row = rows()["raises"]
    assert row["error"].splitlines()[1].strip() == 'File "shop.py", line 3, in search'
    assert "answer" not in row


def test_another_wording_is_not_held_against_an_earlier_answer() -> None:
    run, verdict = red()
    earlier = run_of(CASES)
    earlier.cases[BAD_ID].content_hash = "another"
    found = {row["id"]: row for row in case_rows(run, verdict, [], earlier)}
    assert "before" not in found[BAD_ID]
    assert "before" in found["steady"]


def test_what_a_judge_says_is_taken_along() -> None:
    run = run_of([Case("a")])
    run.cases["a"].scores["helpful"] = Score("number", 0.5, details={"rationale": {"tone": "too short"}})
    run.cases["a"].scores["right"] = Score("number", 0.5, details={"reason": "says\nnothing"})
    (row,) = case_rows(run, verdict_of(run), [])
    assert row["judged"] == [["helpful", "tone", "too short"], ["right", "", "says\nnothing"]]


def test_flaky_cases_are_those_of_the_verdict_and_excused_ones() -> None:
    run = run_of([Case("a"), Case("b"), Case("c")])
    run.cases["a"].extra["repeats"] = {"recall@5": [0.0, 1.0, None, 1.0], "mean_latency": [0.1, 9.0]}
    run.cases["c"].extra["quarantine"] = "2026-01-01"
    verdict = verdict_of(run)
    verdict.flaky["a"] = "passes in 2 of 3 repeats"
    found = {row["id"]: row for row in case_rows(run, verdict, [])}
    assert [name for name, row in found.items() if "flaky" in row.get("is", [])] == ["a", "c"]
    assert ["repeats of recall@5", "0.000, 1.000, 1.000"] in found["a"]["facts"]
    assert ["flaky", "passes in 2 of 3 repeats"] in found["a"]["facts"]
    assert ["quarantined", "until 2026-01-01"] in found["c"]["facts"]


def test_what_an_advisory_judge_would_have_failed_is_told_apart() -> None:
    run = run_of([Case("a")])
    run.cases["a"].extra["advisory"] = ["helpful 0.20, wanted >= 0.5"]
    (row,) = case_rows(run, verdict_of(run), [])
    assert row["advice"] == ["helpful 0.20, wanted >= 0.5"]
    assert "problems" not in row


def test_a_long_ranking_is_cut_but_for_what_is_relevant() -> None:
    got = [f"d{i}" for i in range(60)] + ["refunds.md", "last"]
    run = run_of([Case("a", got=got)])
    (row,) = case_rows(run, verdict_of(run), [])
    assert [hit[0] for hit in row["hits"]] == [*range(1, MOST_HITS + 1), 61]
    assert row["returned"] == 62


def test_a_lower_score_that_still_passes_is_a_regression() -> None:
    case = Case("a", got=["refunds.md"])
    baseline = baseline_of(run_of([case]))
    run = run_of([case.with_(got=["index.md", "refunds.md"])], baseline=baseline)
    (row,) = case_rows(run, verdict_of(run, baseline=baseline), ["mrr@10"])
    assert row["kind"] == "unchanged"
    assert row["is"] == ["regressed"]
    assert row["cells"] == [[0.5, "0.500", -1, False]]


def test_the_worst_score_there_is_looks_like_it() -> None:
    lost = Case("lost", got=["x"])
    run = run_of([lost, Case("found")], baseline=baseline_of(run_of([lost, Case("found")])))
    bad, good = case_rows(run, verdict_of(run), ["recall@5"])
    assert (bad["kind"], bad["cells"][0][1:]) == ("passed", ["0.000", 0, True])
    assert good["cells"][0][3] is False


def test_the_source_stands_beside_an_opaque_id() -> None:
    run = run_of([Case("one", got=["9f8e", "refunds.md#2"])])
    for hit in run.cases["one"].outputs["retrieved"]:
        hit["doc"] = "refunds.md"
    (row,) = case_rows(run, verdict_of(run), [])
    assert [hit[5] for hit in row["hits"]] == ["refunds.md", ""]


def test_an_empty_answer_is_shown_as_one() -> None:
    run = run_of([Case("a", answer=""), Case("b", error="E: down")])
    empty, errored = case_rows(run, verdict_of(run), [])
    assert empty["answer"] == ""
    assert "answer" not in errored
