"""The suite guard: did the golden set as a whole, or a slice of it, get worse than its baseline?

Its family is the mean of each metric, each slice, and net flips: +1 for a case in which a score rose by more than
``case_max_drop``, -1 for one in which one fell by as much.  ``statistical`` asks `significance` whether a drop is more
than chance; ``tolerance`` fails a mean paired drop above ``min_effect``, which ``auto`` does for steady metrics of
fewer than ten clusters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...core.metrics_base import Metric
from ...core.run import Run
from ..compare import Comparison, MetricChange, ScoreChange, mean_change
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy, Slice
from ..statistics.precision import TIE, count_clusters, planned_mde
from ..statistics.significance import PairedMetric, judge_family
from ..thresholds import Bound, sliced
from .case_guard import feeds_case_guard
from .gates import GateOutcome, cases_words, decide, in_slice, label_values, regression_outcome
from .interval_guard import has_own_interval, judge_intervals
from .steadiness import instead_of_cases

NET_FLIPS = "net flips"
"""Stands where others have the name of a metric."""

_MOST_NOTES = 3


class Part(NamedTuple):
    """The changes of one metric, by case, over everything that compares or over one slice of it."""

    metric: str
    changes: Mapping[str, ScoreChange]
    clusters: int
    slice: Mapping[str, str] = MappingProxyType({})

    @property
    def title(self) -> str:
        """``recall@5``, or ``recall@5{scenario=typo}`` as gates write it."""
        return sliced(self.metric, self.slice)

    @property
    def gains(self) -> Mapping[str, float]:
        """The gains alone."""
        return {i: change.gain for i, change in self.changes.items()}

    @property
    def change(self) -> MetricChange:
        """Means before and after; there is at least one change."""
        return mean_change(self.changes)


def judge_comparison(
    run: Run,
    comparison: Comparison,
    policy: RegressionPolicy,
    metrics: Mapping[str, Metric],
    advisory: Collection[str] = (),
) -> list[GateOutcome]:
    """Complete *comparison* and return the outcomes of all its metrics, in the order of the run's, net flips last.

    Metrics that *metrics* does not have the object of are judged by the values of their cases alone.
    """
    apart = judge_intervals(run, comparison, policy, metrics)
    order = {name: i for i, name in enumerate(run.metrics)}
    gates = apart + judge_regression(run, comparison, policy, advisory)
    return sorted(gates, key=lambda gate: order.get(gate.metric, len(order)))


def judge_regression(
    run: Run, comparison: Comparison, policy: RegressionPolicy, advisory: Collection[str] = ()
) -> list[GateOutcome]:
    """Return one outcome per baselined metric that compares, in the order of the run's metrics, its slices behind it.

    The *advisory* metrics are a family of their own: what cannot fail the run must not cost the others power.
    """
    parts = parts_of(run, comparison, policy)
    steady = set(comparison.steady)
    if (flips := net_flips(run, comparison, policy, advisory)) is not None:
        parts.append(flips.part)
        steady |= {NET_FLIPS} if flips.metrics <= steady else set()
    out: dict[str, GateOutcome] = {}
    families: dict[bool, list[Part]] = {False: [], True: []}
    for part in parts:
        how = policy.method_for(part.metric, part.clusters, steady=part.metric in steady)
        if part.slice and is_too_small(part, policy):
            continue
        if how == "tolerance":
            out[part.title] = _tolerance(run, comparison, part, policy)
        elif how == "statistical":
            families[part.metric in advisory].append(part)
    for family in filter(None, families.values()):
        out.update(_statistical(run, comparison, policy, family))
    return [out[part.title] for part in parts if part.title in out]


def parts_of(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[Part]:
    """Return every part of every baselined metric that compares: the whole first, then its slices.

    Metrics that stand apart are left out, as is a slice that holds all cases, or none, and says nothing of its own.
    """
    out: list[Part] = []
    slices = _slices(run, policy.slices)
    inside = [(part, {i for i, case in run.cases.items() if in_slice(case, part)}) for part in slices]
    clusters = run.clusters
    for name, info in run.metrics.items():
        changes = comparison.changes_of(name) if info.baselined and not has_own_interval(info) else {}
        if not changes:
            continue
        out.append(Part(name, changes, count_clusters(changes, clusters)))
        for part, ids in inside:
            own = {i: change for i, change in changes.items() if i in ids}
            if 0 < len(own) < len(changes):
                out.append(Part(name, own, count_clusters(own, clusters), part))
    return out


def _slices(run: Run, wanted: Sequence[Slice]) -> list[Mapping[str, str]]:
    """Return each slice once: a label by itself stands for one slice for each of its values."""
    out: list[Mapping[str, str]] = []
    for one in wanted:
        if isinstance(one, str):
            values = sorted({value for case in run.cases.values() for value in label_values(case, one)})
            out += [{one: value} for value in values]
        else:
            out.append(dict(one))
    return [part for i, part in enumerate(out) if part not in out[:i]]


def is_too_small(part: Part, policy: RegressionPolicy) -> bool:
    """Whether the slice has too few clusters to be judged; a tolerance that was asked for holds for any number."""
    return part.clusters < CLUSTERS_FOR_STATISTICS and policy.for_metric(part.metric).policy != "tolerance"


class NetFlips(NamedTuple):
    """What rose and fell in single cases, as a member of the family, and the metrics that did so."""

    part: Part
    metrics: frozenset[str]


def net_flips(
    run: Run, comparison: Comparison, policy: RegressionPolicy, advisory: Collection[str] = ()
) -> NetFlips | None:
    """Return +1, -1 or 0 for each case that compares; None where no case flipped."""
    drops = {
        name: policy.for_metric(name).case_max_drop + TIE
        for name, info in run.metrics.items()
        if name not in advisory and not has_own_interval(info) and feeds_case_guard(name, info, policy)
    }
    flipped: set[str] = set()
    signs: dict[str, float] = {}
    for case_id, case in comparison.cases.items():
        moved = {n: c.gain for n, c in case.changes.items() if n in drops}
        if not moved:
            continue
        far = {n: gain for n, gain in moved.items() if abs(gain) > drops[n]}
        flipped.update(far)
        signs[case_id] = float(any(g > 0 for g in far.values()) - any(g < 0 for g in far.values()))
    if not any(signs.values()):
        return None
    changes = {case_id: ScoreChange(0.0, sign, sign) for case_id, sign in signs.items()}
    return NetFlips(Part(NET_FLIPS, changes, count_clusters(changes, run.clusters)), frozenset(flipped))


def slice_notes(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[str]:
    """Say which slices were not judged for want of cases."""
    small: dict[str, int] = {}
    for part in parts_of(run, comparison, policy) if policy.slices else ():
        if part.slice and is_too_small(part, policy):
            name = sliced("", part.slice)[1:-1]
            small[name] = max(small.get(name, 0), part.clusters)
    if not small:
        return []
    told = ", ".join(f"{name} ({n})" for name, n in small.items())
    return [f"slices of fewer than {CLUSTERS_FOR_STATISTICS} clusters are not judged: {told}"]


def too_few_notes(gates: Iterable[GateOutcome]) -> list[str]:
    """Return a note for metrics that did not get worse, though a loss of the margin would hardly have been seen."""
    by: dict[str, list[str]] = {}
    for gate in gates:
        if gate.warning and gate.state == "passed" and gate.is_of_whole:
            by.setdefault(gate.warning, []).append(gate.metric)
    told = [f"{', '.join(names)}: {warning}" for warning, names in by.items()]
    more = len(told) - _MOST_NOTES
    return told[:_MOST_NOTES] + ([f"so it is with {more} other metrics"] if more > 0 else [])


def _outcome(run: Run, comparison: Comparison, part: Part) -> GateOutcome:
    """Begin an outcome; of a metric that is tested by pairs it shows the aggregate."""
    change = part.change
    shown = change if part.slice else comparison.aggregates.get(part.metric, change)
    return regression_outcome(run, part.title, part.metric, shown, n=change.n, dropped=change.dropped)


def _tolerance(run: Run, comparison: Comparison, part: Part, policy: RegressionPolicy) -> GateOutcome:
    change = part.change
    own = policy.for_metric(part.metric)
    out = _outcome(run, comparison, part)
    out.bound, out.word = f"drop <= {own.min_effect:g}", "better" if change.gain > own.min_effect + 1e-9 else "same"
    is_worse = -change.gain > own.min_effect + 1e-9
    if is_worse:
        out.state, out.word = "failed", "worse"
    if part.metric == NET_FLIPS:
        down, up = (sum(gain * sign > 0 for gain in part.gains.values()) for sign in (-1, 1))
        out.tell(f"{down} of {cases_words(change.n)} fell by more than {own.case_max_drop:g}, {up} rose so")
        return out
    told = f"{change.before:.4f} → {change.after:.4f} over {cases_words(change.n)}"
    if is_worse:
        fell, limit = Bound("max", own.min_effect).shown(-change.gain), f"more than the tolerated {own.min_effect:g}"
        told, out.brief = f"{told}: fell by {fell}, {limit}", f"fell by {limit}"
    out.tell(told, f"{part.title} ")
    return out


def _statistical(
    run: Run, comparison: Comparison, policy: RegressionPolicy, parts: Sequence[Part]
) -> dict[str, GateOutcome]:
    family = []
    for part in parts:
        own = policy.for_metric(part.metric)
        family.append(PairedMetric(part.title, part.gains, own.min_effect, own.margin))
    members = "metrics and slices" if any(part.slice for part in parts) else "metrics"
    verdicts = judge_family(family, run.clusters, alpha=policy.alpha, members=members)
    out: dict[str, GateOutcome] = {}
    for part, found in zip(parts, verdicts, strict=True):
        gate = _outcome(run, comparison, part)
        gate.bound, gate.p = f"p > {policy.alpha:g}", found.p_raw
        gate.n_worse, gate.n_better = found.n_worse, found.n_better
        outcome = found.outcome
        gate.warning = found.warning if outcome in ("pass", "same") else ""
        gate.mde = planned_mde(found.estimate.n_clusters) if outcome == "same" else found.mde
        told = found.reason
        if outcome == "inconclusive" and not part.slice:
            told += instead_of_cases(run, comparison, found)
        gate.tell(f"{told}; {gate.warning}" if gate.warning else told)
        gate.finding = found.finding if outcome == "fail" else ""
        decide(gate, outcome, policy)
        out[part.title] = gate
    return out
