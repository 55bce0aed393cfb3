from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_auepora.core.findings import Finding
from pytest_auepora.core.run import CaseResult
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.reporting.terminal.failure import MOST_WORDS, failure_text, word_diff
from pytest_auepora.reporting.text import text_width
from pytest_auepora.reporting.wording.cases import case_diagnosis
from pytest_auepora.reporting.wording.checks import fault_lines

from ..builders import METRICS, Case, infos_of, judged

MANY = [f"doc-{i}.md" for i in range(12)]
CASE = Case("refund-window", got=["index.md", "refunds.md", "terms.md"], thresholds={"recall@5": 0.8})
FELL = CASE.with_(got=[*MANY[:8], "refunds.md", *MANY[9:]])
TRACE = (
    "ValueError: index not loaded\n"
    '  File "/srv/shop/a/rather/long/path/that/must/not/be/cut/because/editors/follow/it/project/rag.py", line 12\n'
    "    hits = self.index.search(query)"
)


def text_of(now: Case, before: Case | None = None, **options: Any) -> str:
    return failure_text(*judged(now, before), **options)


def test_a_document_that_fell() -> None:
    told = judged(FELL, CASE, policy=RegressionPolicy(policy="report"))
    assert failure_text(*told, width=90) == (
        """\
retrieval: refunds.md fell from rank 2 to 9 (recall@5 looks at 5)
golden/billing.golden.yaml:12  refund-window
query      How long do I have to ask for a refund?
  ✗ recall@5 0.000, wanted >= 0.8
answers    held in 2 of 2 accepted answers, failed 1 of 1 today
expected   ✗ refunds.md  rank 9, was 2
returned     1 · doc-0.md      12.5  What doc-0.md says about money.
             2 · doc-1.md      11.5  What doc-1.md says about money.
             3 · doc-2.md      10.5  What doc-2.md says about money.
             4 · doc-3.md       9.5  What doc-3.md says about money.
             5 · doc-4.md       8.5  What doc-4.md says about money.
               ─ recall@5 looks no further
               …
             9 ✓ refunds.md     4.5  What refunds.md says about money.
               … 12 returned
answer     Within 30 days of purchase.
reference  Within 30 days of purchase.
scores     recall@5 0.000 (was 1.000), mrr@10 0.111 (was 0.500), token_f1 1.000"""
    )


def test_documents_without_scores_have_none_in_the_table() -> None:
    result, comparison, infos = judged(FELL, CASE)
    for hit in result.outputs["retrieved"]:
        hit["score"] = 0.0  # as documents get that came as plain ids
    text = failure_text(result, comparison, infos)
    assert re.search(r"1 · doc-0.md +What doc-0.md says about money.", text)
    result.outputs["retrieved"][0]["score"] = 0.5
    assert re.search(r"2 · doc-1.md +0 +What doc-1.md", failure_text(result, comparison, infos))


def test_each_check_has_a_line_and_a_metric_is_named_once() -> None:
    lines = text_of(CASE.with_(got=["x"], answer="No."), CASE, width=200).splitlines()
    assert [line for line in lines if line.startswith(("  ✗ ", "answers"))] == [
        "  ✗ recall@5 0.000, wanted >= 0.8, fell from 1.00 (limit 0.5)",
        "  ✗ token_f1 fell from 1.00 to 0.00 (limit 0.5)",
        "answers    held in 2 of 2 accepted answers, failed 1 of 1 today",
    ]


def test_how_often_a_case_raised_is_told() -> None:
    text = text_of(CASE.with_(error=TRACE), CASE)
    assert "answers    held in 2 of 2 accepted answers, failed 1 of 1 today" in text


