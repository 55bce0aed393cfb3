"""Confidence intervals of the difference of two systems in one metric: means, ratios, quantiles, distinct-n.

Clusters are resampled with the measurements of both systems, so that what makes a case slow or hard for both cancels.
The bootstrap suits ratios and quantiles, the jackknife aggregates over a union, such as distinct-n: a bootstrap sample
contains cases twice, and a repeated text is not distinct.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Generic, Literal, TypeVar

from ...base.grouping import grouped
from ...base.records import Record
from .family import Outcome
from .precision import TIE, MeanEstimate, sum_of_squares, t_quantile

T = TypeVar("T")
Standing = Literal["better", "worse", "equal", "not distinguishable"]
Effect = Literal["difference", "ratio"]
Aggregation = Callable[[Sequence[T]], "float | None"]
"""From the measurements of some cases to one number; None (or NaN) if there is none."""
Sums = tuple[Callable[[T], Sequence[int]], Callable[[list[int]], T]]
"""Two functions: from a measurement to its integers, and from integers to a measurement."""
Groups = Sequence[Sequence[tuple[T, T]]]

_RESAMPLED = 200_000  # measurements drawn for one interval: 1,999 resamples up to 100 cases, fewer of larger suites


@dataclass(frozen=True, slots=True)
class Difference(Record):
    """Candidate - reference, in the metric's own unit and sign, or their ratio, with a two-sided interval.

    A resample without a value counts as outside of both bounds.
    """

    value: float | None
    """The observed difference; null if one side has no value."""
    low: float | None
    """Lower end of the interval; null below two clusters, or if resampling gives none."""
    high: float | None
    """Upper end of the interval."""
    n_cases: int
    """Cases that both have."""
    n_clusters: int
    """Independent groups of them."""
    n_differing: int
    """Groups in which anything differs."""
    alpha: float
    """Chance that the interval misses the true difference."""

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes 0, and enough clusters differ for a sign-flip test to be significant too.

        Five differing clusters of one sign have a mid-p of 1/32; fewer can never have one below 0.05, however narrow
        the interval of so few values is.
        """
        excludes_0 = self.low is not None and self.high is not None and (self.low > TIE or self.high < -TIE)
        return excludes_0 and self.n_differing >= math.ceil(math.log2(1.0 / self.alpha))

    def standing(self, direction: str) -> Standing:
        """Return how the candidate compares; *direction* says if ``higher`` or ``lower`` values are better."""
        if not self.n_differing:
            return "equal"
        if not self.is_significant or self.value is None:
            return "not distinguishable"
        return "better" if (self.value > 0) == (direction == "higher") else "worse"


class Resampling(Generic[T]):
    """The effect of a candidate on one aggregate, and its interval under resampling of clusters.

    Args:
        aggregate: from measurements to one number.
        pairs: case id → (baseline, candidate) measurement; cases without both are absent.
        clusters: case id → cluster; a case not listed is its own cluster.
        effect: difference or ratio of the two aggregates.
        alpha: level of each bound.
    """

    def __init__(
        self, aggregate: Aggregation[T], pairs: Mapping[str, tuple[T, T]], clusters: Mapping[str, str], *,
        effect: Effect = "difference", alpha: float = 0.05,
    ) -> None:  # fmt: skip
        self._aggregate, self._effect, self._alpha = aggregate, effect, alpha
        groups = grouped((clusters.get(case, case), pairs[case]) for case in sorted(pairs))
        self._groups = [groups[name] for name in sorted(groups)]  # sorted so that draws repeat
        n_differing = sum(any(a != b for a, b in group) for group in self._groups)
        value = self._effect_of(self._groups)
        self._observed = Difference(value, None, None, len(pairs), len(groups), n_differing, 2 * alpha)

    def bootstrap(self, draws: int = 1999, sums: Sums[T] | None = None) -> Difference:
        """Return the effect with its percentile interval, from *draws* resamples, at least `draws_for` *alpha*.

        An aggregate that depends only on *sums* of integers in the measurements gives the same interval much faster.
        """
        groups = self._groups
        if len(groups) < 2:
            return self._observed
        rng, every = Random(0), range(len(groups))
        sample = (_sum_sampler(groups, sums) if sums else None) or (lambda chosen: [groups[i] for i in chosen])
        drawn = [self._effect_of(sample(rng.choices(every, k=len(every)))) for _ in range(draws)]
        values = sorted(v for v in drawn if v is not None)
        rank = math.floor((draws + 1) * self._alpha + 1e-9) - 1 - (draws - len(values))
        if not 0 <= rank < len(values):
            return self._observed
        return replace(self._observed, low=values[rank], high=values[-1 - rank])

    def jackknife(self) -> Difference:
        """Return the effect ± t(1 - alpha, G - 1)·SE, with the SE from leaving out one cluster at a time.

        For smooth aggregates only, never for quantiles.

        Source: Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, chapter 11.
        """
        groups, value = self._groups, self._observed.value
        g = len(groups)
        leave_one_out = (self._effect_of(groups[:i] + groups[i + 1 :]) for i in range(g))
        values = [v for v in leave_one_out if v is not None]
        if value is None or g < 2 or len(values) < g:
            return self._observed
        se = math.sqrt((g - 1) / g * sum_of_squares(values))
        half_width = t_quantile(1.0 - self._alpha, g - 1) * se
        return replace(self._observed, low=value - half_width, high=value + half_width)

    def _effect_of(self, groups: Groups[T]) -> float | None:
        """Return the effect over some clusters; None if it has no finite value."""
        if not groups:
            return None
        before, after = (finite(self._aggregate([pair[side] for group in groups for pair in group])) for side in (0, 1))
        if before is None or after is None:
            return None
        if self._effect == "difference":
            return after - before
        return finite(after / before) if before else None


