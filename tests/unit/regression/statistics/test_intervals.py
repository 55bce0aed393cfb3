"""Intervals for ratios, quantiles and distinct-n: against theory, and how often they hold the truth."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

import pytest

from pytest_auepora.regression.statistics.intervals import (
    Aggregation,
    Difference,
    Effect,
    Resampling,
    draws_for,
    judge_interval,
)
from pytest_auepora.regression.statistics.precision import t_quantile

Text = tuple[str, ...]


def bootstrap_interval(
    aggregate: Aggregation[Any], pairs: Mapping[str, tuple[Any, Any]], clusters: Mapping[str, str], *,
    effect: Effect = "difference", **options: Any,
) -> Difference:  # fmt: skip
    return Resampling(aggregate, pairs, clusters, effect=effect).bootstrap(**options)


def jackknife_interval(
    aggregate: Aggregation[Any], pairs: Mapping[str, tuple[Any, Any]], clusters: Mapping[str, str], *,
    effect: Effect = "difference",
) -> Difference:  # fmt: skip
    return Resampling(aggregate, pairs, clusters, effect=effect).jackknife()


def p95(values: Sequence[float]) -> float:
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def distinct_2(texts: Sequence[Text]) -> float | None:
    pairs = [pair for t in texts for pair in itertools.pairwise(t)]
    return len(set(pairs)) / len(pairs) if pairs else None


def latencies(n: int, rng: random.Random, *, factor: float = 1.2) -> dict[str, tuple[float, float]]:
    """Some questions are slow for both systems; the candidate is *factor* times slower."""
    out = {}
    for i in range(n):
        hard = rng.lognormvariate(0, 0.6)
        out[f"c{i:03}"] = (hard * rng.lognormvariate(0, 0.2), factor * hard * rng.lognormvariate(0, 0.2))
    return out


def normal_pairs(n: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    rng = random.Random(seed)
    return {f"c{i:03}": (x := rng.random(), x + rng.gauss(-0.1, 0.2)) for i in range(n)}


Counts = list[int]


def accuracy(counts: Sequence[Sequence[float]]) -> float | None:
    right, total = (sum(column) for column in zip(*counts, strict=True))
    return right / total if total else None


@pytest.mark.parametrize("effect", ["difference", "ratio"])
@pytest.mark.parametrize("share", [0.0, 0.7])
def test_sums_give_the_same_interval(effect: Effect, share: float) -> None:
    """Also where some samples have no value, and where several cases are in a cluster."""
    rng = random.Random(1)

    def counts() -> Counts:
        total = rng.randrange(1, 50) if rng.random() > share else 0
        return [rng.randrange(total + 1), total]

    pairs = {f"c{i}": (counts(), counts()) for i in range(12 if share else 60)}
    clusters = {f"c{i}": f"c{i // 2}" for i in range(6)}
    asked: list[int] = []

    def counted(some: Sequence[Counts]) -> float | None:
        asked.append(len(some))
        return accuracy(some)

    found = bootstrap_interval(counted, pairs, clusters, effect=effect, draws=399, sums=(list, list))
    assert found == bootstrap_interval(accuracy, pairs, clusters, effect=effect, draws=399)
    assert (asked.count(1), asked.count(len(pairs))) == (798, 2)


def test_fractions_are_not_added_up_in_another_order() -> None:
    rng = random.Random(1)
    pairs = {f"c{i}": ([rng.random(), 1.0], [rng.random(), 1.0]) for i in range(20)}
    found = bootstrap_interval(accuracy, pairs, {}, draws=99, sums=(list, list))
    assert found == bootstrap_interval(accuracy, pairs, {}, draws=99)


def test_of_means_the_bounds_are_those_of_the_t_interval() -> None:
    pairs = normal_pairs(80)
    differences = [after - before for before, after in pairs.values()]
    reach = t_quantile(0.95, 79) * stdev(differences) / math.sqrt(80)
    drawn = bootstrap_interval(fmean, pairs, {}, draws=4999)
    left_out = jackknife_interval(fmean, pairs, {})
    assert drawn.value == left_out.value == pytest.approx(fmean(differences))
    assert left_out.low == pytest.approx(fmean(differences) - reach)
    assert left_out.high == pytest.approx(fmean(differences) + reach)
    assert drawn.low == pytest.approx(left_out.low, abs=reach * 0.08)
    assert drawn.high == pytest.approx(left_out.high, abs=reach * 0.08)


def test_pairing_cancels_what_is_hard_for_both() -> None:
    pairs = latencies(60, random.Random(1))
    before, after = zip(*pairs.values(), strict=True)
    mismatched = dict(zip(pairs, zip(before, reversed(after), strict=True), strict=True))
    paired = bootstrap_interval(fmean, pairs, {}, effect="ratio")
    unpaired = bootstrap_interval(fmean, mismatched, {}, effect="ratio")
    assert paired.value == pytest.approx(unpaired.value)
    assert width(paired) < 0.5 * width(unpaired)


def width(interval: Difference) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


def test_clusters_are_drawn_whole() -> None:
    pairs = normal_pairs(40)
    copies = {f"{case}-{k}": pair for case, pair in pairs.items() for k in range(5)}
    clusters = {name: name.rsplit("-", 1)[0] for name in copies}
    for interval in (bootstrap_interval, jackknife_interval):
        once = interval(fmean, pairs, {})
        together, apart = interval(fmean, copies, clusters), interval(fmean, copies, {})
        assert width(together) == pytest.approx(width(once))
        assert width(apart) < 0.6 * width(once)
        assert (together.n_cases, together.n_clusters) == (200, 40)


@pytest.mark.parametrize(("statistic", "most"), [(p95, 0.09), (fmean, 0.11)])
@pytest.mark.slow
def test_bounds_miss_the_true_ratio_as_rarely_as_asked(statistic: Aggregation[float], most: float) -> None:
    rng = random.Random(2)
    runs = 200
    below = above = 0
    for _ in range(runs):
        interval = bootstrap_interval(statistic, latencies(50, rng), {}, effect="ratio", draws=99)
        assert interval.low is not None
        assert interval.high is not None
        below += interval.high < 1.2
        above += interval.low > 1.2
    assert 0 < below <= most * runs
    assert 0 < above <= most * runs


@pytest.mark.slow
def test_for_distinct_n_only_the_jackknife_holds_the_truth() -> None:
    rng = random.Random(3)
    words = [str(w) for w in range(300)]

    def texts(n: int, plain: float) -> list[Text]:
        """A share of texts in common words, which share more pairs."""
        return [tuple(rng.choices(words[:40] if rng.random() < plain else words, k=15)) for _ in range(n)]

    def draw() -> dict[str, tuple[Text, Text]]:
        return {str(i): pair for i, pair in enumerate(zip(texts(40, 0.3), texts(40, 0.7), strict=True))}

    def observed(pairs: dict[str, tuple[Text, Text]]) -> float:
        before, after = distinct_2([p[0] for p in pairs.values()]), distinct_2([p[1] for p in pairs.values()])
        assert before is not None
        assert after is not None
        return after - before

    truth = fmean(observed(draw()) for _ in range(300))
    drawn = [draw() for _ in range(60)]
    held = [holds(jackknife_interval(distinct_2, pairs, {}), truth) for pairs in drawn]
    assert sum(held) >= 48, "90 % of 60 are 54"
    held = [holds(bootstrap_interval(distinct_2, pairs, {}, draws=99), truth) for pairs in drawn[:12]]
    assert not any(held), "in a resample texts are there twice"


def holds(interval: Difference, truth: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def test_the_same_seed_and_any_order_give_the_same_interval() -> None:
    pairs = normal_pairs(30)
    backwards = dict(reversed(pairs.items()))
    assert bootstrap_interval(fmean, pairs, {}, draws=199) == bootstrap_interval(fmean, backwards, {}, draws=199)


@pytest.mark.parametrize("interval", [bootstrap_interval, jackknife_interval])
@pytest.mark.parametrize("pairs", [{}, {"a": (1.0, 2.0)}])
def test_too_little_for_an_interval(interval: object, pairs: dict[str, tuple[float, float]]) -> None:
    assert callable(interval)
    seen = interval(fmean, pairs, {})
    assert (seen.low, seen.high, seen.n_cases) == (None, None, len(pairs))
    assert seen.value == (1.0 if pairs else None)
    assert judge_interval(seen, "difference", direction="higher", min_effect=0.01, margin=0.05) == "inconclusive"


def test_one_cluster_has_no_spread() -> None:
    seen = bootstrap_interval(fmean, normal_pairs(9), dict.fromkeys(normal_pairs(9), "all"))
    assert (seen.n_clusters, seen.low, seen.high) == (1, None, None)


def test_an_effect_that_is_often_undefined_has_no_bound() -> None:
    """The ratio to a baseline of 0 has no value; with one non-zero case of 20 that is 36 % of resamples."""
    pairs = {f"c{i}": (float(i == 0), 1.0) for i in range(20)}
    seen = bootstrap_interval(fmean, pairs, {}, effect="ratio", draws=999)
    assert seen.value == pytest.approx(20.0)
    assert (seen.low, seen.high) == (None, None)
    left_out = jackknife_interval(fmean, pairs, {}, effect="ratio")
    assert (left_out.low, left_out.high) == (None, None)


def test_rarely_undefined_resamples_widen_the_interval() -> None:
    pairs = {f"c{i}": (float(i < 4), 1.0 + 0.01 * i) for i in range(20)}
    seen = bootstrap_interval(fmean, pairs, {}, effect="ratio", draws=999)
    assert seen.low is not None
    assert seen.high is not None
    assert seen.value is not None
    assert seen.low < seen.value < seen.high


def test_an_aggregate_that_is_not_a_number_has_no_value() -> None:
    seen = bootstrap_interval(lambda values: math.nan, normal_pairs(12), {}, draws=99)
    assert (seen.value, seen.low, seen.high) == (None, None, None)


def test_too_few_draws_have_no_bound() -> None:
    assert draws_for(0.05) == 19
    assert bootstrap_interval(fmean, normal_pairs(12), {}, draws=18).low is None
    assert bootstrap_interval(fmean, normal_pairs(12), {}, draws=19).low is not None


def interval_of(low: float, value: float, high: float) -> Difference:
    return Difference(value, low, high, n_cases=9, n_clusters=9, n_differing=9, alpha=0.1)


@pytest.mark.parametrize(
    ("interval", "effect", "direction", "outcome"),
    [
        (interval_of(-0.09, -0.05, -0.01), "difference", "higher", "worse"),
        (interval_of(-0.09, -0.05, -0.01), "difference", "lower", "better"),
        (interval_of(0.01, 0.05, 0.09), "difference", "lower", "worse"),
        (interval_of(-0.009, -0.005, -0.001), "difference", "higher", "same"),  # clear, but below min_effect
        (interval_of(-0.12, -0.05, 0.02), "difference", "higher", "inconclusive"),
        (interval_of(-0.04, 0.01, 0.06), "difference", "higher", "same"),
        (interval_of(-0.01, 0.04, 0.09), "difference", "lower", "same"),
        (interval_of(-0.01, 0.04, 0.11), "difference", "lower", "inconclusive"),
        (interval_of(0.01, 0.04, 0.09), "difference", "higher", "better"),
        (interval_of(0.0, 0.0, 0.0), "difference", "higher", "same"),
        (interval_of(1.1, 1.3, 1.6), "ratio", "lower", "worse"),
        (interval_of(0.7, 0.8, 0.9), "ratio", "higher", "worse"),
        (interval_of(0.95, 1.01, 1.08), "ratio", "lower", "same"),
        (interval_of(1.0, 1.0, 1.0), "ratio", "lower", "same"),
    ],
)
def test_judging_an_interval(interval: Difference, effect: Effect, direction: str, outcome: str) -> None:
    assert judge_interval(interval, effect, direction=direction, min_effect=0.01, margin=0.1) == outcome
