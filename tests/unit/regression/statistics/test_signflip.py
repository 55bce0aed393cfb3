"""The resampling: against brute force, and the properties it must have."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_auepora.regression.statistics import signflip
from pytest_auepora.regression.statistics.signflip import SignFlipTest, cluster_sums, sign_flip_test

Matrix = list[list[float]]

FIRST_SIGNS = "+-+------+++++-+--++++-+--+--++-"
SCORES = st.sampled_from([-1.0, -0.5, -0.2, -0.1, 0.0, 0.0, 0.1, 0.25, 0.5, 1.0])


def matrices(*, max_clusters: int = 7, max_metrics: int = 4) -> st.SearchStrategy[Matrix]:
    return st.integers(1, max_metrics).flatmap(
        lambda m: st.lists(st.lists(SCORES, min_size=m, max_size=m), min_size=1, max_size=max_clusters)
    )


def run(sums: Matrix, **options: Any) -> SignFlipTest:
    return sign_flip_test(np.array(sums, dtype=float), **options)


def brute_force(sums: Matrix) -> tuple[list[float], list[float]]:
    """Raw p, adjusted p: every pattern spelled out, in plain Python, the zero clusters included."""
    metrics = range(len(sums[0]))
    root = [math.sqrt(sum(row[m] ** 2 for row in sums)) for m in metrics]

    def statistic(signs: tuple[int, ...], m: int) -> float:
        return -sum(s * row[m] for s, row in zip(signs, sums, strict=True)) / root[m] if root[m] else 0.0

    patterns = list(itertools.product((1, -1), repeat=len(sums)))
    observed = [statistic(patterns[0], m) for m in metrics]

    def mid_p(z: float, rivals: list[int]) -> float:
        total = 0.0
        for signs in patterns:
            best = max(statistic(signs, m) for m in rivals)
            total += 0.5 if abs(best - z) <= 1e-9 else float(best > z)
        return total / len(patterns)

    raw = [mid_p(observed[m], [m]) for m in metrics]
    order = sorted(metrics, key=lambda m: -observed[m])
    adjusted = [0.0] * len(observed)
    running = 0.0
    for j, m in enumerate(order):
        running = max(running, mid_p(observed[m], order[j:]))
        adjusted[m] = running
    return raw, adjusted


@given(matrices())
@example([[d] for d in (-0.31, 0.11, 0.02, -0.57, -0.23, 0.41, -0.01, -0.19, -0.43, 0.29, -0.37, -0.05, 0.13)])
@settings(max_examples=3 * settings().max_examples)
def test_enumeration_agrees_with_brute_force(sums: Matrix) -> None:
    test = run(sums)
    raw, adjusted = brute_force(sums)
    assert test.p_raw.tolist() == pytest.approx(raw, abs=1e-12)
    assert test.p_adjusted.tolist() == pytest.approx(adjusted, abs=1e-12)


@given(matrices(max_metrics=6))
def test_adjusting_never_lowers_p_and_keeps_their_order(sums: Matrix) -> None:
    root = np.linalg.norm(sums, axis=0)
    z = np.divide(-np.sum(sums, axis=0), root, out=np.zeros_like(root), where=root > 0)
    for test in (run(sums), run(sums * 4, draws=300)):
        assert np.all(test.p_adjusted >= test.p_raw)
        by_clarity = test.p_adjusted[np.argsort(-z, kind="stable")]
        assert np.all(np.diff(by_clarity) >= 0)
        assert np.all((test.p_raw > 0) & (test.p_raw < 1))


def test_drawing_agrees_with_enumerating(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    sums = rng.choice([-1.0, -0.5, -0.2, 0.5, 1.0], size=(12, 3), p=[0.3, 0.2, 0.2, 0.2, 0.1])
    exact = sign_flip_test(sums)
    monkeypatch.setattr(signflip, "MAX_ENUMERATED", 0)
    drawn = sign_flip_test(sums)
    assert exact.p_raw.tolist() != drawn.p_raw.tolist()
    for p, q in ((exact.p_raw, drawn.p_raw), (exact.p_adjusted, drawn.p_adjusted)):
        assert np.all(np.abs(p - q) <= 4 * np.sqrt(p * (1 - p) / 9999) + 1e-4)
    assert drawn.critical_value == pytest.approx(exact.critical_value, abs=0.1)


def test_enumeration_ends_at_thirteen_differing_clusters() -> None:
    unchanged = [[0.0]] * 40
    assert float(run([[-1.0]] * 13 + unchanged).p_raw[0]) == 0.5 / 2**13
    assert float(run([[-1.0]] * 14 + unchanged, draws=99).p_raw[0]) >= 0.5 / 100


def test_the_observed_pattern_counts_as_one_of_the_drawn() -> None:
    test = run([[-1.0]] * 60, draws=199)
    assert float(test.p_raw[0]) == pytest.approx(0.5 / 200)


def test_random_signs_are_the_same_on_every_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = np.random.default_rng(5).normal(size=(70, 2))
    whole = sign_flip_test(sums, draws=500)
    monkeypatch.setattr(signflip, "_CHUNK_CELLS", 1000)
    in_parts = sign_flip_test(sums, draws=500)
    assert whole.p_raw.tolist() == in_parts.p_raw.tolist()
    first = next(signflip._random_signs(70, 2))
    assert first.shape == (2, 70)
    assert "".join("+" if s > 0 else "-" for s in first[0, :32]) == FIRST_SIGNS


def test_random_signs_are_fair_and_independent() -> None:
    signs = np.concatenate(list(signflip._random_signs(100, 4000)))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 5 / math.sqrt(4000)
    correlations = (signs.T @ signs) / 4000 - np.eye(100)
    assert np.abs(correlations).max() < 5.5 / math.sqrt(4000)


@given(matrices(), st.sampled_from([0.001, 0.5, 7.0]))
def test_the_unit_of_a_metric_does_not_matter(sums: Matrix, factor: float) -> None:
    scaled = [[factor * row[0], *row[1:]] for row in sums]
    assert run(scaled).p_adjusted.tolist() == pytest.approx(run(sums).p_adjusted.tolist(), abs=1e-12)


@given(matrices())
def test_clusters_without_a_change_do_not_matter(sums: Matrix) -> None:
    zero = [0.0] * len(sums[0])
    assert run([zero, *sums, zero]).p_adjusted.tolist() == run(sums).p_adjusted.tolist()


@given(matrices())
def test_a_gain_and_the_same_drop_share_the_probability(sums: Matrix) -> None:
    mirrored = [[-x for x in row] for row in sums]
    assert (run(sums).p_raw + run(mirrored).p_raw).tolist() == pytest.approx([1.0] * len(sums[0]))


@given(matrices(max_metrics=1))
def test_a_metric_that_says_the_same_twice_costs_nothing(sums: Matrix) -> None:
    alone, twice = run(sums), run([row * 2 for row in sums])
    assert twice.p_adjusted.tolist() == pytest.approx([float(alone.p_raw[0])] * 2)


def test_independent_metrics_do_cost_something() -> None:
    sums = np.zeros((10, 2))
    sums[:5, 0] = -1.0
    sums[5:, 1] = -1.0
    test = sign_flip_test(sums)
    assert test.p_raw.tolist() == pytest.approx([1 / 64] * 2)
    assert test.p_adjusted.tolist() == pytest.approx([(1 - (31 / 32) ** 2) / 2] * 2)


def test_critical_value_is_a_quantile_of_the_largest_statistic() -> None:
    # one metric, five equal clusters: z* is (2k - 5)/√5 with binomial k; P(k = 5) = 1/32, P(k >= 4) = 6/32
    test = run([[-1.0]] * 5)
    assert test.critical_value == pytest.approx(3 / math.sqrt(5))
    assert run([[-1.0]] * 5, alpha=0.02).critical_value == pytest.approx(math.sqrt(5))
    four = np.random.default_rng(0).multivariate_normal(np.zeros(4), 0.7 * np.ones((4, 4)) + 0.3 * np.eye(4), 200)
    assert sign_flip_test(four).critical_value == pytest.approx(2.05, abs=0.1)


@pytest.mark.parametrize("sums", [[[0.0, 0.0]] * 3, [[0.0]]])
def test_nothing_differs(sums: Matrix) -> None:
    test = run(sums)
    assert test.p_adjusted.tolist() == [0.5] * len(sums[0])
    assert test.critical_value is None


def test_no_metric_and_no_cluster() -> None:
    assert cluster_sums([], {})[0].shape == (0, 0)
    assert sign_flip_test(cluster_sums([], {})[0]).p_raw.tolist() == []
    empty, _ = cluster_sums([{}, {}], {})
    assert empty.shape == (0, 2)
    assert sign_flip_test(empty).p_raw.tolist() == [0.5, 0.5]


def test_differences_are_summed_by_cluster_counted_by_metric() -> None:
    sums, counts = cluster_sums(
        [{"a": -1.0, "a-typo": -0.5, "b": 0.25, "c": 0.0}, {"a": 1.0, "b": -0.5}],
        {"a-typo": "a", "a": "a", "b": "b", "z": "elsewhere"},
    )
    assert sums.tolist() == [[-1.5, 1.0], [0.25, -0.5], [0.0, 0.0]]
    assert counts.tolist() == [[2, 1], [1, 1], [1, 0]]


def test_rounding_left_of_a_cancelled_cluster_is_no_change() -> None:
    sums, _ = cluster_sums([{"a": 0.1, "b": 0.2, "c": -0.3}], dict.fromkeys("abc", "one"))
    assert 0.1 + 0.2 - 0.3 != 0.0
    assert sums.tolist() == [[0.0]]
