"""Repeats: the variance split recovers what was put in."""

from __future__ import annotations

import math
import random

import pytest

from pytest_auepora.regression.guards.steadiness import split_variance

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


def test_equal_differences_have_nothing_to_shrink() -> None:
    split = split_variance([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]])
    assert (split.total, split.between, split.most_shrink) == (0.0, 0.0, 0.0)