def draws_for(alpha: float) -> int:
    """Return how many resamples bounds at level *alpha* need at least."""
    return math.ceil(1 / alpha - 1e-9) - 1


def judge_interval(
    interval: Difference, effect: Effect, *, direction: str, min_effect: float, margin: float
) -> Outcome:
    """Judge one aggregate by its interval, outside any family of metrics.

    ``"worse"`` if it is significantly worse, and by *min_effect* or more; ``"better"`` likewise; ``"same"`` if a loss
    of *margin* is ruled out; else ``"inconclusive"``.  Both limits of a ratio are relative: 0.1 is ten per cent.
    *direction* says if ``higher`` or ``lower`` values are better.
    """
    if interval.value is None or interval.low is None or interval.high is None:
        return "inconclusive"
    no_change = 1.0 if effect == "ratio" else 0.0
    gains = [x - no_change for x in (interval.low, interval.value, interval.high)]
    if direction == "lower":
        gains = [-x for x in reversed(gains)]
    low, observed, high = gains
    if high < 0.0 and -observed >= min_effect:
        return "worse"
    if low > 0.0 and observed >= min_effect:
        return "better"
    return "same" if low > -margin or low == observed == high == 0.0 else "inconclusive"


def _sum_sampler(groups: Groups[T], sums: Sums[T]) -> Callable[[list[int]], Groups[T]] | None:
    """Return a function that adds up chosen clusters to one pair; None if some numbers are not integers."""
    import numpy as np

    integers_of, measurement_of = sums
    sides = [[[integers_of(pair[side]) for pair in group] for group in groups] for side in (0, 1)]
    rows = [row for side in sides for group in side for row in group]
    if len({len(row) for row in rows}) > 1 or any(type(n) is not int for row in rows for n in row):
        return None  # the sum of rounded numbers depends on their order
    table = np.array([[np.sum(group, axis=0) for group in side] for side in sides])

    def sample(chosen: list[int]) -> Groups[T]:
        before, after = (np.bincount(chosen, minlength=len(groups)) @ table).tolist()
        return [[(measurement_of(before), measurement_of(after))]]

    return sample


def finite(value: float | None) -> float | None:
    """Return *value* as a float; None for infinity and NaN."""
    return None if value is None or not math.isfinite(value) else float(value)


def mean_difference(
    pairs: Mapping[str, tuple[float, float]], clusters: Mapping[str, str], *, alpha: float = 0.05
) -> Difference:
    """Return the mean of candidate - reference with the interval d̄ ± t(1 - alpha/2, G - 1)·SE over G clusters.

    *pairs* and *clusters* are those of `Resampling`, *alpha* is two-sided.
    """
    differences = {case: after - before for case, (before, after) in pairs.items()}
    estimate = MeanEstimate.of(differences, clusters)
    differing = {clusters.get(case, case) for case, difference in differences.items() if abs(difference) > TIE}
    low = high = None
    if estimate.mean is not None and estimate.se is not None:
        half_width = t_quantile(1.0 - alpha / 2, estimate.n_clusters - 1) * estimate.se
        low, high = estimate.mean - half_width, estimate.mean + half_width
    return Difference(estimate.mean, low, high, estimate.n_cases, estimate.n_clusters, len(differing), alpha)


def aggregate_difference(
    aggregate: Aggregation[T], pairs: Mapping[str, tuple[T, T]], clusters: Mapping[str, str], *,
    union: bool = False, alpha: float = 0.05,
) -> Difference:  # fmt: skip
    """Return the difference of two aggregates that are not means, with its interval from resampling clusters.

    With *union*, the aggregate is over a union (distinct-n), and the interval is a jackknife.  The other parameters are
    those of `Resampling`, *alpha* is two-sided.
    """
    resampling = Resampling(aggregate, pairs, clusters, alpha=alpha / 2)
    if union:
        return resampling.jackknife()
    return resampling.bootstrap(max(math.ceil(4 / alpha), min(1999, _RESAMPLED // max(len(pairs), 1))))
