"""What the decision about one metric rests on: its paired differences and what was computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from .precision import TIE, MeanEstimate, cases_for_effect, minimum_detectable_effect, planned_mde, t_quantile

__all__ = ["Evidence", "Outcome", "PairedMetric"]

Outcome = Literal["fail", "better", "pass", "inconclusive", "same"]


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """One metric of the family, measured by both runs.

    Attributes:
        name: as the user types it.
        differences: case id → candidate - baseline, signed so that a drop is **negative** whatever the
            metric's direction.  A case that is n/a on both sides is absent.
        min_effect: a mean drop smaller than this never fails, however clear it is.
        margin: a true mean drop of this size must be ruled out to pass.
    """

    name: str
    differences: Mapping[str, float]
    min_effect: float = 0.01
    margin: float = 0.05


@dataclass(frozen=True, slots=True)
class Evidence:
    """A metric, the estimate of its mean difference, and the test of its drop within its family.

    ``p_adjusted`` and ``p_gain`` are of a drop and of a gain: the mid-p, or where clusters are few the exact one.
    ``hall`` is the skewness-corrected t of the cluster sums; None where clusters are few.
    """

    metric: PairedMetric
    estimate: MeanEstimate
    z: float
    p_raw: float
    p_adjusted: float
    critical_value: float | None
    alpha: float
    family_size: int
    members: str = "metrics"
    p_gain: float = 1.0
    hall: float | None = None

    @property
    def drop(self) -> float:
        """The observed mean drop; negative for a gain, 0 where nothing was measured."""
        return -(self.estimate.mean or 0.0)

    @property
    def n_worse(self) -> int:
        """Cases that went down."""
        return len([d for d in self._moved if d < -TIE])

    @property
    def n_better(self) -> int:
        """Cases that went up."""
        return len([d for d in self._moved if d > TIE])

    @property
    def _moved(self) -> Iterator[float]:
        """The differences that are some: mostly few."""
        return filter(None, self.metric.differences.values())

    @property
    def is_clear(self) -> bool:
        """Whether chance would give a drop like this too rarely to believe in it."""
        return self.p_adjusted <= self.alpha and not self.is_lopsided

    @property
    def is_lopsided(self) -> bool:
        """Whether sign flips alone call the drop clear, and the t that knows of skewness does not."""
        return self.p_adjusted <= self.alpha and self.hall is not None and not self.hall < -self._t

    @property
    def is_clear_gain(self) -> bool:
        """The same of a gain, by the same test."""
        return self.p_gain <= self.alpha and (self.hall is None or self.hall > self._t)

    @property
    def _t(self) -> float:
        return t_quantile(1.0 - self.alpha, self.estimate.n_clusters - 1)

    @property
    def is_large(self) -> bool:
        """Whether the observed drop is worth failing for."""
        return self.drop >= self.metric.min_effect - TIE

    @property
    def is_large_gain(self) -> bool:
        """Whether the observed gain is as large."""
        return -self.drop >= self.metric.min_effect - TIE and self.drop < -TIE

    @property
    def lower_bound(self) -> float | None:
        """One-sided 1 - alpha lower bound of the true mean difference."""
        return self.estimate.lower_bound(self.alpha)

    @property
    def mde(self) -> float | None:
        """Smallest true drop that would fail in 80 % of runs; None where nothing spreads."""
        if not self.estimate.se or self.critical_value is None:
            return None
        return minimum_detectable_effect(self.critical_value, self.estimate.se)

    @property
    def cases_needed(self) -> int | None:
        """How many cases would decide the metric if the mean and the spread stay as they are.

        A drop as observed is told from none at δ = the drop, and from one of the margin at δ = margin - drop;
        the easier of the two decides.  None where neither can: the drop lies between margin and min_effect.
        """
        n, clusters = self.estimate.n_cases, self.estimate.n_clusters
        effect = max(self.metric.margin - self.drop, self.drop if self.is_large else 0.0)
        if not n or effect <= TIE:
            return None
        # below this many clusters not even the clearest pattern, all of them worse, has a p of alpha
        fewest_clusters = math.ceil(math.log2(1.0 / self.alpha))
        floor = max(n + 1, math.ceil(n * fewest_clusters / clusters))
        mde = self.mde if self.mde is not None else planned_mde(clusters)
        return max(floor, cases_for_effect(n, mde, effect))
