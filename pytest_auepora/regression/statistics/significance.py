"""The policy ``statistical``: did a family of metrics get worse by more than chance?

    differences per case ──sum in clusters──▶ sign flips, step-down maxT ───▶ adjusted p ─┐
                                          ├─▶ t corrected for skewness ────────────────────┴▶ worse, better
                                          └─▶ cluster-robust bound on the mean ────────────▶ same
                                                                    neither ──▶ inconclusive, with the cases needed

Below ten clusters p is exact and there is no t; each metric counts its own clusters.

Pure functions of plain mappings, without runs, files or pytest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..policy import CLUSTERS_FOR_STATISTICS
from ..thresholds import Bound
from .precision import (
    TIE,
    MeanEstimate,
    cases_for_effect,
    cases_words,
    count_clusters,
    hall_t,
    minimum_detectable_effect,
    planned_mde,
    t_quantile,
)

Outcome = Literal["worse", "better", "same", "inconclusive"]
"""``same``: no case differs, or a drop of the margin is ruled out."""


@dataclass(frozen=True, slots=True)
class PairedMetric:
    """The differences of one metric between two runs.

    Attributes:
        name: as the user types it.
        differences: case id → candidate - baseline, signed so that a drop is **negative** whatever the
            metric's direction.  A case that is n/a on both sides is absent.
        min_effect: a smaller mean drop never fails, however significant.
        margin: to pass, a true mean drop of this size must be ruled out.
    """

    name: str
    differences: Mapping[str, float]
    min_effect: float = 0.01
    margin: float = 0.05


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """The test result of one metric, within its family.

    Attributes:
        metric: the differences.
        estimate: their mean and its standard error.
        p_raw: one-sided mid-p of a drop, not corrected for other metrics.
        p_adjusted, p_gain: p of a drop and of a gain, corrected for the family: mid-p, or exact p if clusters are few.
        hall: Hall's t of the cluster sums; None if clusters are few.
        critical_value: the z that a drop has to exceed to be significant in this family; None if nothing differs.
        alpha: family-wise level of a failure, and level of each lower bound.
        correction: what p is corrected for, in words; empty in a family of one.
    """

    metric: PairedMetric
    estimate: MeanEstimate
    p_raw: float
    p_adjusted: float
    p_gain: float
    hall: float | None
    critical_value: float | None
    alpha: float
    correction: str

    @property
    def outcome(self) -> Outcome:
        """The decision on the metric."""
        if not self.estimate.n_cases:
            return "inconclusive"
        if not self.differs:
            return "same"
        if self.is_significant and self.is_large:
            return "worse"
        is_significant_gain = self.p_gain <= self.alpha and (self.hall is None or self.hall > self._critical_t)
        if is_significant_gain and -self.drop >= self.metric.min_effect - TIE and self.drop < -TIE:
            return "better"
        if self.lower_bound is not None and self.lower_bound > -self.metric.margin:
            return "same"
        return "inconclusive"

    @property
    def drop(self) -> float:
        """The observed mean drop; negative for a gain, 0 if nothing was measured."""
        return -(self.estimate.mean or 0.0)

    @property
    def n_worse(self) -> int:
        """Cases that went down."""
        return len([d for d in self.metric.differences.values() if d < -TIE])

    @property
    def n_better(self) -> int:
        """Cases that went up."""
        return len([d for d in self.metric.differences.values() if d > TIE])

    @property
    def differs(self) -> bool:
        """Whether any case went down or up."""
        return bool(self.n_worse or self.n_better)

    @property
    def is_significant(self) -> bool:
        """``p <= alpha``, and Hall's t (corrected for skewness) agrees."""
        return self.p_adjusted <= self.alpha and not self.is_skewed_only

    @property
    def is_skewed_only(self) -> bool:
        """``p <= alpha``, but Hall's t does not agree: a few cases changed much, most hardly."""
        return self.p_adjusted <= self.alpha and self.hall is not None and not self.hall < -self._critical_t

    @property
    def _critical_t(self) -> float:
        return t_quantile(1.0 - self.alpha, self.estimate.n_clusters - 1)

    @property
    def is_large(self) -> bool:
        """Whether the observed drop is at least ``min_effect``."""
        return self.drop >= self.metric.min_effect - TIE

    @property
    def lower_bound(self) -> float | None:
        """One-sided 1 - alpha lower bound of the true mean difference; None below two clusters."""
        return self.estimate.lower_bound(self.alpha)

    @property
    def mde(self) -> float | None:
        """Minimum detectable drop (80 % power); None if the differences have no spread."""
        if not self.estimate.se or self.critical_value is None:
            return None
        return minimum_detectable_effect(self.critical_value, self.estimate.se)

    @property
    def cases_needed(self) -> int | None:
        """How many cases would decide an inconclusive metric, if mean and spread stay as they are.

        They have to detect the observed drop (to fail) or margin - drop (to pass); the easier one counts.
        None if neither is possible: the drop lies between margin and min_effect.
        """
        n, clusters = self.estimate.n_cases, self.estimate.n_clusters
        effect = max(self.metric.margin - self.drop, self.drop if self.is_large else 0.0)
        if not n or effect <= TIE or self.outcome != "inconclusive":
            return None
        # with fewer clusters p exceeds alpha even if all of them are worse
        fewest_clusters = math.ceil(math.log2(1.0 / self.alpha))
        mde = self.mde if self.mde is not None else planned_mde(clusters)
        return max(n + 1, math.ceil(n * fewest_clusters / clusters), cases_for_effect(n, mde, effect))

    @property
    def _sample_size(self) -> str:
        return cases_words(self.estimate.n_cases, self.estimate.n_clusters)

    @property
    def finding(self) -> str:
        """How much scores changed, in how many cases."""
        by = _number(abs(self.drop))
        up_or_down = "worse" if self.drop > 0 else "better"
        change = "unchanged on average" if abs(self.drop) < 5e-5 else f"{up_or_down} by {by}"
        return f"{change} ({self._sample_size}: {self.n_worse} worse, {self.n_better} better)"

    @property
    def reason(self) -> str:
        """The outcome in words and numbers, without the metric's name."""
        outcome, margin = self.outcome, _number(self.metric.margin)
        if not self.estimate.n_cases:
            return "no case was measured in both runs, so there is nothing to judge"
        if not self.differs:
            usual = _number(planned_mde(self.estimate.n_clusters))
            power = f"with the usual spread of scores so many would show a drop of {usual}"
            return f"no case differs ({self._sample_size}); {power}"
        if outcome in ("worse", "better"):
            return f"{self.finding}, {_p_value(self, self.p_adjusted if outcome == 'worse' else self.p_gain)}"
        if outcome == "same":
            caveat = f"; {_significant_but_small(self)}" if self.is_significant else ""
            assert self.lower_bound is not None
            bound = Bound("min", -self.metric.margin).shown(self.lower_bound)
            level = f"lower {_percent(1.0 - self.alpha)} bound {bound if bound.startswith('-') else f'+{bound}'}"
            return f"{self.finding}: a drop of {margin} is ruled out ({level}){caveat}"
        why = f", {_why_no_failure(self)}, and" if self.drop > TIE else ", but"
        return f"{self.finding}{why} {_why_no_pass(self)}: {_what_decides(self)}"

    @property
    def warning(self) -> str:
        """Says if the cases are too few to detect a drop of the margin; otherwise empty."""
        mde, margin = self.mde, self.metric.margin
        if mde is None or margin <= TIE or mde <= margin:
            return ""
        enough = cases_for_effect(self.estimate.n_cases, mde, margin)
        return (
            f"minimum detectable drop {_number(mde)} over {self._sample_size}, above the margin {_number(margin)}: "
            f"about {enough} cases would detect that"
        )


