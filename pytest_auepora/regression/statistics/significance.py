"""The statistical policy: did a family of metrics get worse, by data one can believe?

    differences per case ──sum in clusters──▶ joint sign flips, step-down ──▶ adjusted p ─┐
                                          ├─▶ t corrected for skewness ────────────────────┴▶ FAIL, BETTER
                                          └─▶ cluster-robust bound on the mean ────────────▶ PASS
                                                                    neither ──▶ INCONCLUSIVE, with the cases needed

Below ten clusters the p is exact and there is no t: a metric is judged by the clusters that it has itself.

A pure function of plain mappings: it knows no run, no file and no pytest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..policy import CLUSTERS_FOR_STATISTICS
from .evidence import Evidence, Outcome, PairedMetric, reason, warning
from .precision import MeanEstimate, count_clusters, hall_t
from .signflip import ClusterTable, sign_flip_test

_GRAVEST_FIRST: tuple[Outcome, ...] = ("fail", "inconclusive", "better", "pass", "same")


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """What the data say about one metric.

    ``"same"`` is the pass of a metric in which no case differs.  What cannot be estimated is None: the mean
    over no case; ``se`` and ``lower_bound`` below two clusters; ``mde`` where nothing spreads.

    Attributes:
        mean_difference: mean over cases, negative for a drop.
        z: -ΣD/√ΣD² over clusters, large for a clear drop.
        p_raw, p_adjusted: one-sided p of a drop, alone and adjusted for the family.
        p_gain: the adjusted p of a gain.
        hall: the t that is corrected for skewness; None below ten clusters.
        se, lower_bound: cluster-robust standard error of the mean and its one-sided 1 - alpha lower bound.
        mde: smallest true drop that these cases would fail in 80 % of runs.
        cases_needed: how many cases in all would decide an inconclusive metric, if what they show goes on;
            None for the other outcomes, and where no number of cases would.
        reason: the outcome in words, with the numbers behind it.
        warning: set where ``mde`` exceeds the margin, else empty.
        n_worse, n_better: cases that went down and up.
    """

    name: str
    outcome: Outcome
    mean_difference: float | None
    n_cases: int
    n_clusters: int
    z: float
    p_raw: float
    p_adjusted: float
    se: float | None
    lower_bound: float | None
    mde: float | None
    cases_needed: int | None
    reason: str
    warning: str = ""
    n_worse: int = 0
    n_better: int = 0
    p_gain: float = 0.5
    hall: float | None = None


@dataclass(frozen=True, slots=True)
class FamilyVerdict:
    """The gravest outcome of a family: fail, inconclusive, better, pass, same.  An empty family is inconclusive.

    ``critical_value`` is the z a single drop has to exceed to be clear in this family; None where nothing differs.
    """

    outcome: Outcome
    metrics: tuple[MetricVerdict, ...]
    n_clusters: int
    critical_value: float | None
    enumerated: bool
    alpha: float


def judge_family(
    metrics: Sequence[PairedMetric],
    clusters: Mapping[str, str],
    *,
    alpha: float = 0.05,
    draws: int = 9999,
    seed: int = 0,
    members: str = "metrics",
) -> FamilyVerdict:
    """Judge all gated metrics of a suite together, so that any of them fails by chance in at most *alpha* of runs.

    Args:
        metrics: the family; they may cover different cases.
        clusters: case id → cluster, for cases that are not independent (variants of one question);
            a case not listed is in the cluster of its own id.
        alpha: family-wise level of a failure, and of each lower bound.
        draws: random sign patterns where more than 13 clusters differ.
        seed: of those patterns.
        members: what the family is of, for people.

    Raises:
        ValueError: a difference is not finite, a name occurs twice, or a setting is out of range.
    """
    _check(metrics, alpha, draws)
    if not any(any(m.differences.values()) for m in metrics):
        return _nothing_differs(metrics, clusters, alpha, members)
    table = ClusterTable.of([m.differences for m in metrics], clusters)
    test = sign_flip_test(table.sums, alpha=alpha, draws=draws, seed=seed)
    verdicts = []
    for m, metric in enumerate(metrics):
        counts = table.counts[:, m].tolist()
        sums = table.sums[:, m].tolist()
        estimate = MeanEstimate.of(sums, counts)
        few = estimate.n_clusters < CLUSTERS_FOR_STATISTICS
        evidence = Evidence(
            metric, estimate, float(test.z[m]), float(test.p_raw[m]),
            float((test.p_exact if few else test.p_adjusted)[m]), test.critical_value, alpha, len(metrics), members,
            float((test.gain_exact if few else test.gain_adjusted)[m]),
            None if few else hall_t([d for d, n in zip(sums, counts, strict=True) if n]),
        )  # fmt: skip
        verdicts.append(_judge(evidence))
    return FamilyVerdict(
        gravest(verdicts), tuple(verdicts), len(table.sums), test.critical_value, test.enumerated, alpha
    )


def _nothing_differs(
    metrics: Sequence[PairedMetric], clusters: Mapping[str, str], alpha: float, members: str
) -> FamilyVerdict:
    """Give what the test gives where every difference is 0, the run that every project hopes for, without numpy."""
    verdicts = []
    for metric in metrics:
        cases = metric.differences.keys()
        estimate = MeanEstimate.of_zeros(len(cases), count_clusters(cases, clusters))
        few = estimate.n_clusters < CLUSTERS_FOR_STATISTICS
        p, hall = (1.0, None) if few else (0.5, 0.0)
        evidence = Evidence(metric, estimate, 0.0, 0.5, p, None, alpha, len(metrics), members, p, hall)
        verdicts.append(_judge(evidence))
    n_clusters = count_clusters(set().union(*(metric.differences for metric in metrics)), clusters)
    return FamilyVerdict(gravest(verdicts), tuple(verdicts), n_clusters, None, True, alpha)


def gravest(verdicts: Sequence[MetricVerdict]) -> Outcome:
    """Return the outcome of a family from those of its metrics."""
    seen = {v.outcome for v in verdicts}
    return next((outcome for outcome in _GRAVEST_FIRST if outcome in seen), "inconclusive")


def _judge(evidence: Evidence) -> MetricVerdict:
    outcome = _decide(evidence)
    return MetricVerdict(
        name=evidence.metric.name,
        outcome=outcome,
        mean_difference=evidence.estimate.mean,
        n_cases=evidence.estimate.n_cases,
        n_clusters=evidence.estimate.n_clusters,
        z=evidence.z,
        p_raw=evidence.p_raw,
        p_adjusted=evidence.p_adjusted,
        se=evidence.estimate.se,
        lower_bound=evidence.lower_bound,
        mde=evidence.mde,
        cases_needed=evidence.cases_needed if outcome == "inconclusive" else None,
        reason=reason(outcome, evidence),
        warning=warning(evidence),
        n_worse=evidence.n_worse,
        n_better=evidence.n_better,
        p_gain=evidence.p_gain,
        hall=evidence.hall,
    )


def _decide(e: Evidence) -> Outcome:
    if not e.estimate.n_cases:
        return "inconclusive"
    if not e.n_worse and not e.n_better:
        return "same"
    if e.is_clear and e.is_large:
        return "fail"
    if e.is_clear_gain and e.is_large_gain:
        return "better"
    if e.lower_bound is not None and e.lower_bound > -e.metric.margin:
        return "pass"
    return "inconclusive"


def _check(metrics: Sequence[PairedMetric], alpha: float, draws: int) -> None:
    if not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must lie between 0 and 0.5, not {alpha}")
    if draws < 1:
        raise ValueError(f"draws must be positive, not {draws}")
    names = [m.name for m in metrics]
    for metric in metrics:
        if names.count(metric.name) > 1:
            raise ValueError(f"metric {metric.name!r} is in the family twice")
        if not (metric.min_effect >= 0.0 and metric.margin >= 0.0):
            raise ValueError(
                f"{metric.name}: min_effect and margin must be numbers, 0 or more, "
                f"not {metric.min_effect} and {metric.margin}"
            )
        if not all(map(math.isfinite, metric.differences.values())):
            case, difference = next((c, d) for c, d in metric.differences.items() if not math.isfinite(d))
            raise ValueError(f"{metric.name}: the difference of case {case!r} is {difference}")
