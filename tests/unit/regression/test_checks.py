"""What the checks of a case see of each answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.core.findings import Answers, OneAnswer
from pytest_auepora.core.run import CaseResult
from pytest_auepora.core.scoring import Score
from pytest_auepora.regression.baseline import BaselineCase
from pytest_auepora.regression.checks import (
    CaseRules,
    Guard,
    accepted_checks,
    can_fail_alone,
    held_assertions,
    shares_passed,
)

from . import runs

KEYS = ("must_contain", "forbidden")
ANSWERS = st.lists(
    st.builds(
        OneAnswer, st.fixed_dictionaries({"mrr": st.sampled_from([0.0, 1.0, None, "error"])}),
        st.fixed_dictionaries(dict.fromkeys(KEYS, st.booleans())), st.just(True), st.just(False),
    ),
    min_size=1,
)  # fmt: skip


@given(ANSWERS)
def test_answers_by_column_come_back_one_by_one(singles: list[OneAnswer]) -> None:
    assert CaseResult("a", answers=Answers.of(singles)).each_answer() == singles


def test_of_a_call_that_raised_everything_errored() -> None:
    raised = OneAnswer({}, {}, answered=False)
    told = Answers.of([OneAnswer({"mrr": 1.0}, {"must_contain": True}), raised])
    assert (told.values, told.assertions) == ({"mrr": [1.0, "error"]}, {"must_contain": [True, False]})
    assert CaseResult("a", answers=told).each_answer()[1].assertions == {}, "nothing was there to hold"


@pytest.mark.parametrize(
    ("value", "details", "held"),
    [
        (1.0, {}, {"must_contain": True, "forbidden": True}),
        (0.0, {"missing": ["30 days"]}, {"must_contain": False, "forbidden": True}),
        (0.0, {"forbidden_present": ["never"]}, {"must_contain": True, "forbidden": False}),
        (0.0, {}, {"must_contain": False, "forbidden": False}),
        (None, {}, {}),
    ],
)
def test_which_assertion_holds(value: float | None, details: dict[str, Any], held: dict[str, bool]) -> None:
    score = Score("number" if value is not None else "n/a", value, details=details)
    assert held_assertions({"assertion_pass": score}, KEYS) == held


@pytest.mark.parametrize(
    ("result", "alone"),
    [
        (CaseResult("a"), True), (CaseResult("a", must_pass=True), False), (CaseResult("a", xfail="known"), False),
        (CaseResult("a", quarantine="2999-01-01"), False), (CaseResult("a", quarantine="2001-01-01"), True),
        (CaseResult("a", "skipped"), False),
    ],
)  # fmt: skip
def test_which_cases_are_asked_again(result: CaseResult, alone: bool) -> None:
    assert can_fail_alone(result) == alone


def test_what_is_scored_in_pairs_alone_does_not_miss_its_number() -> None:
    rules = CaseRules(numbers={"counterfactual_consistency": 1.0})
    result = CaseResult("a", scores={"counterfactual_consistency": Score("aggregate", data=["an answer", False])})
    assert rules.failing(result.as_answer()) == {}, "its pair is known when all cases are"
    result.scores["counterfactual_consistency"] = Score("n/a", reason="no answer")
    assert [kind for kind, *_ in rules.failing(result.as_answer())] == ["no number"]


def accepted_values(*values: float) -> tuple[CaseRules, BaselineCase]:
    before = runs.accepted(runs.run(runs.case("a", mrr=[*values]))).cases["a"]
    centre = before.centre("mrr", 0.0)
    assert centre is not None
    return CaseRules(guards={"mrr": Guard(runs.run(runs.case("a", mrr=1.0)).metrics["mrr"], centre, 0.5)}), before


@pytest.mark.parametrize(("values", "varied"), [
    ((1.0, 1.0, 1.0, 0.0, 0.0), 1),  # below their centre, .6
    ((1.0, 1.0, 1.0, 0.45, 0.45), 1),  # not below .78 by more than .5, but below the best of them
    ((1.0, 0.45, 0.45, 0.45, 0.45), 1),
    ((1.0, 1.0, 0.5, 0.5, 0.5), 0),
    ((1.0, 1.0, 1.0, 1.0, 1.0), 0),
])  # fmt: skip
def test_a_score_that_may_not_fall_varies_by_its_range(values: tuple[float, ...], varied: int) -> None:
    assert accepted_checks(*accepted_values(*values)).varied_checks == varied


@pytest.mark.parametrize(("values", "today", "shares"), [
    ((1.0, 1.0, 1.0, 1.0, 1.0), 1.0, (1, 1)),
    ((1.0, 1.0, 1.0, 1.0, 1.0), 0.4, (1, 0)),
    ((1.0, 1.0, 1.0, 1.0, 0.4), 0.4, (0.8, 0.8)),  # the others' centre is 1.0 for one of five, else .85
    ((1.0, 1.0, 0.4, 0.4, 0.4), 0.4, (1, 1)),
])  # fmt: skip
def test_an_answer_is_held_against_other_answers(
    values: tuple[float, ...], today: float, shares: tuple[float, float]
) -> None:
    assert shares_passed(*accepted_values(*values), [OneAnswer({"mrr": today}, {})]) == pytest.approx(shares)


@given(st.lists(st.sampled_from([0.0, 0.3, 0.45, 0.9, 1.0]), min_size=6, max_size=6))
def test_an_unchanged_system_passes_as_often_as_before(values: list[float]) -> None:
    """Whichever of six answers is today's, on average over all of them the share of the others is the same."""
    shares = [
        shares_passed(*accepted_values(*values[:i], *values[i + 1 :]), [OneAnswer({"mrr": today}, {})])
        for i, today in enumerate(values)
    ]
    assert sum(before for before, _ in shares) == pytest.approx(sum(now for _, now in shares))
