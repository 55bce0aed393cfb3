"""Metrics outside the family: aggregates that are no means, latency, privacy, the cost of a call.

A quantile, a ratio of sums, a share of all words: each is computed anew over the cases that compare, once from what
the baseline kept and once from what was measured now.  It is judged by an interval of its own effect, from resampling
whole clusters with both of their sides.  The level `alpha` is shared out among these metrics, so that all of them
together raise a false alarm as rarely as the family does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ...core.metrics_base import Measurement, Metric
from ...core.run import MetricInfo, Run
from ...core.scoring import REPEAT_DATA, Score
from ..baseline import RESOLUTION
from ..compare import Comparison, MetricChange, ScoreChange, gain_of
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy
from ..statistics.intervals import (
    Difference,
    Effect,
    Sums,
    bootstrap_interval,
    jackknife_interval,
    judge_interval,
)
from .gates import GateOutcome, cases_words, decide, regression_outcome

APART = ("LATENCY", "PRIVACY", "OPERATIONAL")
"""Targets that stand outside the family of metrics, whatever their aggregate is."""

UNBOUNDED_EFFECT, UNBOUNDED_MARGIN = 0.10, 0.25
"""By how much times and costs may grow, and what growth must be ruled out, where the golden file does not say."""

Pairs = dict[str, tuple[Measurement, Measurement]]
"""Case id → what was measured when the baseline was accepted, and now."""


class _DamagedError(Exception):
    """What the baseline kept of a metric is not of its shape, or cannot be aggregated."""


def has_own_interval(info: MetricInfo) -> bool:
    """Whether the metric is judged by an interval of its own, outside the family."""
    return info.interval in ("bootstrap", "jackknife") or info.target in APART


def paired_measurements(run: Run, comparison: Comparison, name: str) -> Pairs:
    """Return the measurements of one metric in the cases that compare and were measured both times.

    An errored case has the worst value where a value is all that is kept; else it is left out, as it gave no words to
    count and no time.  Times are those of cases that were asked with as many calls in flight.
    """
    out: Pairs = {}
    is_time = run.metrics[name].target == "LATENCY"
    if name in comparison.incomparable:
        return out
    for case_id, case in comparison.cases.items():
        score = run.cases[case_id].scores.get(name)
        if not case.paired or case.before is None or score is None:
            continue
        if is_time and case.before.concurrency != run.cases[case_id].concurrency:
            continue
        value, data = case.before.scores.get(name), case.before.data.get(name)
        before, now = Measurement(value, data), score.measurement
        if score.state == "error" and name in case.changes:
            now = Measurement(case.changes[name].after)
        if (value is None and data is None) or now is None or (data is None) != (now.data is None):
            continue
        if not _alike(data, now.data):
            raise _DamagedError(f"in {case_id} are not of its shape")
        out[case_id] = before, now
    return out


def _alike(kept: Any, measured: Any) -> bool:
    """Whether *kept*, as it came from a file, is built as what the same metric has *measured* now."""
    if isinstance(measured, Mapping):
        kinds = {str(key): part for key, part in measured.items()}
        return isinstance(kept, dict) and all(_alike(part, kinds.get(key, part)) for key, part in kept.items())
    if isinstance(measured, (list, tuple)):
        return isinstance(kept, list) and all(any(_alike(part, kind) for kind in measured or kept) for part in kept)
    if kept is None or measured is None:
        return not isinstance(kept, (dict, list)) or measured is None
    return isinstance(kept, str) == isinstance(measured, str) and not isinstance(kept, (dict, list))


def aggregate_of(metric: Metric, measured: Sequence[Measurement]) -> float | None:
    """Return the aggregate, or None where nothing went into it."""
    result = metric.aggregate(measured)
    used = result.details.get("num_samples", len(measured))
    return float(result.value) if used and math.isfinite(result.value) else None


def compare_pairs(
    run: Run, comparison: Comparison, metrics: Mapping[str, Metric]
) -> tuple[dict[str, Pairs], list[str]]:
    """Complete *comparison* by what single cases could not tell.

    Return the pairs of the metrics that stand apart, whose change is that of the aggregate, and the names of those of
    which the baseline's data are damaged.  Metrics that compare a variant with its base get a change per variant: how
    far it falls behind its base, then and now.
    """
    out: dict[str, Pairs] = {}
    damaged: list[str] = []
    for name, info in run.metrics.items():
        metric = metrics.get(name)
        if metric is None or not info.baselined or not (has_own_interval(info) or info.interval == "pairs"):
            continue
        if info.target == "LATENCY":
            _same_concurrency(run, comparison, name)
        try:
            pairs = paired_measurements(run, comparison, name)
            change = _change(metric, info, pairs) if pairs else None
        except _DamagedError as exc:
            comparison.incomparable[name] = f"damaged: the baseline's data of {name} {exc}"
            damaged.append(name)
            continue
        if change is not None:
            comparison.aggregates[name] = change
            if has_own_interval(info):
                out[name] = pairs
            else:
                _behind(comparison, name, metric, pairs)
        elif not pairs and name not in comparison.incomparable and _was_measured(run, comparison, name):
            comparison.incomparable[name] = "the baseline does not hold what it is computed from"
    return out, damaged


def score_pairs(run: Run, metrics: Mapping[str, Metric]) -> None:
    """Give variants the scores that only all cases together tell, where no more than these is to be kept.

    How alike two answers are needs both of them, and a baseline holds no answers; so it is the variant's own score.
    """
    for name, info in run.metrics.items():
        scores = run.scores_of(name)
        if name not in metrics or info.interval or all(score.state != "aggregate" for score in scores):
            continue
        found: dict[str, list[float]] = {}
        for i in range(1 + max(map(len, scores.details(REPEAT_DATA)), default=0)):
            for case_id, value in metrics[name].by_case([m for s in scores if (m := _in_repeat(s, i))]).items():
                found.setdefault(case_id, []).append(value)
        for case_id, values in found.items():
            score = run.cases[case_id].scores[name]
            score.state, score.value = "number", math.fsum(values) / len(values)


def _in_repeat(score: Score, i: int) -> Measurement | None:
    """Return what was measured in the repeat *i*; of a case that said the same each time what it said first."""
    further = score.details.get(REPEAT_DATA, ())
    seen = score.measurement
    return replace(seen, data=further[i - 1]) if seen is not None and 0 < i <= len(further) else seen


def _change(metric: Metric, info: MetricInfo, pairs: Pairs) -> MetricChange | None:
    after = aggregate_of(metric, [now for _, now in pairs.values()])
    try:
        before = aggregate_of(metric, [then for then, _ in pairs.values()])
    except Exception as exc:
        raise _DamagedError(f"do not add up ({type(exc).__name__}: {exc})") from exc
    if before is None or after is None:
        return None
    return MetricChange(len(pairs), before, after, gain_of(info, before, after))


def _behind(comparison: Comparison, name: str, metric: Metric, pairs: Pairs) -> None:
    before = metric.by_case([then for then, _ in pairs.values()])
    after = metric.by_case([now for _, now in pairs.values()])
    for case_id in sorted(before.keys() & after.keys()):
        gain = after[case_id] - before[case_id]
        change = ScoreChange(before[case_id], after[case_id], 0.0 if abs(gain) <= RESOLUTION else gain)
        comparison.cases[case_id].changes[name] = change


def _was_measured(run: Run, comparison: Comparison, name: str) -> bool:
    """Whether cases that compare have the metric now, and some had it then."""
    held = {i: c.before.scores.get(name) for i, c in comparison.cases.items() if c.paired and c.before is not None}
    scores = [run.cases[i].scores.get(name) for i in held]
    now = any(score is not None and score.measurement is not None for score in scores)
    return now and any(value is not None for value in held.values())


def _same_concurrency(run: Run, comparison: Comparison, name: str) -> None:
    """Times taken with more calls in flight are times of another thing."""
    pairs = [(c.before.concurrency, run.cases[i].concurrency) for i, c in comparison.cases.items() if c.before]
    if name in comparison.incomparable or not pairs:
        return
    then, now = max(one for one, _ in pairs), max(one for _, one in pairs)
    if then != now:
        comparison.incomparable[name] = f"concurrency {then} \u2192 {now}"


class _Question(NamedTuple):
    """One metric that stands apart, and by what limits."""

    name: str
    metric: Metric
    info: MetricInfo
    pairs: Pairs
    change: MetricChange
    clusters: Mapping[str, str]
    effect: Effect
    min_effect: float
    margin: float

    @property
    def n_clusters(self) -> int:
        return len({self.clusters[i] for i in self.pairs})

    @property
    def drop(self) -> float:
        """How much worse it got, in the unit of the limits."""
        size = self.change.before if self.effect == "ratio" else 1.0
        return -self.change.gain / size

    def interval(self, alpha: float) -> Difference:
        over = partial(aggregate_of, self.metric)
        if self.info.interval == "jackknife":
            return jackknife_interval(over, self.pairs, self.clusters, effect=self.effect, alpha=alpha)
        sums: Sums[Measurement] | None = None
        if self.metric.additive:
            sums = lambda seen: list(seen.data), lambda total: Measurement(None, total)
        return bootstrap_interval(over, self.pairs, self.clusters, effect=self.effect, alpha=alpha, sums=sums)


def judge_intervals(
    run: Run, comparison: Comparison, policy: RegressionPolicy, metrics: Mapping[str, Metric]
) -> list[GateOutcome]:
    """Complete *comparison* and return one outcome per metric that stands apart and compares.

    Below ten clusters a change of more than ``min_effect`` fails, from there on one that is more than chance.
    """
    compared, damaged = compare_pairs(run, comparison, metrics)
    out = [regression_outcome(run, name, name) for name in damaged]
    for gate in out:
        gate.state = "failed"
        gate.tell(f"{comparison.incomparable[gate.metric]}; restore the baseline or accept anew")
    asked = []
    for name, pairs in compared.items():
        info, change = run.metrics[name], comparison.aggregates[name]
        clusters = {i: run.cases[i].cluster or i for i in pairs}
        effect: Effect = "ratio" if info.target in APART and change.before > 0 else "difference"
        least, margin = limits(name, info, policy)
        asked.append(_Question(name, metrics[name], info, pairs, change, clusters, effect, least, margin))
    how = {q.name: policy.method_for(q.name, q.n_clusters, steady=q.name in comparison.steady) for q in asked}
    tested = [*how.values()].count("statistical")
    for question in asked:
        if how[question.name] == "report":
            continue
        worst = comparison.metric_of_cases(question.name)
        dropped = worst.dropped if worst is not None else ()
        name, change = question.name, question.change
        gate = regression_outcome(run, name, name, change, n=change.n, dropped=dropped)
        if how[question.name] == "tolerance":
            _tolerate(gate, question)
        else:
            _judge(gate, question, policy, policy.alpha / tested)
        out.append(gate)
    return out


def limits(name: str, info: MetricInfo, policy: RegressionPolicy) -> tuple[float, float]:
    """Return ``min_effect`` and ``margin`` of a metric that stands apart; times and costs have wider ones."""
    own = policy.for_metric(name)
    said = policy.metrics.get(name, {})
    if info.target not in APART or info.range[1] <= 1.0:
        return own.min_effect, own.margin
    return said.get("min_effect", UNBOUNDED_EFFECT), said.get("margin", UNBOUNDED_MARGIN)


def _tolerate(gate: GateOutcome, question: _Question) -> None:
    gate.bound = f"{_worse(question)} <= {_amount(question.min_effect, question)}"
    told, gate.word = _told(question), "same"
    if question.drop < -question.min_effect - 1e-9:
        gate.word = "better"
    if question.drop > question.min_effect + 1e-9:
        gate.state, gate.word = "failed", "worse"
        limit = _amount(question.min_effect, question)
        drop = next(said for d in range(4, 18) if (said := _amount(question.drop, question, digits=d)) != limit)
        told += f": {_worse(question)} of {drop}, more than the tolerated {limit}"
    gate.tell(told, f"{question.name} ")


def _judge(gate: GateOutcome, question: _Question, policy: RegressionPolicy, alpha: float) -> None:
    gate.bound, gate.word = f"interval at {alpha:g}", "same"
    told, subject = _told(question), f"{question.name} "
    if all(then == now for then, now in question.pairs.values()):
        gate.tell(f"{told}: no case differs", subject)
        return
    if question.n_clusters < CLUSTERS_FOR_STATISTICS:
        gate.tell(f"{told}: fewer than {CLUSTERS_FOR_STATISTICS} clusters, and the metric varies", subject)
        decide(gate, "inconclusive", policy)
        return
    seen = question.interval(alpha)
    found = judge_interval(
        seen, question.effect, direction=question.info.direction, min_effect=question.min_effect, margin=question.margin
    )
    gate.tell(f"{told}: {_between(seen, question)}; {_reason(found, question)}", subject)
    decide(gate, found, policy)


def _told(question: _Question) -> str:
    change = question.change
    over = cases_words(change.n)
    clusters = "" if question.n_clusters == change.n else f" in {question.n_clusters} clusters"
    return f"{change.before:.4f} \u2192 {change.after:.4f} over {over}{clusters}"


def _between(seen: Difference, question: _Question) -> str:
    if seen.value is None or seen.low is None or seen.high is None:
        return "how far apart the two truly are cannot be told"
    share = f"{(1 - seen.alpha) * 100:.4g} %"
    if question.effect == "ratio":
        return f"times {seen.value:.3f}, by chance between {seen.low:.3f} and {seen.high:.3f} ({share} interval)"
    return f"{seen.value:+.4f}, by chance between {seen.low:+.4f} and {seen.high:+.4f} ({share} interval)"


def _reason(found: str, question: _Question) -> str:
    least, margin = _amount(question.min_effect, question), _amount(question.margin, question)
    if found == "fail":
        return f"clearly worse, and by at least {least}"
    if found == "better":
        return f"clearly better, and by at least {least}"
    if found in ("pass", "same"):
        return f"a true {_worse(question)} of {margin} is ruled out"
    return f"not clearly worse by {least}, but a true {_worse(question)} of {margin} is still possible"


def _worse(question: _Question) -> str:
    return "drop" if question.info.direction == "higher" else "rise"


def _amount(size: float, question: _Question, *, digits: int = 4) -> str:
    return f"{size * 100:.{digits}g} %" if question.effect == "ratio" else f"{size:.{digits}g}"
