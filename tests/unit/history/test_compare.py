"""Two runs, case by case: what became of the first hit, what changed, whether it is worse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.findings import Finding, FindingStatus
from pytest_auepora.core.run import Run
from pytest_auepora.errors import NotComparableError
from pytest_auepora.history.compare import ComparisonKind, QueryNote, as_baseline, as_run, compare
from pytest_auepora.history.store import HistoryStore
from pytest_auepora.regression.baseline import BaselineMetric
from pytest_auepora.regression.baseline_file import parse_baseline
from pytest_auepora.regression.compare import Change
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.reporting.formats.comparison_report import comparison_json

from ..reporting.builders import Case, baseline_of, run_of, verdict_of

SNAPSHOT = Path(__file__).with_name("compare-1.json")
WIN, LOSS, DRAW, REGRESSION = ComparisonKind


def at(rank: int | None, case_id: str = "case", **more: Any) -> Case:
    """A case whose right chunk is at *rank* of five."""
    got = [f"other-{i}" for i in range(1, 6)]
    if rank is not None:
        got[rank - 1] = "right"
    return Case(case_id, relevant=["right"], got=got, **more)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [(1, 1, DRAW), (None, None, DRAW), (None, 5, WIN), (3, 2, WIN), (2, 3, LOSS), (1, None, REGRESSION)],
)
def test_what_becomes_of_a_hit(before: int | None, after: int | None, kind: ComparisonKind) -> None:
    (query,) = compare(run_of([at(before)]), run_of([at(after)])).per_query
    assert (query.kind, query.a_hit_rank, query.b_hit_rank) == (kind, before, after)


def pair_of_runs() -> tuple[Run, Run]:
    before = [at(2, "win"), at(1, "loss"), at(3, "draw"), at(1, "regression"), at(1, "edited"), at(1, "gone")]
    after = [at(1, "win"), at(4, "loss"), at(3, "draw"), at(None, "regression"), at(1, "edited"), at(1, "new")]
    a = run_of(before, provenance={"model": "m-1", "corpus": "c"})
    b = run_of(after, provenance={"model": "m-2", "corpus": "c"})
    b.cases["edited"].content_hash = "another"
    return a, b


def test_the_whole_report() -> None:
    a, b = pair_of_runs()
    report = compare(a, b, names=("first", "second"))
    assert {q.query_id: q.kind for q in report.per_query} == {
        "win": WIN, "loss": LOSS, "draw": DRAW, "regression": REGRESSION,
    }  # fmt: skip
    assert report.not_comparable == {"edited": "edited"}
    assert (report.only_a, report.only_b) == (("gone",), ("new",))
    assert report.causes == [Change("model", "m-1", "m-2")]
    notes = {q.query_id: q.note for q in report.per_query}
    assert notes["draw"] is None
    assert (notes["regression"], notes["win"]) == (QueryNote("newly failing", changed=True), QueryNote(changed=True))
    assert report.deltas["chunker_version_match"] == "exact"
    assert report.deltas["hit_at_k"] == {"1": -0.25, "3": -0.5, "5": -0.25, "10": -0.25}
    assert report.aggregate_a.total_queries == 4  # figures are over the cases that compare
    assert report.findings.keys() == {"loss", "regression"}
    assert report.outcome in ("worse", "inconclusive"), "four cases"


def test_the_json_stays_what_it_is() -> None:
    a, b = pair_of_runs()
    assert comparison_json(compare(a, b, names=("first", "second"))) == SNAPSHOT.read_text(encoding="utf-8")


def test_deltas_of_undefined_figures_are_null() -> None:
    report = compare(run_of([at(1)]), run_of([at(1)]))
    assert (report.deltas["assertion_pass"], report.deltas["mrr"]) == (None, 0.0)
    assert report.outcome == "same"


def test_an_error_is_a_regression_with_its_reason() -> None:
    report = compare(run_of([at(1)]), run_of([at(1, error="ConnectionError: no route")]))
    (query,) = report.per_query
    note = QueryNote("errored", error="ConnectionError: no route", changed=True)
    assert (query.kind, query.note) == (REGRESSION, note)
    assert [finding.kind for finding in report.findings["case"]] == ["raised"]
    back = compare(run_of([at(1, error="ConnectionError: no route")]), run_of([at(1)]))
    assert back.per_query[0].note == QueryNote(error_before="ConnectionError: no route", changed=True)
    assert back.outcome != "worse"


def test_a_case_that_newly_fails_says_why() -> None:
    a = run_of([at(1, answer="Within 30 days of purchase.", thresholds={"token_f1": 0.5})])
    b = run_of([at(1, answer="No idea at all.", thresholds={"token_f1": 0.5})])
    (query,) = compare(a, b).per_query
    assert query.kind is DRAW
    assert query.note == QueryNote("newly failing")
    assert {finding.metric for finding in compare(a, b).findings["case"]} == {"token_f1"}


def test_the_policy_decides_what_worse_means() -> None:
    a, b = run_of([at(1)]), run_of([at(2)])
    assert compare(a, b, policy=RegressionPolicy(policy="report")).outcome == "not judged"
    strict = compare(a, b, policy=RegressionPolicy(policy="tolerance", min_effect=0.0))
    lenient = compare(a, b, policy=RegressionPolicy(policy="tolerance", min_effect=0.6))
    assert (strict.outcome, lenient.outcome) == ("worse", "same")


@pytest.mark.parametrize("why", ["suite", "cases"])
def test_runs_that_have_nothing_in_common(why: str) -> None:
    other = run_of([at(1)], suite="other") if why == "suite" else run_of([at(1, "another")])
    with pytest.raises(NotComparableError, match=r"share no comparable case|of 'other'"):
        compare(run_of([at(1)]), other)


def test_stored_runs_compare_as_they_did_before(tmp_path: Path) -> None:
    kept = HistoryStore(tmp_path / "h.sqlite")
    a, b = pair_of_runs()
    first, second = (kept.add(run, verdict_of(run)) for run in (a, b))
    assert [kept.resolve(name) for name in ("last~1", "last")] == [first, second]
    assert compare(kept.load(first), kept.load(second)) == compare(a, b)


def test_a_baseline_compares_like_the_run_it_was_made_of() -> None:
    a, b = pair_of_runs()
    accepted = as_run(parse_baseline(baseline_of(a).dumps(), "billing.json"))
    by_run, by_baseline = compare(a, b), compare(accepted, b)
    assert [(q.query_id, q.kind) for q in by_baseline.per_query] == [(q.query_id, q.kind) for q in by_run.per_query]
    assert by_baseline.deltas["hit_at_k"] == by_run.deltas["hit_at_k"]
    assert (by_baseline.outcome, by_run.outcome) == ("worse", "inconclusive"), "a baseline knows what is steady"
    assert as_baseline(accepted).metrics == baseline_of(a).metrics


def test_a_metric_nobody_knows_still_reads_as_a_run() -> None:
    baseline = baseline_of(run_of([at(1)]))
    baseline.metrics["my_own"] = BaselineMetric(3, {"x": 1})
    info = as_run(baseline).metrics["my_own"]
    assert (info.version, info.params, info.direction) == (3, {"x": 1}, "higher")


def contract_run(*, says: str = "30 days", **excuse: Any) -> Run:
    """One case that asks for a phrase, as a golden file that does not list the metric of assertions."""
    case = Case("case", answer=f"Within {says} of purchase.", labels={"must_contain": ["30 days"]})
    run = run_of([case], names=["mrr", "assertion_pass"])
    run.metrics["assertion_pass"].baselined = False
    run.cases["case"] = replace(run.cases["case"], **excuse)
    return run


def broken(a: Run, b: Run, **options: Any) -> list[str]:
    return [finding.metric for finding in compare(a, b, **options).findings.get("case", ())]


def test_an_assertion_that_broke_is_listed() -> None:
    held, lost = contract_run(), contract_run(says="a month")
    assert broken(held, lost) == ["must_contain"]
    assert broken(lost, contract_run(says="weeks")) == [], "it did not hold before"
    assert broken(held, lost, policy=RegressionPolicy(assertions="report")) == []


@pytest.mark.parametrize(("status", "is_worse"), [
    ("failed", True), ("not asked again", True), ("still failing", True), ("varies", False), ("suspect", False),
])  # fmt: skip
def test_what_a_run_confirmed_makes_it_worse(status: FindingStatus, is_worse: bool) -> None:
    """One answer each decides nothing; asking again does, and so do accepted answers that all fail."""
    held, lost = contract_run(), contract_run(says="a month")
    lost.cases["case"].findings = [Finding("assertion", "must_contain", status)]
    report = compare(held, lost)
    assert report.outcome == ("worse" if is_worse else "inconclusive"), "the suite by itself is inconclusive"
    assert [finding.status for finding in report.findings["case"]] == ["failed" if is_worse else "varies"]
    again = compare(lost, lost)
    assert (again.outcome, again.findings) == ("same", {}), "it did not hold in the earlier run"


def test_a_case_that_has_to_pass_is_worse_by_one_answer() -> None:
    lost = contract_run(says="a month", must_pass=True)
    lost.cases["case"].findings = [Finding("assertion", "must_contain", "failed")]
    assert compare(contract_run(must_pass=True), lost).regressed_cases == ["case"]


def test_a_baseline_whose_answers_all_fail_is_worse() -> None:
    """A check that held in all accepted answers, and fails in all of a later baseline."""
    first, later = (as_run(baseline_of(contract_run(says=says), answers=5)) for says in ("30 days", "a month"))
    assert compare(first, later).regressed_cases == ["case"]
    assert compare(later, first).regressed_cases == []


@pytest.mark.parametrize("excuse", [{"xfail": "known"}, {"quarantine": "9999-12-31"}])
def test_an_excused_case_makes_no_run_worse(excuse: dict[str, Any]) -> None:
    assert broken(contract_run(), contract_run(says="a month", **excuse)) == []
    fell = run_of([at(None)])
    fell.cases["case"] = replace(fell.cases["case"], **excuse)
    assert broken(run_of([at(1)]), fell) == []
    assert broken(run_of([at(1)]), run_of([at(None)])) == ["recall@5", "mrr@10"]
