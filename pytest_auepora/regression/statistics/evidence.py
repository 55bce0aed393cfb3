"""What the decision about one metric rests on: its paired differences and what was computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ..thresholds import Bound
from .precision import TIE, MeanEstimate, cases_for_effect, minimum_detectable_effect, planned_mde, t_quantile

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


def reason(outcome: Outcome, e: Evidence) -> str:
    """Say why *outcome* is what it is; the metric's name is left to the reader's table."""
    if not e.estimate.n_cases:
        return "no case was measured in both runs, so there is nothing to judge"
    if outcome == "same":
        usual = _number(planned_mde(e.estimate.n_clusters))
        return f"no case differs ({_over(e)}); with the usual spread of scores so many would show a drop of {usual}"
    if outcome == "fail":
        return f"{_moved(e)}, {_p_value(e, e.p_adjusted)}"
    if outcome == "better":
        return f"{_moved(e)}, {_p_value(e, e.p_gain)}"
    if outcome == "pass":
        but = f"; {_clear_but_small(e)}" if e.is_clear else ""
        return f"{_moved(e)}: a drop of {_number(e.metric.margin)} is ruled out ({_bound(e)}){but}"
    why = f", {_why_no_failure(e)}, and" if e.drop > TIE else ", but"
    return f"{_moved(e)}{why} {_why_no_pass(e)}: {_what_decides(e)}"


def warning(e: Evidence) -> str:
    """Say so when the cases are too few to see a drop of the margin; otherwise return an empty string."""
    margin = e.metric.margin
    if e.mde is None or margin <= TIE or e.mde <= margin:
        return ""
    enough = cases_for_effect(e.estimate.n_cases, e.mde, margin)
    return (
        f"minimum detectable drop {_number(e.mde)} over {_over(e)}, above the margin {_number(margin)}: about {enough} "
        "cases would detect that"
    )


def _why_no_failure(e: Evidence) -> str:
    if e.is_clear:
        return _clear_but_small(e)
    if e.is_lopsided:
        return (
            f"{_p_value(e, e.p_adjusted)}, but few cases changed much and the others hardly (Hall's t does not agree)"
        )
    return _p_value(e, e.p_adjusted)


def _why_no_pass(e: Evidence) -> str:
    if e.lower_bound is None:
        return "a single cluster has no spread to tell how far the true mean may be off"
    lost = Bound("max", e.metric.margin)
    worst = f"worse by up to {_number(-e.lower_bound, lost)} ({_percent(1.0 - e.alpha)} confidence"
    return f"the true mean may be {worst}; the margin is {_number(e.metric.margin)})"


def _what_decides(e: Evidence) -> str:
    if e.cases_needed is not None:
        return f"about {e.cases_needed} cases like these would decide it"
    margin, min_effect = _number(e.metric.margin), _number(e.metric.min_effect)
    return f"more cases would not decide it: the drop is at least margin {margin} and below min_effect {min_effect}"


def _clear_but_small(e: Evidence) -> str:
    return f"the drop is clear ({_p_value(e, e.p_adjusted)}) but below min_effect {_number(e.metric.min_effect)}"


def _moved(e: Evidence) -> str:
    by = _number(abs(e.drop))
    how = "unchanged on average" if abs(e.drop) < 5e-5 else f"worse by {by}" if e.drop > 0 else f"better by {by}"
    return f"{how} ({_over(e)}: {e.n_worse} worse, {e.n_better} better)"


def _over(e: Evidence) -> str:
    cases, clusters = _plural(e.estimate.n_cases, "case"), _plural(e.estimate.n_clusters, "cluster")
    return cases if e.estimate.n_cases == e.estimate.n_clusters else f"{cases} in {clusters}"


def _bound(e: Evidence) -> str:
    bound = "unknown" if e.lower_bound is None else _signed(Bound("min", -e.metric.margin).shown(e.lower_bound))
    return f"lower {_percent(1.0 - e.alpha)} bound {bound}"


def _p_value(e: Evidence, p: float) -> str:
    corrected = "" if e.family_size == 1 else f" (corrected for {e.family_size} {e.members})"
    told, sign = _number(p, Bound("max", e.alpha)), "<=" if p <= e.alpha else ">"
    return f"p {told} {sign} {_number(e.alpha)}{corrected}" if told[0] != "<" else f"p {told}{corrected}"


def _plural(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _number(x: float, beside: Bound | None = None) -> str:
    """Four decimals without trailing zeros; what would round to nothing is shown as less than the last of them.

    More decimals where it takes them to read on its own side of the limit *beside* it.
    """
    if 0.0 < x < 0.0001:
        return "< 0.0001"
    return (beside.shown(x) if beside is not None else f"{x:.4f}").rstrip("0").rstrip(".")


def _signed(text: str) -> str:
    return text if text.startswith("-") else f"+{text}"


def _percent(share: float) -> str:
    return f"{_number(round(share * 100, 2))} %"