def judge_family(
    metrics: Sequence[PairedMetric], clusters: Mapping[str, str], *, alpha: float = 0.05, members: str = "metrics"
) -> list[MetricVerdict]:
    """Judge all metrics of a suite together, so that any of them fails by chance in at most *alpha* of runs.

    The *metrics* have finite differences and may cover different cases; messages call them *members*.  *clusters* has
    the cluster of each case that is not independent of others (a variant of a question), *alpha* is also the level of
    each lower bound.
    """
    correction = "" if len(metrics) == 1 else f" (corrected for {len(metrics)} {members})"
    if not any(any(m.differences.values()) for m in metrics):
        return [_unchanged(metric, clusters, alpha, correction) for metric in metrics]
    from .signflip import cluster_sums, sign_flip_test  # which imports numpy

    sums, counts = cluster_sums([m.differences for m in metrics], clusters)
    test = sign_flip_test(sums, alpha=alpha)
    out = []
    for m, metric in enumerate(metrics):
        estimate = MeanEstimate.of(sums[:, m].tolist(), counts[:, m].tolist())
        few = estimate.n_clusters < CLUSTERS_FOR_STATISTICS
        p_drop, p_gain = (test.p_exact, test.gain_exact) if few else (test.p_adjusted, test.gain_adjusted)
        hall = None if few else hall_t(sums[counts[:, m] > 0, m].tolist())
        verdict = MetricVerdict(
            metric, estimate, float(test.p_raw[m]), float(p_drop[m]), float(p_gain[m]), hall,
            test.critical_value, alpha, correction,
        )  # fmt: skip
        out.append(verdict)
    return out


