"""How many answers an update asks for: two of a steady system, five of one that varies."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.findings import Answers
from pytest_auepora.core.run import CaseResult
from pytest_auepora.evaluation.update import UpdatePlan, deciding_metrics
from pytest_auepora.regression.baseline import Baseline, BaselineCase

from ..reporting.builders import Case, run_of


def accepted(**more: Any) -> Baseline:
    return Baseline("shop", cases={"one": BaselineCase("h", 2, **more)})


def answered(*values: float | None, held: tuple[bool, ...] = ()) -> CaseResult:
    assertions = {"must_contain": list(held)} if held else {}
    return CaseResult("one", answers=Answers({"mrr": list(values)}, assertions, [True] * len(values)))


def test_two_of_a_steady_system_and_five_of_one_that_varies() -> None:
    plan = UpdatePlan({"mrr"})
    assert (plan.answers("one"), plan.calls(["one", "two"])) == (2, (4, 10))
    plan.notice(answered(1.0, 1.0, held=(True, True)))
    assert not plan.varies
    plan.notice(answered(1.0, 0.5))
    assert (plan.answers("one"), plan.calls(["one", "two"])) == (5, (10, 10))
    assert plan.missing({"one": answered(1.0, 0.5), "two": CaseResult("two", "skipped")}) == {"one": 3}


def test_an_assertion_that_held_once_varies() -> None:
    plan = UpdatePlan({"mrr"})
    plan.notice(answered(1.0, 1.0, held=(True, False)))
    assert plan.varies


def test_what_is_rounded_away_does_not_vary() -> None:
    plan = UpdatePlan({"mrr"})
    plan.notice(answered(0.5, 0.500001))
    assert not plan.varies


@pytest.mark.parametrize(
    ("more", "varies"),
    [
        ({"scores": {"mrr": [1.0, 0.5]}}, True),
        ({"scores": {"mean_latency": [1.0, 0.5]}}, False),
        ({"assertions": {"must_contain": [True, False]}}, True),
        ({"answered": [True, False]}, True),
        ({"scores": {"mrr": 1.0}}, False),
    ],
)
def test_the_baseline_knows_what_varies(more: dict[str, Any], varies: bool) -> None:
    assert UpdatePlan({"mrr"}, accepted(**more)).varies == varies


def test_the_golden_file_may_say_how_often() -> None:
    plan = UpdatePlan({"mrr"}, again=3, repeat=2)
    assert (plan.answers("one"), plan.calls(["one"])) == (5, (5, 5))


def test_new_cases_alone_are_asked_again() -> None:
    plan = UpdatePlan({"mrr"}, accepted(), only_new=True)
    assert (plan.answers("one"), plan.answers("two"), plan.calls(["one", "two"])) == (1, 2, (3, 6))


def test_without_a_suite_all_are_asked_at_once() -> None:
    assert UpdatePlan({"mrr"}, can_return=False).answers("one") == 5


def test_times_and_advice_decide_nothing() -> None:
    infos = run_of([Case("one")]).metrics
    names = deciding_metrics(infos, {"token_f1"})
    assert {"token_f1", "mean_latency"} & names == set()
    assert {"recall@5", "mrr@10"} <= names
