"""Calls that are left, and whom they do not suffice for."""

from __future__ import annotations

from pytest_auepora.calls.budget import CallBudget

WHO = "s.golden.yaml", "", "a"


def test_without_a_limit_all_calls_may_be_made() -> None:
    budget = CallBudget()
    assert budget.allows(10**6)
    assert budget.take(10**6, WHO)
    assert (budget.left, budget.refused) == (None, {})


def test_calls_are_taken_until_none_is_left() -> None:
    budget = CallBudget(3)
    assert [budget.take(2, WHO), budget.take(2, WHO), budget.take(1, WHO)] == [True, False, True]
    assert (budget.left, list(budget.refused)) == (0, [WHO])
    assert not budget.allows(1)


def test_calls_that_cannot_be_paid_for_are_refused() -> None:
    budget = CallBudget(afford=lambda calls: calls < 3)
    assert [budget.take(2, WHO), budget.take(3, WHO)] == [True, False]
    assert list(budget.refused) == [WHO]