def _unchanged(metric: PairedMetric, clusters: Mapping[str, str], alpha: float, correction: str) -> MetricVerdict:
    """Return the test result for differences of 0, the most frequent run, without importing numpy."""
    n, g = len(metric.differences), count_clusters(metric.differences, clusters)
    estimate = MeanEstimate(0.0 if n else None, n, g, 0.0 if g > 1 else None)
    p, hall = (1.0, None) if g < CLUSTERS_FOR_STATISTICS else (0.5, 0.0)
    return MetricVerdict(metric, estimate, 0.5, p, p, hall, None, alpha, correction)


def _why_no_failure(verdict: MetricVerdict) -> str:
    p_value = _p_value(verdict, verdict.p_adjusted)
    if verdict.is_significant:
        return _significant_but_small(verdict)
    if verdict.is_skewed_only:
        return f"{p_value}, but few cases changed much and the others hardly (Hall's t does not agree)"
    return p_value


def _why_no_pass(verdict: MetricVerdict) -> str:
    if verdict.lower_bound is None:
        return "a single cluster has no spread to tell how far the true mean may be off"
    limit = Bound("max", verdict.metric.margin)
    worst = f"worse by up to {_number(-verdict.lower_bound, limit)} ({_percent(1.0 - verdict.alpha)} confidence"
    return f"the true mean may be {worst}; the margin is {_number(verdict.metric.margin)})"


def _what_decides(verdict: MetricVerdict) -> str:
    if verdict.cases_needed is not None:
        return f"about {verdict.cases_needed} cases like these would decide it"
    margin, min_effect = _number(verdict.metric.margin), _number(verdict.metric.min_effect)
    return f"more cases would not decide it: the drop is at least margin {margin} and below min_effect {min_effect}"


def _significant_but_small(verdict: MetricVerdict) -> str:
    p_value, min_effect = _p_value(verdict, verdict.p_adjusted), _number(verdict.metric.min_effect)
    return f"the drop is clear ({p_value}) but below min_effect {min_effect}"


def _p_value(verdict: MetricVerdict, p: float) -> str:
    value, sign = _number(p, Bound("max", verdict.alpha)), "<=" if p <= verdict.alpha else ">"
    limit = "" if value.startswith("<") else f" {sign} {_number(verdict.alpha)}"
    return f"p {value}{limit}{verdict.correction}"


def _number(x: float, limit: Bound | None = None) -> str:
    """Four decimals without trailing zeros; more if *x* would else be shown on the wrong side of *limit*."""
    if 0.0 < x < 0.0001:
        return "< 0.0001"
    return (limit.shown(x) if limit is not None else f"{x:.4f}").rstrip("0").rstrip(".")


def _percent(share: float) -> str:
    return f"{_number(round(share * 100, 2))} %"
