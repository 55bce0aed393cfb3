"""The number of failures in a row: against the table, a grid of rates, and its promise on systems of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.regression.statistics.case_rule import ALPHA_CASES, answers_needed, c

LAST_V = {3: 3, 4: 10, 5: 23, 6: 44, 7: 78, 8: 128, 9: 200, 10: 298}
"""By number of answers in a row: the most checks that varied among five accepted answers."""


@pytest.mark.parametrize(("j", "last"), LAST_V.items())
def test_five_accepted_answers(j: int, last: int) -> None:
    assert answers_needed(5, last) == j
    assert answers_needed(5, last + 1) == (j + 1 if j < 10 else None)


def test_nothing_varied_in_two_answers() -> None:
    assert answers_needed(2, 0) == 4
    assert answers_needed(2, 1) is None, "of a partial update, beside cases of five answers that varied"


@pytest.mark.parametrize("varied", [0, 1, 500])
def test_one_accepted_answer_has_no_guarantee(varied: int) -> None:
    assert answers_needed(1, varied) == 3


def test_few_answers_by_choice_and_more() -> None:
    assert [answers_needed(3, v) for v in (0, 1, 2, 3, 10, 20)] == [3, 4, 5, 6, 9, None]
    assert [answers_needed(4, v) for v in (0, 2, 50, 100)] == [3, 4, 9, None]
    assert [answers_needed(10, v) for v in (0, 50)] == [3, 4]


@given(st.integers(2, 12), st.integers(2, 30))
def test_the_bound_is_the_largest_ratio_over_all_rates(j: int, m: int) -> None:
    x = np.linspace(1e-4, 1 - 1e-4, 20_001)
    ratios = x**j * (1 - x) ** m / (1 - (1 - x) ** m - x**m)
    assert c(j, m) == pytest.approx(ratios.max(), rel=1e-6)
    assert c(j, m) >= ratios.max() * (1 - 1e-12)


SYSTEMS = [[0.4] * 27 + [0.0] * 73, [0.6] * 27 + [0.0] * 73, [0.1] * 50, [0.02] * 200, [0.5] * 5, [0.8] * 4]
"""The chance of each check that one answer fails it."""


@pytest.mark.parametrize("rates", SYSTEMS)
def test_an_unchanged_system_seldom_fails_a_case(rates: list[float]) -> None:
    m, runs, x = 5, 4000, np.array(rates)
    failed = np.random.default_rng(3).binomial(m, x, size=(runs, len(x)))
    varied = ((failed > 0) & (failed < m)).sum(axis=1)
    red = 0.0
    for of_run, j in zip(failed, (answers_needed(m, int(v)) for v in varied), strict=True):
        red += float((x[of_run == 0] ** j).sum()) if j else 0.0  # at least the chance that any of them fails
    assert 0 < red / runs <= ALPHA_CASES
