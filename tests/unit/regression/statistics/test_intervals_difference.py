from __future__ import annotations

import random
from statistics import fmean, stdev

import pytest

from pytest_auepora.regression.statistics.intervals import aggregate_difference, mean_difference


def pairs_of(*differences: float) -> dict[str, tuple[float, float]]:
    return {f"c{i:03}": (0.5, 0.5 + d) for i, d in enumerate(differences)}


def test_the_interval_of_a_mean_is_that_of_the_paired_t_test() -> None:
    rng = random.Random(1)
    pairs = {f"c{i}": (rng.random(), rng.random()) for i in range(30)}
    found = mean_difference(pairs, {}, alpha=0.05)
    differences = [b - a for a, b in pairs.values()]
    width = 2.045229642132703 * stdev(differences) / 30**0.5  # t(.975, 29)
    assert (found.low, found.high) == pytest.approx((found.value - width, found.value + width), abs=1e-12)
    assert found.value == pytest.approx(fmean(differences))


def test_cases_of_one_cluster_are_no_more_evidence_than_one() -> None:
    pairs = pairs_of(*[0.3, 0.1, 0.2, 0.4] * 5)
    alone = mean_difference(pairs, {})
    together = mean_difference(pairs, {case: f"q{i // 4}" for i, case in enumerate(pairs)})
    assert alone.is_significant
    assert (together.n_cases, together.n_clusters) == (20, 5)
    two = mean_difference(pairs, {case: f"q{i // 10}" for i, case in enumerate(pairs)})
    assert not two.is_significant


@pytest.mark.parametrize(("direction", "standing"), [("higher", "better"), ("lower", "worse")])
def test_the_direction_of_the_metric_decides_which_is_better(direction: str, standing: str) -> None:
    assert mean_difference(pairs_of(*[0.2, 0.3] * 5), {}).standing(direction) == standing


def test_no_case_differs() -> None:
    assert mean_difference(pairs_of(0.0, 0.0, 0.0), {}).standing("higher") == "equal"


@pytest.mark.parametrize(
    "differences",
    [(), (0.5,), (0.5, 0.5), (0.5, 0.5, 0.5, 0.5), (0.4, -0.4, 0.2, -0.1, 0.1, 0.2)],
)
def test_what_cannot_be_told(differences: tuple[float, ...]) -> None:
    found = mean_difference(pairs_of(*differences), {})
    assert not found.is_significant
    assert found.standing("higher") == ("not distinguishable" if differences else "equal")


def test_a_spread_of_nothing_over_few_cases_is_no_certainty() -> None:
    four, five = (mean_difference(pairs_of(*[0.5] * n), {}) for n in (4, 5))
    assert (four.low, four.high) == (0.5, 0.5)
    assert not four.is_significant
    assert five.is_significant
    assert not mean_difference(pairs_of(*[0.5] * 5), {}, alpha=0.02).is_significant  # of several comparisons


def median(values: object) -> float | None:
    found = sorted(values)  # type: ignore[call-overload]
    return float(found[len(found) // 2]) if found else None


def test_an_aggregate_that_is_no_mean() -> None:
    rng = random.Random(2)
    pairs = {f"c{i}": (rng.random(), rng.random() + 0.6) for i in range(60)}
    found = aggregate_difference(median, pairs, {})
    assert found.value == pytest.approx(median([b for _, b in pairs.values()]) - median([a for a, _ in pairs.values()]))  # type: ignore[operator]
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.6 < found.high
    assert found.standing("lower") == "worse"
    backwards = aggregate_difference(median, {i: (b, a) for i, (a, b) in pairs.items()}, {})
    assert (backwards.low, backwards.high) == (-found.high, -found.low)


def test_two_equal_sides_of_an_aggregate() -> None:
    pairs = {f"c{i}": (float(i), float(i)) for i in range(20)}
    for union in (False, True):
        found = aggregate_difference(median, pairs, {}, union=union)
        assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
        assert found.standing("higher") == "equal"


def test_many_cases_are_drawn_less_often() -> None:
    calls = 0

    def counted(values: object) -> float | None:
        nonlocal calls
        calls += 1
        return median(values)

    aggregate_difference(counted, {f"c{i}": (0.0, float(i)) for i in range(2000)}, {})
    assert calls < 500


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = random.Random(3)
    missed = 0
    for _ in range(400):
        found = mean_difference({f"c{i}": (0.0, rng.gauss(0.1, 0.3)) for i in range(20)}, {})
        assert found.low is not None
        assert found.high is not None
        missed += not found.low <= 0.1 <= found.high
    assert 8 <= missed <= 32  # 5 % of 400
