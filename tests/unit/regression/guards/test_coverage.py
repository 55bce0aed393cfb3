"""Coverage: what the baseline measured must still be measured, and moved labels must be found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.core.case_texts import CaseTexts
from pytest_auepora.core.run import Run
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.guards.coverage import coverage_outcomes, no_match_notes
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import Verdict, judge

from ...labels.test_check import result
from ..runs import case, run
from ..test_verdict import M, baseline_of, failed, verdict


def test_labels_that_match_nothing_fail_the_run() -> None:
    found = {"c": result("span"), "d": result("none"), "e": result()}
    run = Run("s", cases={i: replace(one, case_id=i) for i, one in found.items()})
    (gate,) = coverage_outcomes(run, {}, None, accepting=False, pruning=False)
    assert (gate.key, gate.state, gate.worst_cases) == ("coverage: labels moved", "failed", ("d",))
    assert [*coverage_outcomes(Run("s"), {}, None, accepting=False, pruning=False)] == []


def test_coverage() -> None:
    before = baseline_of(run(case("a", mrr=1.0, recall_at_1=1.0), case("b", mrr=1.0)))
    now = run(case("a", mrr=1.0, recall_at_1=None), names=("recall@1",))
    gone = ["coverage: cases vanished", "coverage: metrics vanished", "coverage: recall@1"]
    assert failed(verdict_of(now, before)) == [*gone, "regression: pass rate"]
    assert failed(verdict_of(now, before, accepting=True)) == ["coverage: cases vanished"]
    assert failed(verdict_of(now, before, pruning=True)) == ["coverage: recall@1", "regression: pass rate"]


def test_a_suite_without_a_number_is_not_passed() -> None:
    nothing = run(case("a", mrr=None), case("b", mrr=None))
    (gate,) = (g for g in verdict(nothing).gates if g.state == "failed")
    assert (gate.reason, gate.names) == ("nothing measured", ("recall@1", "mrr"))
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
    measured.cases["b"].must_pass = True
    (gate,) = (g for g in verdict(measured).gates if g.state == "failed")
    assert (gate.reason, gate.names) == ("must_pass skipped", ("b",))


def test_a_metric_that_is_na_in_some_cases_is_no_loss() -> None:
    before = baseline_of(run(case("a", mrr=1.0), case("b", mrr=1.0)))
    some, none = (run(case("a", mrr=value), case("b", mrr=None)) for value in (1.0, None))
    assert failed(verdict_of(some, before)) == ["regression: pass rate"]
    (gate,) = (gate for gate in verdict_of(none, before).gates if gate.kind == "coverage")
    assert (gate.metric, gate.n, gate.reason, gate.detail) == ("mrr", 2, "scores lost", "no relevant_docs")


def test_unmet_labels_are_noted_with_the_form_that_meets() -> None:
    def asked(label: str, **hit: str) -> Run:
        one = replace(
            case("a", mrr=0.0), ranks={label: None}, texts=CaseTexts(outputs={"retrieved": [{"id": "7f3a", **hit}]})
        )
        return Run("s", cases={"a": one, "b": replace(one, case_id="b")})

    (note,) = no_match_notes(asked("refunds.md", doc="/kb/refunds.md"))
    assert (note.kind, note.names) == ("no label met", ("refunds.md",))
    assert note.data == {"cases": 2, "returned": [["7f3a", "/kb/refunds.md"]], "source": "refunds.md"}
    single = asked("refunds.md", doc="/kb/refunds.md")
    del single.cases["b"]
    assert no_match_notes(single)[0].data["source"] == "refunds.md"
    nothing = asked("refunds.md")
    for one in nothing.cases.values():
        one.outputs["retrieved"] = []
    assert no_match_notes(nothing)[0].data["returned"] == []
    (note,) = no_match_notes(asked("refunds.md", doc="/kb/returns.md"))
    assert note.data["source"] is None


@pytest.mark.parametrize("match", ["quote", "span"])
@pytest.mark.parametrize("hit", [{"id": "refunds.md"}, {"id": "7f3a", "doc": "/kb/refunds.md"}])
def test_a_passage_missed_in_its_document_is_no_wrong_name(match: str, hit: dict[str, str]) -> None:
    expected = {"relevant": [{"id": "refunds.md", "match": match, "name": "refunds.md, a passage"}]}
    texts = CaseTexts(expected=expected, outputs={"retrieved": [hit]})
    one = replace(case("a", mrr=0.0), ranks={"refunds.md, a passage": None}, texts=texts)
    assert no_match_notes(Run("s", cases={"a": one, "b": replace(one, case_id="b")})) == []
    other = replace(
        one, texts=CaseTexts(expected=expected, outputs={"retrieved": [{"id": "x", "doc": "/kb/returns.md"}]})
    )
    assert no_match_notes(Run("s", cases={"a": other, "b": replace(other, case_id="b")})) != []


def verdict_of(measured: Run, before: Baseline, **more: Any) -> Verdict:
    names = {n: M[n] for n in measured.metrics}
    return judge(measured, [], RegressionPolicy(), names, baseline=before, **more)
