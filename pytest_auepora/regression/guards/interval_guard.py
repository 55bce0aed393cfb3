"""Metrics whose aggregate is not a mean (quantiles, ratios, distinct-n), and latency, privacy, cost.

Each is tested by a bootstrap or jackknife interval; alpha is split among them (Bonferroni).  Both aggregates are
computed over the comparable cases: from the data in the baseline and from the new measurements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from ...base.grouping import grouped
from ...core.metrics_base import Measurement, Metric, interval_of
from ...core.run import MetricInfo, Run
from ...core.scoring import checked_aggregate, repeats_of
from ...errors import MetricError
from ..baseline import RESOLUTION
from ..compare import Change, Comparison, Incomparable, MetricChange, ScoreChange, gain_of, mean_change
from ..outcomes import GateOutcome, Interval, Outcome
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy
from ..statistics.intervals import Effect, Resampling, Sums, draws_for, judge_interval
from ..statistics.precision import count_clusters
from .gates import apply_outcome, regression_outcome

_INTERVAL_TARGETS = ("LATENCY", "PRIVACY", "OPERATIONAL")  # tested by an interval, whatever the aggregate is

UNBOUNDED_EFFECT, UNBOUNDED_MARGIN = 0.10, 0.25
"""``min_effect`` and ``margin`` of times and costs, as shares, if the golden file does not set them."""

_MOST_DRAWS = 19_999  # resamples of a metric: a smaller alpha would take longer than the run

Pairs = dict[str, tuple[Measurement, Measurement]]
"""Case id → measurement in the baseline, and in this run."""


class _DamagedError(Exception):
    """The baseline's data of a metric have another shape, in the named case, or cannot be aggregated."""


def has_own_interval(info: MetricInfo) -> bool:
    """Whether the metric is tested by an interval, outside the family."""
    return info.interval in ("bootstrap", "jackknife") or info.target in _INTERVAL_TARGETS


def paired_measurements(run: Run, comparison: Comparison, name: str) -> Pairs:
    """Return the measurements of one metric in the comparable cases that were measured both times.

    An errored case counts as the worst value if the metric stores values only; else it is left out, as it has no data.
    Times are compared only at the same number of calls in flight.
    """
    out: Pairs = {}
    is_time = run.metrics[name].target == "LATENCY"
    for case_id, case in comparison.cases.items():
        score = run.cases[case_id].scores.get(name)
        if not case.paired or case.before is None or score is None:
            continue
        if is_time and case.before.concurrency != run.cases[case_id].concurrency:
            continue
        value, data = case.before.centre(name, run.metrics[name].worst), case.before.data.get(name)
        before, after = Measurement(value, data), score.measurement
        if score.state == "error" and name in case.changes:
            after = Measurement(case.changes[name].after)
        if (value is None and data is None) or after is None or (data is None) != (after.data is None):
            continue
        if not _same_shape(data, after.data):
            raise _DamagedError(case_id)
        out[case_id] = before, after
    return out


def _same_shape(stored: Any, measured: Any) -> bool:
    """Whether *stored* data, read from a file, have the types and keys of the same metric's *measured* data."""
    if isinstance(measured, Mapping):
        parts = {str(key): part for key, part in measured.items()}
        return isinstance(stored, dict) and all(_same_shape(v, parts.get(key, v)) for key, v in stored.items())
    if isinstance(measured, (list, tuple)):
        return isinstance(stored, list) and all(any(_same_shape(v, m) for m in measured or stored) for v in stored)
    if stored is None or measured is None:
        return not isinstance(stored, (dict, list)) or measured is None
    return isinstance(stored, str) == isinstance(measured, str) and not isinstance(stored, (dict, list))


def aggregate_of(metric: Metric, measured: Sequence[Measurement]) -> float | None:
    """Return the aggregate; None if it has no sample, raises or is not finite."""
    with suppress(MetricError):
        return _checked_value(metric, measured)
    return None


def _checked_value(metric: Metric, measured: Sequence[Measurement]) -> float | None:
    result = checked_aggregate(metric, measured)
    return float(result.value) if result.details.get("num_samples", len(measured)) else None


