"""Standard error, bound, detectable effect: against integrals and textbook cases, and the planning figures."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.regression.statistics.precision import (
    MeanEstimate,
    cases_for_effect,
    count_clusters,
    detectable_losses,
    hall_t,
    minimum_detectable_effect,
    planned_mde,
    t_quantile,
)

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 9, 10, 29, 49, 99, 199, 500, 4999])
@pytest.mark.parametrize("p", [0.5, 0.6, 0.8, 0.9, 0.95, 0.975, 0.99, 0.999])
def test_below_the_t_quantile_lies_p_of_the_density(p: float, df: int) -> None:
    """Integrated over the angle with t = √df·tan(angle), which leaves cos(angle)^(df - 1) of the density."""
    angle = math.atan(t_quantile(p, df) / math.sqrt(df))
    area = angle / 2 * float(WEIGHTS @ np.cos(angle / 2 * (NODES + 1)) ** (df - 1))
    peak = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    assert 0.5 + peak * area == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "df", "table"),
    [(0.9, 1, 3.077684), (0.95, 1, 6.313752), (0.999, 1, 318.308839), (0.975, 4, 2.776445), (0.99, 9, 2.821438),
     (0.95, 29, 1.699127), (0.999, 99, 3.174604), (0.5, 49, 0.0)],
)  # fmt: skip
def test_t_quantiles_of_the_tables(p: float, df: int, table: float) -> None:
    assert t_quantile(p, df) == pytest.approx(table, abs=5e-7)


def test_the_bound_needs_no_scipy() -> None:
    code = (
        "import sys; from pytest_auepora.regression.statistics.family import Member, judge_family\n"
        "assert 'numpy' not in sys.modules, 'numpy is imported too early'\n"
        "judge_family([Member('m', {str(i): -0.1 * (i % 3) for i in range(40)})], {})\n"
        "assert 'scipy' not in sys.modules, 'scipy was imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def estimate_of(*differences: Sequence[float]) -> MeanEstimate:
    """Estimate from the differences of the cases of each cluster."""
    cases = [(f"c{g}-{i}", f"c{g}", one) for g, own in enumerate(differences) for i, one in enumerate(own)]
    return MeanEstimate.of({case: one for case, _, one in cases}, {case: cluster for case, cluster, _ in cases})


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40))
def test_without_clusters_the_se_is_that_of_a_mean(differences: list[float]) -> None:
    estimate = MeanEstimate.of(dict(zip(map(str, range(40)), differences, strict=False)), {})
    assert estimate.se == pytest.approx(np.std(differences, ddof=1) / math.sqrt(len(differences)), abs=1e-12)
    assert estimate.mean == pytest.approx(np.mean(differences), abs=1e-12)


def test_cluster_robust_se_by_hand() -> None:
    # clusters of 2, 1 and 3 cases: n = 6, mean = -0.6 / 6 = -0.1; D_g - n_g·mean = -0.8, 0.1, 0.7
    estimate = estimate_of([-0.5, -0.5], [0.0], [0.4, 0.2, -0.2])
    assert estimate.mean == pytest.approx(-0.1)
    assert estimate.se == pytest.approx(math.sqrt(3 / 2 * (0.64 + 0.01 + 0.49)) / 6)
    assert (estimate.n_cases, estimate.n_clusters) == (6, 3)


def test_copies_of_a_case_in_its_cluster_add_no_certainty() -> None:
    scores = [-1.0, 0.0, 0.0, 0.5, -0.2, 0.0, 0.1, -0.7]
    once, five_times = estimate_of(*([s] for s in scores)), estimate_of(*([s] * 5 for s in scores))
    assert five_times.se == pytest.approx(once.se)
    assert five_times.lower_bound(0.05) == pytest.approx(once.lower_bound(0.05))


def test_lower_bound_by_hand() -> None:
    estimate = MeanEstimate(-0.02, 50, 50, 0.01)
    assert estimate.lower_bound(0.05) == pytest.approx(-0.02 - 1.6765508919 * 0.01)
    assert MeanEstimate(-0.02, 5, 1, None).lower_bound(0.05) is None
    assert MeanEstimate(None, 0, 0, None).lower_bound(0.05) is None


def test_clusters_without_a_case_of_the_metric_are_left_out() -> None:
    clusters = {"a": "one", "b": "two", "of no such case": "three"}
    assert MeanEstimate.of({"a": -1.0, "b": 1.0}, clusters) == estimate_of([-1.0], [1.0])
    assert MeanEstimate.of({}, clusters) == MeanEstimate(None, 0, 0, None)


def test_clusters_are_counted_once() -> None:
    assert count_clusters(["a", "b", "c"], {}) == 3
    assert count_clusters(["a", "b", "c"], {"a": "b"}) == 2
    assert count_clusters(["a", "b", "c"], {"a": "b", "c": "other", "d": "other"}) == 2
    assert estimate_of([-0.5, 0.0]) == MeanEstimate(-0.25, 2, 1, None)


@pytest.mark.parametrize(("n", "effect"), [(50, 0.125), (100, 0.088), (200, 0.062)])
def test_planning_figures(n: int, effect: float) -> None:
    assert planned_mde(n) == pytest.approx(effect, abs=0.0005)


def test_cases_for_an_effect_shrink_the_detectable_one_to_it() -> None:
    assert cases_for_effect(50, 0.1, 0.05) == 200
    assert cases_for_effect(50, 0.1, 0.1) == 50
    needed = cases_for_effect(80, planned_mde(80), 0.04)
    assert planned_mde(needed) <= 0.04 < planned_mde(needed - 1)


def test_the_detectable_drop_is_found_in_four_of_five_runs() -> None:
    """The 0.84 of the formula: a normal mean, tested at its critical value."""
    rng = np.random.default_rng(0)
    se, critical = 0.04, 1.645
    observed = rng.normal(minimum_detectable_effect(critical, se), se, 20_000)
    assert np.mean(observed / se > critical) == pytest.approx(0.80, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_the_corrected_t_is_that_of_the_formula(seed: int) -> None:
    sums = np.random.default_rng(seed).lognormal(size=12 + seed) - 1.2
    t, skewness = sums.mean() / sums.std(ddof=1), np.mean((sums - sums.mean()) ** 3) / sums.std() ** 3
    inside = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * len(sums))
    assert hall_t(sums.tolist()) == pytest.approx(math.sqrt(len(sums)) * inside)
    assert hall_t((-sums).tolist()) == pytest.approx(-hall_t(sums.tolist())), "a gain is a drop the other way round"


def test_the_corrected_t_without_spread() -> None:
    assert (hall_t([0.0] * 12), hall_t([-0.5] * 12), hall_t([0.5] * 12)) == (0.0, -math.inf, math.inf)


@pytest.mark.parametrize(("n", "losses"), [(10, 5), (20, 5), (50, 6), (100, 8), (200, 10)])
def test_lost_answers_that_are_seen_in_usual_noise(n: int, losses: int) -> None:
    assert detectable_losses(n, 1.0, 0.2 / math.sqrt(n)) == losses


def test_lost_answers_that_cannot_be_seen_and_without_noise() -> None:
    assert detectable_losses(4, 0.1, 0.2) is None
    assert detectable_losses(20, 0.0, 0.1) is None
    assert detectable_losses(2, 1.0, 0.0) is None
    assert detectable_losses(60, 0.4, 0.0) == 3, "k ≥ 1.7·√k, whatever the score"
