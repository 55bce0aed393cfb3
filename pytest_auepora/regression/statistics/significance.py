"""The statistical policy: did a family of metrics get worse, by data one can believe?

    differences per case ──sum in clusters──▶ joint sign flips, step-down ──▶ adjusted p ─┐
                                          ├─▶ t corrected for skewness ────────────────────┴▶ FAIL, BETTER
                                          └─▶ cluster-robust bound on the mean ────────────▶ PASS
                                                                    neither ──▶ INCONCLUSIVE, with the cases needed

Below ten clusters the p is exact and there is no t: a metric is judged by the clusters that it has itself.

Pure functions of plain mappings: they know no run, no file and no pytest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..policy import CLUSTERS_FOR_STATISTICS
from ..thresholds import Bound
from .precision import (
    TIE,
    MeanEstimate,
    cases_for_effect,
    count_clusters,
    hall_t,
    minimum_detectable_effect,
    planned_mde,
    t_quantile,
)

Outcome = Literal["fail", "better", "pass", "inconclusive", "same"]
"""``same`` is the pass of a metric in which no case differs."""


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
class MetricVerdict:
    """What the data say about one metric, within its family.

    Attributes:
        metric: what is judged.
        estimate: its mean difference, and how well that is known.
        p_raw: one-sided mid-p of a drop, this metric taken alone.
        p_adjusted, p_gain: of a drop and of a gain, adjusted for the family: the mid-p, or where clusters are few the
            exact one.
        hall: the skewness-corrected t of the cluster sums; None where clusters are few.
        critical_value: the z a single drop has to exceed to be clear in this family; None where nothing differs.
        alpha: family-wise level of a failure, and of each lower bound.
        family_size, members: how many there are in the family, and what they are called.
    """

    metric: PairedMetric
    estimate: MeanEstimate
    p_raw: float
    p_adjusted: float
    p_gain: float
    hall: float | None
    critical_value: float | None
    alpha: float
    family_size: int
    members: str

    @property
    def outcome(self) -> Outcome:
        """What is decided about the metric."""
        if not self.estimate.n_cases:
            return "inconclusive"
        if not self.n_worse and not self.n_better:
            return "same"
        if self.is_clear and self.is_large:
            return "fail"
        if self._is_clear_gain and -self.drop >= self.metric.min_effect - TIE and self.drop < -TIE:
            return "better"
        if self.lower_bound is not None and self.lower_bound > -self.metric.margin:
            return "pass"
        return "inconclusive"

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
    def _is_clear_gain(self) -> bool:
        return self.p_gain <= self.alpha and (self.hall is None or self.hall > self._t)

    @property
    def _t(self) -> float:
        return t_quantile(1.0 - self.alpha, self.estimate.n_clusters - 1)

    @property
    def is_large(self) -> bool:
        """Whether the observed drop is worth failing for."""
        return self.drop >= self.metric.min_effect - TIE

    @property
    def lower_bound(self) -> float | None:
        """One-sided 1 - alpha lower bound of the true mean difference; None below two clusters."""
        return self.estimate.lower_bound(self.alpha)

    @property
    def mde(self) -> float | None:
        """Smallest true drop that would fail in 80 % of runs; None where nothing spreads."""
        if not self.estimate.se or self.critical_value is None:
            return None
        return minimum_detectable_effect(self.critical_value, self.estimate.se)

    @property
    def cases_needed(self) -> int | None:
        """How many cases would decide an inconclusive metric if the mean and the spread stay as they are.

        A drop as observed is told from none at δ = the drop, and from one of the margin at δ = margin - drop;
        the easier of the two decides.  None where neither can: the drop lies between margin and min_effect.
        """
        n, clusters = self.estimate.n_cases, self.estimate.n_clusters
        effect = max(self.metric.margin - self.drop, self.drop if self.is_large else 0.0)
        if not n or effect <= TIE or self.outcome != "inconclusive":
            return None
        # below this many clusters not even the clearest pattern, all of them worse, has a p of alpha
        fewest_clusters = math.ceil(math.log2(1.0 / self.alpha))
        floor = max(n + 1, math.ceil(n * fewest_clusters / clusters))
        mde = self.mde if self.mde is not None else planned_mde(clusters)
        return max(floor, cases_for_effect(n, mde, effect))

    @property
    def finding(self) -> str:
        """How far scores moved, in how many cases."""
        by = _number(abs(self.drop))
        up_or_down = "worse" if self.drop > 0 else "better"
        how = "unchanged on average" if abs(self.drop) < 5e-5 else f"{up_or_down} by {by}"
        return f"{how} ({_over(self)}: {self.n_worse} worse, {self.n_better} better)"

    @property
    def reason(self) -> str:
        """The outcome in words, with the numbers behind it; the metric's name is left to the reader's table."""
        outcome, margin = self.outcome, _number(self.metric.margin)
        if not self.estimate.n_cases:
            return "no case was measured in both runs, so there is nothing to judge"
        if outcome == "same":
            usual = _number(planned_mde(self.estimate.n_clusters))
            told = f"with the usual spread of scores so many would show a drop of {usual}"
            return f"no case differs ({_over(self)}); {told}"
        if outcome in ("fail", "better"):
            return f"{self.finding}, {_p_value(self, self.p_adjusted if outcome == 'fail' else self.p_gain)}"
        if outcome == "pass":
            but = f"; {_clear_but_small(self)}" if self.is_clear else ""
            return f"{self.finding}: a drop of {margin} is ruled out ({_bound(self)}){but}"
        why = f", {_why_no_failure(self)}, and" if self.drop > TIE else ", but"
        return f"{self.finding}{why} {_why_no_pass(self)}: {_what_decides(self)}"

    @property
    def warning(self) -> str:
        """Says so when the cases are too few to see a drop of the margin; otherwise empty."""
        mde, margin = self.mde, self.metric.margin
        if mde is None or margin <= TIE or mde <= margin:
            return ""
        enough = cases_for_effect(self.estimate.n_cases, mde, margin)
        return (
            f"minimum detectable drop {_number(mde)} over {_over(self)}, above the margin {_number(margin)}: about "
            f"{enough} cases would detect that"
        )


def judge_family(
    metrics: Sequence[PairedMetric],
    clusters: Mapping[str, str],
    *,
    alpha: float = 0.05,
    draws: int = 9999,
    members: str = "metrics",
) -> list[MetricVerdict]:
    """Judge all gated metrics of a suite together, so that any of them fails by chance in at most *alpha* of runs.

    Args:
        metrics: the family; they may cover different cases.
        clusters: case id → cluster, for cases that are not independent (variants of one question);
            a case not listed is in the cluster of its own id.
        alpha: family-wise level of a failure, and of each lower bound.
        draws: random sign patterns where more than 13 clusters differ.
        members: what the family is of, for people.

    Raises:
        ValueError: a difference is not finite, a name occurs twice, or a setting is out of range.
    """
    _check(metrics, alpha, draws)
    if not any(any(m.differences.values()) for m in metrics):
        return [_unchanged(metric, clusters, alpha, len(metrics), members) for metric in metrics]
    from .signflip import cluster_sums, sign_flip_test  # which imports numpy

    sums, counts = cluster_sums([m.differences for m in metrics], clusters)
    test = sign_flip_test(sums, alpha=alpha, draws=draws)
    out = []
    for m, metric in enumerate(metrics):
        estimate = MeanEstimate.of(sums[:, m].tolist(), counts[:, m].tolist())
        few = estimate.n_clusters < CLUSTERS_FOR_STATISTICS
        p_drop, p_gain = (test.p_exact, test.gain_exact) if few else (test.p_adjusted, test.gain_adjusted)
        hall = None if few else hall_t(sums[counts[:, m] > 0, m].tolist())
        verdict = MetricVerdict(
            metric, estimate, float(test.p_raw[m]), float(p_drop[m]), float(p_gain[m]), hall,
            test.critical_value, alpha, len(metrics), members,
        )  # fmt: skip
        out.append(verdict)
    return out


def _check(metrics: Sequence[PairedMetric], alpha: float, draws: int) -> None:
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5, not {alpha}")
    if draws < 1:
        raise ValueError(f"draws must be positive, not {draws}")
    names = [metric.name for metric in metrics]
    for metric in metrics:
        if names.count(metric.name) > 1:
            raise ValueError(f"metric {metric.name!r} is in the family twice")
        if not (metric.min_effect >= 0.0 and metric.margin >= 0.0):
            found = f"{metric.min_effect} and {metric.margin}"
            raise ValueError(f"{metric.name}: min_effect and margin must be numbers, 0 or more, not {found}")
        for case, difference in metric.differences.items():
            if not math.isfinite(difference):
                raise ValueError(f"{metric.name}: the difference of case {case!r} is {difference}")


def _unchanged(
    metric: PairedMetric, clusters: Mapping[str, str], alpha: float, size: int, members: str
) -> MetricVerdict:
    """Give what the test gives where every difference is 0, the run that every project hopes for, without numpy."""
    n, g = len(metric.differences), count_clusters(metric.differences, clusters)
    estimate = MeanEstimate(0.0 if n else None, n, g, 0.0 if g > 1 else None)
    p, hall = (1.0, None) if g < CLUSTERS_FOR_STATISTICS else (0.5, 0.0)
    return MetricVerdict(metric, estimate, 0.5, p, p, hall, None, alpha, size, members)


def _why_no_failure(e: MetricVerdict) -> str:
    if e.is_clear:
        return _clear_but_small(e)
    if e.is_lopsided:
        return (
            f"{_p_value(e, e.p_adjusted)}, but few cases changed much and the others hardly (Hall's t does not agree)"
        )
    return _p_value(e, e.p_adjusted)


def _why_no_pass(e: MetricVerdict) -> str:
    if e.lower_bound is None:
        return "a single cluster has no spread to tell how far the true mean may be off"
    lost = Bound("max", e.metric.margin)
    worst = f"worse by up to {_number(-e.lower_bound, lost)} ({_percent(1.0 - e.alpha)} confidence"
    return f"the true mean may be {worst}; the margin is {_number(e.metric.margin)})"


def _what_decides(e: MetricVerdict) -> str:
    if e.cases_needed is not None:
        return f"about {e.cases_needed} cases like these would decide it"
    margin, min_effect = _number(e.metric.margin), _number(e.metric.min_effect)
    return f"more cases would not decide it: the drop is at least margin {margin} and below min_effect {min_effect}"


def _clear_but_small(e: MetricVerdict) -> str:
    return f"the drop is clear ({_p_value(e, e.p_adjusted)}) but below min_effect {_number(e.metric.min_effect)}"


def _over(e: MetricVerdict) -> str:
    cases, clusters = _plural(e.estimate.n_cases, "case"), _plural(e.estimate.n_clusters, "cluster")
    return cases if e.estimate.n_cases == e.estimate.n_clusters else f"{cases} in {clusters}"


def _bound(e: MetricVerdict) -> str:
    assert e.lower_bound is not None
    told = Bound("min", -e.metric.margin).shown(e.lower_bound)
    return f"lower {_percent(1.0 - e.alpha)} bound {told if told.startswith('-') else f'+{told}'}"


def _p_value(e: MetricVerdict, p: float) -> str:
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


def _percent(share: float) -> str:
    return f"{_number(round(share * 100, 2))} %"
