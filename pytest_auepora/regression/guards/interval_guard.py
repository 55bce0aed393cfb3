"""Metrics outside the family: aggregates that are no means, latency, privacy, the cost of a call.

Each is judged by an interval of its own effect, from resampling whole clusters with both of their sides.  The level
`alpha` is shared out among them, so that all of them together raise a false alarm as rarely as the family does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from ...core.metrics_base import Measurement, Metric
from ...core.run import MetricInfo, Run
from ..compare.cases import Comparison, MetricChange
from ..compare.measurements import APART, Pairs, aggregate_of, settle
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy
from .gates import GateOutcome, cases_words, leave_undecided, regression_title

if TYPE_CHECKING:
    from ..statistics.intervals import Effect, EffectInterval

UNBOUNDED_EFFECT, UNBOUNDED_MARGIN = 0.10, 0.25
"""By how much times and costs may grow, and what growth must be ruled out, where the golden file does not say."""


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

    def interval(self, alpha: float) -> EffectInterval:
        from ..statistics.intervals import bootstrap_interval, jackknife_interval

        def over(measured: list[Measurement]) -> float | None:
            return aggregate_of(self.metric, measured)

        if self.info.interval == "jackknife":
            return jackknife_interval(over, self.pairs, self.clusters, effect=self.effect, alpha=alpha)  # type: ignore[arg-type]
        sums = (_data_of, _with_data) if self.metric.additive else None
        return bootstrap_interval(over, self.pairs, self.clusters, effect=self.effect, alpha=alpha, sums=sums)  # type: ignore[arg-type]


def _data_of(measured: Measurement) -> list[int]:
    return list(measured.data)


def _with_data(sums: list[int]) -> Measurement:
    return Measurement(None, sums)


def judge_apart(
    run: Run, comparison: Comparison, policy: RegressionPolicy, metrics: Mapping[str, Metric]
) -> list[GateOutcome]:
    """Complete *comparison* and return one outcome per metric that stands apart and compares.

    Below ten clusters a change of more than ``min_effect`` fails, from there on one that is more than chance.
    """
    settled, damaged = settle(run, comparison, metrics)
    restore = "restore the baseline or accept anew"
    out = [
        GateOutcome(regression_title(name), "regression", "failed", f"{comparison.incomparable[name]}; {restore}")
        for name in damaged
    ]
    asked = [
        _question(run, name, metrics[name], pairs, policy, change=comparison.aggregates[name])
        for name, pairs in settled.items()
    ]
    steady = comparison.steady
    by_chance = [q for q in asked if policy.over(q.name, q.n_clusters, steady=q.name in steady) == "statistical"]
    for question in asked:
        how = policy.over(question.name, question.n_clusters, steady=question.name in steady)
        if how == "report":
            continue
        gate = _outcome(run, comparison, question)
        if how == "tolerance":
            _tolerate(gate, question)
        else:
            _judge(gate, question, policy, policy.alpha / len(by_chance))
        out.append(gate)
    return out


def limits(name: str, info: MetricInfo, policy: RegressionPolicy) -> tuple[float, float]:
    """Return ``min_effect`` and ``margin`` of a metric that stands apart; times and costs have wider ones."""
    own = policy.for_metric(name)
    said = policy.metrics.get(name, {})
    if info.target not in APART or info.range[1] <= 1.0:
        return own.min_effect, own.margin
    return said.get("min_effect", UNBOUNDED_EFFECT), said.get("margin", UNBOUNDED_MARGIN)


def _question(
    run: Run, name: str, metric: Metric, pairs: Pairs, policy: RegressionPolicy, /, *, change: MetricChange
) -> _Question:
    info = run.metrics[name]
    clusters = {i: run.cases[i].cluster or i for i in pairs}
    effect: Effect = "ratio" if info.target in APART and change.before > 0 else "difference"
    return _Question(name, metric, info, pairs, change, clusters, effect, *limits(name, info, policy))


def _outcome(run: Run, comparison: Comparison, question: _Question) -> GateOutcome:
    name, change = question.name, question.change
    worst = comparison.metric_of_cases(name)
    return GateOutcome(
        regression_title(name), "regression", "passed", "", name, change.after, n=change.n, total=len(run.cases),
        owner=run.owner_of(name), culprits=worst.dropped[:5] if worst is not None else (), before=change.before,
    )  # fmt: skip


def _tolerate(gate: GateOutcome, question: _Question) -> None:
    gate.bound = f"{_worse(question)} <= {_amount(question.min_effect, question)}"
    gate.message, gate.word = _told(question), "same"
    if question.drop < -question.min_effect - 1e-9:
        gate.word = "better"
    if question.drop > question.min_effect + 1e-9:
        gate.state, gate.word = "failed", "worse"
        limit = _amount(question.min_effect, question)
        drop = next(said for d in range(4, 18) if (said := _amount(question.drop, question, digits=d)) != limit)
        gate.message += f": {_worse(question)} of {drop}, more than the tolerated {limit}"


def _judge(gate: GateOutcome, question: _Question, policy: RegressionPolicy, alpha: float) -> None:
    gate.bound, gate.word = f"interval at {alpha:g}", "same"
    if all(then == now for then, now in question.pairs.values()):
        gate.message = f"{_told(question)}: no case differs"
        return
    if question.n_clusters < CLUSTERS_FOR_STATISTICS:
        gate.message = f"{_told(question)}: fewer than {CLUSTERS_FOR_STATISTICS} clusters, and the metric varies"
        leave_undecided(gate, policy)
        return
    from ..statistics.intervals import judge_interval

    seen = question.interval(alpha)
    direction: Literal["higher", "lower"] = "lower" if question.info.direction == "lower" else "higher"
    found = judge_interval(seen, direction=direction, min_effect=question.min_effect, margin=question.margin)
    gate.message = f"{_told(question)}: {_between(seen)}; {_reason(found, question)}"
    if found == "fail":
        gate.state, gate.word = "failed", "worse"
    elif found == "inconclusive":
        leave_undecided(gate, policy)
    elif found == "better":
        gate.word = "better"


def _told(question: _Question) -> str:
    change = question.change
    over = cases_words(change.n)
    clusters = "" if question.n_clusters == change.n else f" in {question.n_clusters} clusters"
    return f"{question.name} {change.before:.4f} \u2192 {change.after:.4f} over {over}{clusters}"


def _between(seen: EffectInterval) -> str:
    if seen.value is None or seen.low is None or seen.high is None:
        return "how far apart the two truly are cannot be told"
    share = f"{(1 - 2 * seen.alpha) * 100:.4g} %"
    if seen.effect == "ratio":
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