def test_a_wrong_answer_is_shown_against_the_right_one() -> None:
    case = CASE.with_(
        answer="Within 60 days of purchase.",
        labels={"must_contain": ["30 days"], "forbidden": ["60 days"]},
        thresholds={"assertion_pass": 1},
    )
    lines = text_of(case).splitlines()
    assert " ".join(line.strip() for line in lines[:2]).startswith(case_diagnosis(*judged(case)))
    assert "answer     Within 60 days of purchase." in lines
    assert "reference  Within 30 days of purchase." in lines
    assert "difference Within [-30-] {+60+} days of purchase." in lines
    assert "missing    '30 days'" in lines
    assert "forbidden  '60 days' in the answer" in lines
    case = case.with_(thresholds={})
    result, _, infos = judged(case)
    lines = text_of(case, width=120).splitlines()
    assert [line for line in lines if line.startswith("  ✗ ")] == [f"  ✗ {said}" for said in fault_lines(result, infos)]
    assert not [line for line in lines if line.startswith(("missing", "forbidden"))], "told once"


def test_grades_are_shown_where_they_differ() -> None:
    case = FELL.with_(relevant=["refunds.md", ("doc-1.md", 2)])
    lines = text_of(case).splitlines()
    assert "expected   ✗ refunds.md  rank 9, grade 1" in lines
    assert "           ✓ doc-1.md    rank 2, grade 2" in lines
    assert any(re.match(r"\s+2 ✓ doc-1.md", line) for line in lines)


def test_nothing_returned() -> None:
    lines = text_of(CASE.with_(got=[]), CASE).splitlines()
    assert "returned   nothing" in lines
    assert "expected   ✗ refunds.md  not returned, was 2" in lines


def test_a_refusal_was_expected() -> None:
    case = Case("ceo", relevant=[], reference=None, answer="A lot.", thresholds={"refusal_correctness": 1})
    assert "expected   a refusal: nothing is relevant" in text_of(case).splitlines()


def test_an_exception_keeps_its_frames_whole() -> None:
    lines = text_of(CASE.with_(error=TRACE)).splitlines()
    assert lines[0] == "error: ValueError: index not loaded"
    assert lines[1] == "golden/billing.golden.yaml:12  refund-window"
    assert f"  {TRACE.splitlines()[1]}" in lines
    assert "expected   refunds.md" in lines


@pytest.mark.parametrize("key", ["rationale", "reason"])
def test_a_judge_that_fails_a_case_is_heard(key: str) -> None:
    result, comparison, infos = judged(CASE.with_(answer="Soon.", thresholds={"token_f1": 0.5}))
    result.scores["token_f1"].details[key] = {"tone": "too short", "facts": "none"}
    result.scores["mrr@10"].details[key] = "not asked"
    lines = failure_text(result, comparison, infos).splitlines()
    assert [line for line in lines if line.startswith("judge")] == ["judge      token_f1: tone: too short; facts: none"]


def test_a_slow_case_shows_its_times() -> None:
    lines = text_of(CASE.with_(seconds=3.0, thresholds={"mean_latency": 2})).splitlines()
    assert lines[0] == "latency: mean_latency 3.00 s, wanted <= 2"
    assert "timings    end_to_end 3.00 s" in lines


def test_many_problems_and_documents_stay_within_a_screen() -> None:
    names = ["recall@5", "recall@10", "mrr@10", "ndcg@10", "map@10", "token_f1", "rougeL", "assertion_pass", "hit@5"]
    case = CASE.with_(
        relevant=[f"wanted-{i}.md" for i in range(30)],
        got=[f"doc-{i}.md" for i in range(60)],
        answer="word " * 2000,
        reference="other " * 2000,
        labels={"must_contain": [f"phrase {i}" for i in range(20)]},
        thresholds=dict.fromkeys(names, 1.0),
    )
    text = failure_text(*judged(case, None, names))
    assert len(text.splitlines()) <= 45
    assert "… and 24 more documents" in text


def test_a_document_behind_the_cut_is_shown_at_its_rank() -> None:
    got = [f"doc-{i}.md" for i in range(40)]
    got[36] = "refunds.md"
    lines = text_of(CASE.with_(got=got)).splitlines()
    assert any(re.match(r"\s+37 ✓ refunds.md", line) for line in lines)
    assert "… 40 returned" in lines[-4]


