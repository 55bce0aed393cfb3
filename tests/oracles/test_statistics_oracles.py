"""The statistics of the verdict against scipy; without it, integrals and brute force prove them."""

from __future__ import annotations

import inspect
import math
import random
from typing import Any

import numpy as np
import pytest

from pytest_auepora.regression.statistics.intervals import mean_difference
from pytest_auepora.regression.statistics.precision import hall_t, t_quantile
from pytest_auepora.regression.statistics.signflip import sign_flip_test

special = pytest.importorskip("scipy.special", reason="scipy is not installed (group oracles)")
stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 9, 10, 29, 49, 99, 199, 500, 4999])
@pytest.mark.parametrize("p", [0.5, 0.6, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999])
def test_t_quantile(p: float, df: int) -> None:
    assert float(special.stdtr(df, t_quantile(p, df))) == pytest.approx(p, abs=1e-12)
    assert t_quantile(p, df) == pytest.approx(float(special.stdtrit(df, p)), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_skewness_of_the_corrected_t(seed: int) -> None:
    sums = np.random.default_rng(seed).lognormal(size=12 + seed) - 1.2
    t, skewness = sums.mean() / sums.std(ddof=1), stats.skew(sums)
    inside = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * len(sums))
    assert hall_t(sums.tolist()) == pytest.approx(math.sqrt(len(sums)) * inside)


def test_the_interval_of_a_mean_is_that_of_the_paired_t_test() -> None:
    rng = random.Random(1)
    pairs = {f"c{i}": (rng.random(), rng.random()) for i in range(30)}
    found = mean_difference(pairs, {}, alpha=0.05)
    theirs = stats.ttest_rel([b for _, b in pairs.values()], [a for a, _ in pairs.values()]).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def p_of_drop(differences: list[float]) -> float:
    return float(sign_flip_test(np.array(differences)[:, None]).p_raw[0])


def mid_p_of_scipy(differences: list[float], **options: Any) -> float:
    """Half of the ties is what its p-values of either side share."""

    def statistic(d: Any, axis: int) -> Any:
        return -np.sum(d, axis=axis) / math.sqrt(sum(x * x for x in differences))

    p = {
        side: stats.permutation_test(
            (np.array(differences),),
            statistic,
            permutation_type="samples",
            alternative=side,
            vectorized=True,
            **options,
        ).pvalue
        for side in ("greater", "less")
    }
    return float((p["greater"] + 1 - p["less"]) / 2)


@pytest.mark.parametrize(
    "differences",
    [
        [-1.0, -1.0, -1.0, -1.0],
        [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, 1.0],
        [-0.5, 0.2, -0.1, -1.0, 0.33, -0.25, -0.4, 0.05],
        [0.3, 0.2, 0.1, -0.1],
        [-0.31, 0.11, 0.02, -0.57, -0.23, 0.41, -0.01, -0.19, -0.43, 0.29, -0.37, -0.05, 0.13],
    ],
)
def test_one_metric_agrees_exactly_when_enumerated(differences: list[float]) -> None:
    assert p_of_drop(differences) == pytest.approx(mid_p_of_scipy(differences, n_resamples=np.inf), abs=1e-12)


def test_one_metric_agrees_within_chance_when_drawn() -> None:
    differences = np.random.default_rng(7).normal(0.0, 0.3, 60).tolist()
    newer = "rng" in inspect.signature(stats.permutation_test).parameters
    seed = {"rng" if newer else "random_state": np.random.default_rng(8)}
    theirs = mid_p_of_scipy(differences, n_resamples=9999, **seed)
    assert p_of_drop(differences) == pytest.approx(theirs, abs=4 * math.sqrt(2 * theirs * (1 - theirs) / 9999))
    assert 0.02 < theirs < 0.3, "the comparison should not be at an edge"
