"""Repeats: the variance split recovers what was put in, flaky is as defined."""

from __future__ import annotations

import math
import random

import pytest

from pytest_auepora.regression.guards.steadiness import VarianceSplit, split_variance, why_flaky

Repeats = list[list[float]]


def noisy_sides(
    n: int, rng: random.Random, *, between: float, within: float, repeats: tuple[int, int]
) -> tuple[Repeats, Repeats]:
    """n cases whose difference spreads by *between*, each asked again with a noise of *within*."""
    base: Repeats = []
    cand: Repeats = []
    for _ in range(n):
        level, shift = rng.random(), rng.gauss(0, between)
        base.append([level + rng.gauss(0, within) for _ in range(repeats[0])])
        cand.append([level + shift + rng.gauss(0, within) for _ in range(repeats[1])])
    return base, cand


@pytest.mark.parametrize(("between", "within"), [(0.3, 0.2), (0.1, 0.3), (0.3, 0.0)])
def test_the_split_recovers_what_was_put_in(between: float, within: float) -> None:
    split = split_variance(*noisy_sides(3000, random.Random(0), between=between, within=within, repeats=(5, 3)))
    assert split.within_baseline == pytest.approx(within**2, abs=0.005)
    assert split.within_candidate == pytest.approx(within**2, abs=0.005)
    assert split.between == pytest.approx(between**2, abs=0.008)
    assert split.total == pytest.approx(between**2 + within**2 * (1 / 5 + 1 / 3), abs=0.008)


def test_the_split_by_hand() -> None:
    # differences of means 0.1, -0.5, 0.0; s_d² = 0.31/3; within: (0.02 + 0 + 0.08) / 3 and 0 / 3
    base = [[0.4, 0.6], [1.0, 1.0], [0.3, 0.7]]
    cand = [[0.6, 0.6], [0.5, 0.5], [0.5, 0.5]]
    split = split_variance(base, cand)
    mean = (0.1 - 0.5) / 3
    total = ((0.1 - mean) ** 2 + (-0.5 - mean) ** 2 + mean**2) / 2
    assert split.total == pytest.approx(total)
    assert split.within_baseline == pytest.approx(0.1 / 3)
    assert split.within_candidate == pytest.approx(0.0)
    assert split.between == pytest.approx(total - 0.1 / 3 / 2)
    assert split.most_shrink == pytest.approx(1 - math.sqrt(1 - 0.1 / 6 / total))


def test_uneven_repeats_weigh_by_their_harmonic_mean() -> None:
    split = split_variance([[0.4, 0.6], [1.0, 0.0, 1.0, 0.0], [0.5]], [[0.5], [0.5], [0.2]])
    within = (0.02 + 1.0) / 4
    assert split.between == pytest.approx(max(0.0, split.total - within * (1 / 2 + 1 / 4 + 1) / 3 - within))
    assert split.within_baseline == pytest.approx((0.02 + 1.0) / 4)
    assert split.within_candidate == split.within_baseline, "a side never repeated is as noisy as the other"


def test_noise_larger_than_the_spread_leaves_nothing_between() -> None:
    split = split_variance([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.6], [0.5, 0.5]])
    assert split.between == 0.0
    assert split.most_shrink == 1.0
    assert split.repeats_instead_of(4) is not None


def test_equal_differences_have_nothing_to_shrink() -> None:
    split = split_variance([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]])
    assert (split.total, split.between, split.most_shrink) == (0.0, 0.0, 0.0)


def test_the_split_in_words() -> None:
    split = VarianceSplit(40, 0.10, 0.04, 0.15, 0.15)
    assert split.most_shrink == pytest.approx(1 - math.sqrt(0.4))
    assert str(split) == (
        "variance between cases 0.0400, within cases 0.0600; more repeats can shrink the standard error by at most 37 %"
    )


def test_repeats_that_are_worth_as_much_as_more_cases() -> None:
    split = VarianceSplit(40, 0.10, 0.04, 0.15, 0.15)
    needed = split.repeats_instead_of(60)
    assert needed is not None
    for repeats, enough in ((needed, True), (needed - 1, False)):
        assert ((0.04 + 0.30 / repeats) / 40 <= 0.10 / 60 + 1e-12) is enough
    assert split.repeats_instead_of(100) is None, "0.04 / 40 is as much as 0.10 / 100, whatever the repeats"


@pytest.mark.parametrize(
    ("passes", "flaky"), [(0, False), (1, False), (2, True), (5, True), (8, True), (9, False), (10, False)]
)
def test_flaky_is_a_pass_rate_between_ten_and_ninety_percent(passes: int, flaky: bool) -> None:
    found = why_flaky([True] * passes + [False] * (10 - passes), {})
    assert found == (f"passes in {passes} of 10 repeats" if flaky else "")


def test_flaky_is_a_score_that_varies() -> None:
    calm = why_flaky([True] * 3, {"f1": [0.5, 0.5, 0.7]})
    noisy = why_flaky([True] * 3, {"f1": [0.5, 0.5, 0.7], "rougeL": [0.2, 0.6, 0.4]})
    assert calm == ""
    assert noisy == "rougeL varies by 0.20 (standard deviation) between repeats"
    both = why_flaky([True, False], {"f1": [0.0, 1.0]})
    assert " and " in both


@pytest.mark.parametrize(("apart", "flaky"), [(0.21, False), (0.22, True)])
def test_flaky_is_a_standard_deviation_above_0_15(apart: float, flaky: bool) -> None:
    """Of two scores it is their distance over the root of 2: 0.148 and 0.156."""
    assert bool(why_flaky([True, True], {"f1": [0.5, 0.5 + apart]})) is flaky


def test_one_repeat_is_never_flaky() -> None:
    assert why_flaky([False], {"f1": [0.3]}) == ""
    assert why_flaky([], {}) == ""
