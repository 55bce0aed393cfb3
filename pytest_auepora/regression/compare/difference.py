"""How far two systems are apart on one metric, over the cases that both measured, and whether that can be told.

Unlike the verdict on a regression this looks both ways: neither system is the one that was accepted.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from ..statistics.bootstrap import Aggregation, bootstrap_interval, jackknife_interval
from ..statistics.precision import TIE, MeanEstimate, t_quantile

T = TypeVar("T")
Standing = Literal["better", "worse", "equal", "not distinguishable"]

_RESAMPLED = 200_000
"""Measurements drawn for one bootstrap interval: 1,999 draws up to 100 cases, fewer beyond, where each says more."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate - reference, in the metric's own unit and sign, with a two-sided interval.

    Attributes:
        value: the observed difference; None where one side has no value.
        low, high: the 1 - *alpha* interval; None below two clusters, and where resampling gives none.
        n_cases, n_clusters: what it stands on.
        n_differing: clusters in which anything differs.
        alpha: chance that the interval misses the true difference.
    """

    value: float | None
    low: float | None
    high: float | None
    n_cases: int
    n_clusters: int
    n_differing: int
    alpha: float

    @property
    def includes_zero(self) -> bool:
        """Whether no difference at all would fit the data as well; also where there is no interval."""
        return self.low is None or self.high is None or (self.low <= TIE and self.high >= -TIE)

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out 0, and enough clusters differ for that to mean something.

        When five of five differing clusters point one way, a sign flip of each gives as much in 2 of 32 patterns,
        a mid-p of 1/32; fewer can never be below 0.05, however narrow the interval of such few values looks.
        """
        return not self.includes_zero and self.n_differing >= math.ceil(math.log2(1.0 / self.alpha))

    def standing(self, direction: str) -> Standing:
        """Return what the candidate is, of a metric in which *direction* (``higher``, ``lower``) is better."""
        if not self.n_differing:
            return "equal"
        if not self.is_clear or self.value is None:
            return "not distinguishable"
        return "better" if (self.value > 0) == (direction == "higher") else "worse"


def mean_difference(
    pairs: Mapping[str, tuple[float, float]], clusters: Mapping[str, str], *, alpha: float = 0.05
) -> Difference:
    """Return the mean of candidate - reference with the interval d̄ ± t(1 - alpha/2, G - 1)·SE over G clusters.

    Args:
        pairs: case id → (reference, candidate).
        clusters: case id → cluster; a case not listed is in the cluster of its own id.
        alpha: two-sided level.
    """
    differences = {case: after - before for case, (before, after) in pairs.items()}
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    differing = set()
    for case in sorted(differences):
        cluster = clusters.get(case, case)
        sums[cluster] += differences[case]
        counts[cluster] += 1
        if abs(differences[case]) > TIE:
            differing.add(cluster)
    found = MeanEstimate.of([*sums.values()], [*counts.values()])
    low = high = None
    if found.mean is not None and found.se is not None:
        reach = t_quantile(1.0 - alpha / 2, found.n_clusters - 1) * found.se
        low, high = found.mean - reach, found.mean + reach
    return Difference(found.mean, low, high, found.n_cases, found.n_clusters, len(differing), alpha)


def aggregate_difference(
    aggregation: Aggregation[T],
    pairs: Mapping[str, tuple[T, T]],
    clusters: Mapping[str, str],
    *,
    union: bool = False,
    alpha: float = 0.05,
) -> Difference:
    """Return the difference of two aggregates that are no means, with its interval from resampling clusters.

    Args:
        aggregation: from the measurements of some cases to one number.
        pairs: case id → measurements of (reference, candidate).
        clusters: case id → cluster; a case not listed is in the cluster of its own id.
        union: the aggregate is over a union (distinct-n), for which clusters are left out instead of drawn.
        alpha: two-sided level.
    """
    if union:
        seen = jackknife_interval(aggregation, pairs, clusters, alpha=alpha / 2)
    else:
        draws = max(math.ceil(4 / alpha), min(1999, _RESAMPLED // max(len(pairs), 1)))
        seen = bootstrap_interval(aggregation, pairs, clusters, alpha=alpha / 2, draws=draws)
    differing = {clusters.get(case, case) for case, (before, after) in pairs.items() if before != after}
    return Difference(seen.value, seen.low, seen.high, seen.n_cases, seen.n_clusters, len(differing), alpha)
