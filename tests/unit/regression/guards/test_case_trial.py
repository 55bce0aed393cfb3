"""The test of a single case: steady metrics, assertions, and asking again before it fails."""

from __future__ import annotations

import pytest

from pytest_auepora.core.run import CaseResult
from pytest_auepora.regression.accept import merge
from pytest_auepora.regression.compare import compare
from pytest_auepora.regression.guards.case_guard import (
    assertion_fault,
    judge_case,
    merge_confirmed,
    wants_confirmation,
)
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Bound

from ..runs import case, run, steady

NAMES = ("mrr", "assertion_pass")


def judged(then: float, now: float, *, is_steady: bool = True, **policy: object) -> CaseResult:
    before, after = run(case("a", mrr=then)), run(case("a", mrr=now))
    found = compare(after, steady(merge(None, before, {"all"})[0], always=is_steady))
    given = RegressionPolicy(**policy)  # type: ignore[arg-type]
    judge_case(after.cases["a"], {}, after.metrics, found.cases["a"], given, steady=found.steady)
    return after.cases["a"]


@pytest.mark.parametrize(
    ("is_steady", "case_guard", "state"),
    [(True, "auto", "failed"), (False, "auto", "passed"), (True, "net", "passed"), (True, "off", "passed")],
)
def test_only_a_steady_metric_may_fail_a_case(is_steady: bool, case_guard: str, state: str) -> None:
    assert judged(1.0, 0.2, is_steady=is_steady, case_guard=case_guard).state == state


def asserted(
    now: float, then: float | None = None, *, assertions: str = "fail", bound: float | None = None
) -> CaseResult:
    after = run(case("a", assertion_pass=now), names=NAMES)
    after.cases["a"].scores["assertion_pass"].details.update({"missing": ["30 days"]} if now < 1 else {})
    comparison = None
    if then is not None:
        comparison = compare(after, merge(None, run(case("a", assertion_pass=then), names=NAMES), {"all"})[0]).cases[
            "a"
        ]
    thresholds = {} if bound is None else {"assertion_pass": [Bound("min", bound)]}
    policy = RegressionPolicy(assertions=assertions)  # type: ignore[arg-type]
    judge_case(after.cases["a"], thresholds, after.metrics, comparison, policy)
    return after.cases["a"]


def test_an_assertion_is_a_contract() -> None:
    broken = asserted(0.0)
    assert broken.state == "failed"
    assert broken.problems == ["assertion_pass: the answer misses '30 days'"]
    assert asserted(1.0).state == "passed"
    assert asserted(0.0, assertions="report").state == "passed"
    assert asserted(0.0, 1.0).state == "failed"
    assert asserted(0.0, bound=0.0).state == "passed", "the case says itself what it has to hold"


@pytest.mark.parametrize(
    ("details", "told"),
    [
        ({"missing": ["a", "it's"], "forbidden_present": ["b"]}, """the answer misses 'a', "it's" and says 'b'"""),
        ({"problems": ["$.price: 'x' is not a number"]}, "the answer breaks its schema: $.price: 'x' is not a number"),
        ({}, ""),
    ],
)
def test_a_broken_assertion_says_what_is_wrong(details: dict[str, list[str]], told: str) -> None:
    assert assertion_fault(details) == told


def test_accepting_and_quarantine_excuse_an_assertion() -> None:
    for accepting, quarantine in [(True, ""), (False, "2999-01-01")]:
        result = case("a", assertion_pass=0.0)
        result.extra["quarantine"] = quarantine
        judge_case(result, {}, run(result, names=NAMES).metrics, None, RegressionPolicy(), accepting=accepting)
        assert result.state == "passed"
        assert result.extra["still_failing"]


def test_an_assertion_failed_in_the_baseline_is_not_red() -> None:
    known = asserted(0.0, 0.0)
    assert (known.state, known.problems) == ("passed", [])
    assert known.extra["still_failing"]
    again = merge(None, run(known, names=NAMES), {"all"})[0].cases["a"]
    assert again.state == "failed", "and it stays known"


@pytest.mark.parametrize(("states", "state"), [(("failed", "failed"), "failed"), (("failed", "passed"), "passed")])
def test_a_case_fails_if_every_answer_fails(states: tuple[str, ...], state: str) -> None:
    first = judged(1.0, 0.2)
    merge_confirmed(first, [case("a", state=one) for one in states])
    assert first.state == state
    assert first.scores["mrr"].value == 0.2, "means use the first answer"
    if state == "passed":
        assert (first.extra["varies"]["answers"], first.extra["varies"]["passed"]) == (3, 1)
        assert "mrr fell" in first.extra["varies"]["problems"][0]


def test_errors_and_timed_cases_are_not_confirmed() -> None:
    failed = judged(1.0, 0.2)
    assert wants_confirmation(failed, [], 9, RegressionPolicy())
    assert not wants_confirmation(failed, [], 9, RegressionPolicy(), timed=True)
    assert not wants_confirmation(failed, [], 9, RegressionPolicy(confirm=0))
    for other in (case("a", state="error", mrr="boom"), case("a", state="failed", mrr="boom"), case("a", mrr=1.0)):
        assert not wants_confirmation(other, [], 9, RegressionPolicy())


@pytest.mark.parametrize(("n", "most"), [(3, 10), (200, 10), (201, 11), (1000, 50)])
def test_beyond_a_cap_nothing_is_confirmed(n: int, most: int) -> None:
    asked: list[CaseResult] = []
    wanted = [wants_confirmation(judged(1.0, 0.2), asked, n, RegressionPolicy()) for _ in range(most + 2)]
    assert wanted == [True] * most + [False, False]
    assert not wants_confirmation(judged(1.0, 0.2), [], n, RegressionPolicy(), timed=True)


def test_cases_that_passed_when_asked_again_are_not_capped() -> None:
    asked: list[CaseResult] = []
    for _ in range(40):
        result = judged(1.0, 0.2)
        assert wants_confirmation(result, asked, 100, RegressionPolicy())
        merge_confirmed(result, [case("a")])
