"""Coverage: what the baseline measured must still be measured, and moved labels must be found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import Run
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.guards.coverage import coverage_outcomes, label_notes, no_match_notes
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from ...labels.test_check import result
from ..runs import case, run
from ..test_verdict import M, baseline_of, failed, verdict


def test_a_run_says_its_match_and_fails_without_any() -> None:
    found = {"c": result("span"), "d": result("none"), "e": result()}
    run = Run("s", cases={i: replace(one, case_id=i) for i, one in found.items()})
    (note,) = label_notes(run, None)
    assert note.startswith("labels moved in 2 of 3 cases: 2 split; cases matched 1 by the chunks that hold")
    (gate,) = coverage_outcomes(run, {}, None, accepting=False, pruning=False)
    assert (gate.title, gate.state, gate.worst_cases) == ("coverage: labels", "failed", ("d",))
    assert (
        label_notes(Run("s", cases={"e": result()}), None),
        [*coverage_outcomes(Run("s"), {}, None, accepting=False, pruning=False)],
    ) == ([], [])


def test_coverage() -> None:
    before = baseline_of(run(case("a", mrr=1.0, recall_at_1=1.0), case("b", mrr=1.0)))
    now = run(case("a", mrr=1.0, recall_at_1=None), names=("recall@1",))
    assert failed(verdict_of(now, before)) == ["coverage: cases", "coverage: metrics", "coverage: scores"]
    assert failed(verdict_of(now, before, accepting=True)) == ["coverage: cases"]
    assert failed(verdict_of(now, before, pruning=True)) == ["coverage: scores"]


def test_a_suite_without_a_number_is_not_passed() -> None:
    nothing = run(case("a", mrr=None), case("b", mrr=None))
    (gate,) = (g for g in verdict(nothing).gates if g.state == "failed")
    assert gate.message == "no case has a number in recall@1, mrr, so nothing was judged"
    one_number = run(case("a", mrr=None), case("b", mrr=0.0))
    assert failed(verdict(one_number)) == []
    skipped = run(case("a", state="skipped"), case("b", state="skipped"))
    assert failed(verdict(skipped)) == []
    partial = run(case("a", mrr=None))
    partial.expected_ids = ("a", "b")
    assert failed(verdict(partial)) == []


def test_a_case_that_must_pass_may_not_be_skipped() -> None:
    measured = run(case("a", mrr=1.0), case("b", state="skipped"))
    assert failed(verdict(measured)) == []
    measured.cases["b"].extra["must_pass"] = True
    (gate,) = (g for g in verdict(measured).gates if g.state == "failed")
    assert gate.message == "b: must pass, and was skipped"


def test_unmet_labels_are_told_with_the_form_that_meets() -> None:
    def asked(label: str, **hit: str) -> Run:
        one = replace(
            case("a", mrr=0.0), ranks={label: None}, texts=CaseTexts(outputs={"retrieved": [{"id": "7f3a", **hit}]})
        )
        return Run("s", cases={"a": one, "b": replace(one, case_id="b")})

    (note,) = no_match_notes(asked("refunds.md", doc="/kb/refunds.md"), [])
    assert note == (
        "no label was met in 2 cases: wanted refunds.md; returned 7f3a of /kb/refunds.md; "
        "a plain label is an id; did you mean {doc: refunds.md}?"
    )
    single = asked("refunds.md", doc="/kb/refunds.md")
    del single.cases["b"]
    assert "did you mean {doc: refunds.md}?" in no_match_notes(single, [])[0]
    nothing = asked("refunds.md")
    for one in nothing.cases.values():
        one.outputs["retrieved"] = []
    assert "does the system return (answer, documents)?" in no_match_notes(nothing, [])[0]
    (note,) = no_match_notes(asked("refunds.md", doc="/kb/returns.md"), [])
    assert "did you mean" not in note
    assert note.endswith("see `auepora help recall-is-zero`")


@pytest.mark.parametrize("label", ['refunds.md: "30 days"', "refunds.md[0:9]"])
@pytest.mark.parametrize("hit", [{"id": "refunds.md"}, {"id": "7f3a", "doc": "/kb/refunds.md"}])
def test_a_passage_missed_in_its_document_is_no_wrong_name(label: str, hit: dict[str, str]) -> None:
    one = replace(case("a", mrr=0.0), ranks={label: None}, texts=CaseTexts(outputs={"retrieved": [hit]}))
    assert no_match_notes(Run("s", cases={"a": one, "b": replace(one, case_id="b")}), []) == []
    other = replace(one, texts=CaseTexts(outputs={"retrieved": [{"id": "x", "doc": "/kb/returns.md"}]}))
    assert no_match_notes(Run("s", cases={"a": other, "b": replace(other, case_id="b")}), []) != []


def verdict_of(measured: Run, before: Baseline, **more: Any) -> Verdict:
    names = {n: M[n] for n in measured.metrics}
    return judge(measured, [], RegressionPolicy(), names, baseline=before, **more)