def compare_pairs(
    run: Run, comparison: Comparison, metrics: Mapping[str, Metric]
) -> tuple[dict[str, Pairs], list[str]]:
    """Add changes to *comparison* that need more than single cases.

    Return the pairs of metrics with their own interval, whose change is that of the aggregate, and the names of metrics
    with damaged data in the baseline.  Metrics that compare a variant with its base get a change per variant: how far
    it is behind its base, before and after.
    """
    out: dict[str, Pairs] = {}
    damaged: list[str] = []
    for name, info in run.metrics.items():
        metric = metrics.get(name)
        if metric is None or not info.baselined or not (has_own_interval(info) or info.interval == "pairs"):
            continue
        if info.target == "LATENCY":
            _check_concurrency(run, comparison, name)
        if name in comparison.incomparable:
            continue
        try:
            pairs = paired_measurements(run, comparison, name)
            change = _aggregate_change(metric, info, pairs) if pairs else None
        except _DamagedError as exc:
            comparison.incomparable[name] = Incomparable("damaged", detail=str(exc))
            damaged.append(name)
            continue
        if change is not None:
            comparison.aggregates[name] = change
            if has_own_interval(info):
                out[name] = pairs
            else:
                _add_variant_changes(comparison, name, metric, pairs)
        elif not pairs and _was_measured(run, comparison, name):
            comparison.incomparable[name] = Incomparable("not stored")
    return out, damaged


def score_pairs(run: Run, metrics: Mapping[str, Metric]) -> None:
    """Give variants their scores in metrics that need all cases, unless the metric aggregates more than scores.

    The similarity of two answers needs both of them, and a baseline holds no answers; so it is the variant's score.
    """
    for name, info in run.metrics.items():
        scores = run.scores_of(name)
        if name not in metrics or info.interval or all(score.state != "aggregate" for score in scores):
            continue
        repeats = repeats_of(scores.measurements, scores.rounds)
        by_case = grouped(item for repeat in repeats for item in metrics[name].by_case(repeat).items())
        for case_id, values in by_case.items():
            score = run.cases[case_id].scores[name]
            score.state, score.value = "number", math.fsum(values) / len(values)


def _aggregate_change(metric: Metric, info: MetricInfo, pairs: Pairs) -> MetricChange | None:
    if (new := aggregate_of(metric, [after for _, after in pairs.values()])) is None:
        return None
    try:
        old = _checked_value(metric, [before for before, _ in pairs.values()])
    except MetricError as exc:
        raise _DamagedError(exc) from exc
    return None if old is None else MetricChange(len(pairs), old, new, gain_of(info, old, new))


def _add_variant_changes(comparison: Comparison, name: str, metric: Metric, pairs: Pairs) -> None:
    old = metric.by_case([before for before, _ in pairs.values()])
    new = metric.by_case([after for _, after in pairs.values()])
    for case_id in sorted(old.keys() & new.keys()):
        gain = new[case_id] - old[case_id]
        change = ScoreChange(old[case_id], new[case_id], 0.0 if abs(gain) <= RESOLUTION else gain)
        comparison.cases[case_id].changes[name] = change


def _was_measured(run: Run, comparison: Comparison, name: str) -> bool:
    """Whether some comparable case has the metric in the run, and some case has it in the baseline."""
    worst = run.metrics[name].worst
    before = {i: c.before.centre(name, worst) for i, c in comparison.cases.items() if c.paired and c.before is not None}
    scores = [run.cases[i].scores.get(name) for i in before]
    in_run = any(score is not None and score.measurement is not None for score in scores)
    return in_run and any(value is not None for value in before.values())


def _check_concurrency(run: Run, comparison: Comparison, name: str) -> None:
    """Mark times as not comparable if the number of calls in flight changed."""
    paired = {i: c.before for i, c in comparison.cases.items() if c.before is not None}
    before = max((case.concurrency for case in paired.values()), default=1)
    after = max((run.cases[i].concurrency for i in paired), default=1)
    if before != after:
        comparison.incomparable.setdefault(name, Incomparable(changes=(Change("concurrency", before, after),)))