WIDE = CASE.with_(
    query="返金はいつまで請求できますか?" * 5,
    relevant=["規約集/返金規定の文書.md", "refunds.md", "x" * 100],
    got=["規約集/返金規定の文書その二とても長い名前.md", "e\u0301" * 50, "c", "d", "e", "refunds.md"],
    answer="三十日以内です。" * 40,
    reference="購入から三十日以内です。" * 40,
    thresholds={"recall@5": 1, "token_f1": 1},
)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("case", [FELL, WIDE, CASE.with_(got=[]), WIDE.with_(error="E: " + "wide 返金 " * 40)])
def test_no_line_is_wider_than_the_terminal(case: Case, width: int) -> None:
    text = text_of(case, CASE, width=width)
    assert [line for line in text.splitlines() if text_width(line) > width] == []


def test_what_the_system_says_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\r\u202e"
    case = CASE.with_(
        id="c", query=evil, answer=evil, got=[evil, "b"], reference=evil, thresholds={"recall@5": 1, "token_f1": 1}
    )
    for text in (text_of(case), text_of(case.with_(error=f"E: {evil}\n  {evil}"))):
        assert not set(text) & set("\x1b\x07\r\u202e")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    got=st.lists(st.text(min_size=1, max_size=8), max_size=12, unique=True),
    relevant=st.lists(st.text(min_size=1, max_size=8), max_size=4, unique=True),
    answer=st.text(max_size=40),
    reference=st.none() | st.text(max_size=40),
    failing=st.lists(st.sampled_from([*METRICS, "no such metric"]), max_size=4),
    width=st.integers(40, 100),
)
def test_any_failed_case_can_be_told(
    got: list[str], relevant: list[str], answer: str, reference: str | None, failing: list[str], width: int
) -> None:
    case = Case("a case", relevant=relevant, got=got, answer=answer, reference=reference)
    result, comparison, infos = judged(case, case, policy=RegressionPolicy(policy="report"))
    result.state = "failed"
    result.findings = [Finding("threshold", name, op="min", limit=1, after=0.0) for name in failing]
    text = failure_text(result, comparison, infos, width=width)
    assert text
    assert all(text_width(line) <= width for line in text.split("\n"))


def test_a_bare_result_can_be_told() -> None:
    failed = CaseResult("a", "failed", findings=[Finding("no number", "own")])
    assert failure_text(failed, None, {}) == (
        "system: own has no number\na\n  ✗ own has no number\nreturned   nothing\nanswer     (empty)"
    )
    assert failure_text(CaseResult("a", "error"), None, infos_of()) == "error: no result\na"


def test_a_thousand_failures_take_less_than_two_seconds() -> None:
    told = judged(FELL, CASE)
    start = time.process_time()
    for _ in range(1000):
        failure_text(*told)
    assert time.process_time() - start < 2.0


WORDS = st.lists(st.sampled_from(["within", "30", "60", "days", "of", "purchase"]), max_size=12)


def test_only_what_differs_is_marked() -> None:
    assert word_diff("Within 30 days of purchase", "Within 60 days of purchase") == [
        ("", "Within"),
        ("-", "30"),
        ("+", "60"),
        ("", "days of purchase"),
    ]


@given(WORDS, WORDS)
def test_both_texts_can_be_read_off_it(before: list[str], after: list[str]) -> None:
    pieces = word_diff(" ".join(before), " ".join(after), least_alike=0.0)
    if pieces is None:
        assert before == after or not before or not after
        return
    assert " ".join(words for sign, words in pieces if sign != "+").split() == before
    assert " ".join(words for sign, words in pieces if sign != "-").split() == after


def test_what_would_not_help_is_left_out() -> None:
    assert word_diff("", "something") is None
    assert word_diff("the same", "the same") is None
    assert word_diff("not one word", "is shared here") is None
    assert word_diff("word " * (MOST_WORDS + 1), "word " * MOST_WORDS + "other") is None


def test_who_asked_and_what_was_said_before() -> None:
    result, comparison, infos = judged(FELL.with_(labels={"as": "intern"}), CASE)
    turns = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "How can I help?"}]
    result.expected = {**result.expected, "chat_history": turns}
    lines = failure_text(result, comparison, infos).splitlines()
    assert lines[2:5] == [
        "turns      2 before; assistant: How can I help?", "query      How long do I have to ask for a refund?",
        "as         intern",
    ]  # fmt: skip
