"""How the verdict is read where a case, a policy or a baseline is not as usual: what counts in V, in pairs, in members.

What such a case takes to fail alone stands in `guards/test_case_trial.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.run import CaseResult, Run
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.compare import Comparison, compare
from pytest_auepora.regression.guards.suite_guard import note_shares, parts_of
from pytest_auepora.regression.outcomes import PASS_RATE
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.verdict import judge

from . import runs
from .runs import case, run

VARIED = [True, False, True, True, True]


def contract(name: str, held: bool | list[bool], **more: Any) -> CaseResult:
    return case(name, mrr=1.0, asserted=held, **more)


def compared(baseline: Baseline, *cases: CaseResult, **policy: Any) -> tuple[Run, Comparison, RegressionPolicy]:
    now, given = run(*cases, names=("mrr",)), RegressionPolicy(**policy)
    found = compare(now, baseline)
    note_shares(now, found, given)
    return now, found, given


def baseline(*cases: CaseResult) -> Baseline:
    return runs.accepted(run(*cases, names=("mrr",)))


BOTH = contract("a", VARIED), contract("b", VARIED)


def members(now: Run, found: Comparison, policy: RegressionPolicy) -> dict[str, int]:
    return {part.title: len(part.changes) for part in parts_of(now, found, policy)}


def test_all_that_compares_counts_in_v_pairs_and_pass_rate() -> None:
    found = compared(baseline(*BOTH), contract("a", True), contract("b", True))
    assert (found[1].varied, members(*found)) == (2, {"mrr": 2, PASS_RATE: 2})


@pytest.mark.parametrize("other", [contract("new", True), contract("b", True, content="edited since")])
def test_a_new_or_edited_case_counts_nowhere(other: CaseResult) -> None:
    found = compared(baseline(*BOTH), contract("a", True), other)
    assert (found[1].varied, members(*found)) == (1, {"mrr": 1, PASS_RATE: 1})


def test_v_is_that_of_the_merged_baseline() -> None:
    """A case that was accepted with two answers stands beside one of five."""
    merged = baseline(contract("a", [True, False]), contract("b", True))
    merged.cases |= baseline(contract("b", VARIED)).cases
    found = compared(merged, contract("a", True), contract("b", True))
    assert ([one.answers for one in merged.cases.values()], found[1].varied) == ([2, 5], 2)


def test_repeats_count_by_their_share() -> None:
    now = contract("b", [True, False, False, False])
    now.repeats = 4
    _, found, _ = compared(baseline(*BOTH), contract("a", False), now)
    assert {name: change.after for name, change in found.pass_rate.items()} == {"a": 0.0, "b": 0.25}


def test_what_cannot_fail_a_case_is_in_no_pass_rate() -> None:
    now = [contract(name, True) for name in ("a", "b", "c", "d")]
    now[0].must_pass, now[1].xfail, now[2].quarantine = True, "not yet", "2999-01-01"
    found = compared(baseline(*(contract(one.case_id, VARIED) for one in now)), *now)
    assert (found[1].varied, members(*found)) == (1, {"mrr": 3, PASS_RATE: 1}), "who is expected to fail is no member"


def test_reported_assertions_are_no_checks() -> None:
    found = compared(baseline(*BOTH), contract("a", False), contract("b", True), assertions="report")
    assert found[1].varied == 0
    assert {change.gain for change in found[1].pass_rate.values()} == {0.0}


def test_a_reported_metric_is_no_check() -> None:
    then, now = (runs.accepted(run(case("a", mrr=[1.0, 0.0, 1.0, 1.0, 1.0]))), case("a", mrr=0.0))
    assert compared(then, now)[1].varied == 1
    of_report = compared(then, now, policy="report")[1]
    assert (of_report.varied, of_report.pass_rate) == (0, {})


def test_a_changed_case_max_drop_judges_the_kept_values() -> None:
    then = runs.accepted(run(case("a", mrr=[1.0, 0.8, 0.3, 0.8, 1.0])))
    found = {drop: compared(then, case("a", mrr=0.4), case_max_drop=drop)[1] for drop in (0.5, 0.7)}
    assert [one.varied for one in found.values()] == [1, 0]
    assert [one.pass_rate["a"].before for one in found.values()] == [0.8, 1.0]


def test_single_accepted_answers_are_said() -> None:
    """No answer falls below itself, so scores of it are no checks of the pass rate; an assertion is."""
    then = baseline(case("a", mrr=1.0, asserted=True), case("b", mrr=1.0))
    assert {one.answers for one in then.cases.values()} == {1}
    now, found, policy = compared(then, case("a", mrr=0.0, asserted=True), case("b", mrr=0.0))
    assert {name: change.gain for name, change in found.pass_rate.items()} == {"a": 0.0}
    (note,) = judge(now, [], policy, runs.metrics("mrr"), baseline=then).notes
    assert (note.kind, note.data) == ("accepted once", {"cases": 2})