def judge_intervals(
    run: Run, comparison: Comparison, policy: RegressionPolicy, metrics: Mapping[str, Metric]
) -> list[GateOutcome]:
    """Complete *comparison* and return one outcome per comparable metric with its own interval.

    Below ten clusters a deterministic metric fails by a loss above ``min_effect``, and others are inconclusive.
    """
    compared, damaged = compare_pairs(run, comparison, metrics)
    out = [regression_outcome(run, name) for name in damaged]
    for gate in out:
        gate.state, gate.reason = "failed", "damaged data"
        gate.incomparable = {gate.metric: comparison.incomparable[gate.metric]}
    clusters, steady = run.clusters, comparison.steady
    sizes = {name: count_clusters(pairs, clusters) for name, pairs in compared.items()}
    methods = {name: policy.method_for(name, size, steady=name in steady) for name, size in sizes.items()}
    n_statistical = sum(method == "statistical" for method in methods.values())
    for name, method in methods.items():
        if method == "report":
            continue
        info, change, changes = run.metrics[name], comparison.aggregates[name], comparison.changes_of(name)
        dropped = mean_change(changes).dropped if changes else ()
        gate = regression_outcome(run, name, change, n=change.n, dropped=dropped)
        effect: Effect = "ratio" if info.target in _INTERVAL_TARGETS and change.before > 0 else "difference"
        gate.interval = Interval(effect, *limits(name, info, policy), sizes[name])
        gate.steady, gate.limit = name in steady, gate.interval.min_effect
        if method == "tolerance":
            _judge_by_tolerance(gate, gate.interval, change)
        else:
            alpha = policy.alpha / n_statistical
            outcome = _judge_by_interval(gate, metrics[name], compared[name], clusters, alpha)
            apply_outcome(gate, outcome, policy)
        out.append(gate)
    return out


def limits(name: str, info: MetricInfo, policy: RegressionPolicy) -> tuple[float, float]:
    """Return ``min_effect`` and ``margin`` of a metric with its own interval; times and costs have wider ones."""
    own = policy.for_metric(name)
    declared = policy.metrics.get(name, {})
    if info.target not in _INTERVAL_TARGETS or info.range[1] <= 1.0:
        return own.min_effect, own.margin
    return declared.get("min_effect", UNBOUNDED_EFFECT), declared.get("margin", UNBOUNDED_MARGIN)


def _judge_by_tolerance(gate: GateOutcome, interval: Interval, change: MetricChange) -> None:
    gate.method, gate.word = "tolerance", "same"
    drop = -change.gain / (change.before if interval.effect == "ratio" else 1.0)
    if drop < -interval.min_effect - 1e-9:
        gate.word = "better"
    if drop > interval.min_effect + 1e-9:
        gate.state, gate.word = "failed", "worse"


def _judge_by_interval(
    gate: GateOutcome, metric: Metric, pairs: Pairs, clusters: Mapping[str, str], alpha: float
) -> Outcome:
    """Return the outcome, and complete *gate* and its interval."""
    gate.method, interval = "interval", gate.interval
    assert interval is not None
    if all(before == after for before, after in pairs.values()):
        interval.unchanged = True
        return "same"
    by_draws = interval_of(metric) != "jackknife"
    if interval.clusters < CLUSTERS_FOR_STATISTICS:
        gate.reason = "too few clusters"
    elif by_draws and draws_for(alpha) > _MOST_DRAWS:
        gate.reason = "alpha too small"
    else:
        resampling = Resampling(partial(aggregate_of, metric), pairs, clusters, effect=interval.effect, alpha=alpha)
        sums: Sums[Measurement] | None = None
        if metric.additive:
            sums = lambda measurement: list(measurement.data), lambda total: Measurement(None, total)
        draws = max(1_999, draws_for(alpha))
        found = resampling.bootstrap(draws, sums) if by_draws else resampling.jackknife()
        interval.alpha, interval.value, interval.low, interval.high = found.alpha, found.value, found.low, found.high
        if None in (found.value, found.low, found.high):
            gate.reason = "no spread"
        return judge_interval(
            found, interval.effect, direction=metric.direction, min_effect=interval.min_effect, margin=interval.margin
        )
    return "inconclusive"
