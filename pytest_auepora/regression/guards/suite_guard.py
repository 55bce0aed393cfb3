"""The suite guard: did the suite as a whole, or a slice of it, get worse than its baseline?

Its family is the mean of each metric, each slice, and net flips: +1 for a case in which a score rose by more than
``case_max_drop``, -1 for a case in which one fell by as much.  `RegressionPolicy.policy` says how each is judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...base.grouping import grouped
from ...core.metrics_base import Metric
from ...core.run import Run
from ..compare import Comparison, MetricChange, ScoreChange, mean_change
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy, Slice
from ..statistics.precision import TIE, cases_words, count_clusters, planned_mde
from ..statistics.significance import PairedMetric, judge_family
from ..thresholds import Bound, sliced
from .case_guard import feeds_case_guard
from .gates import GateOutcome, apply_outcome, in_slice, label_values, regression_outcome
from .interval_guard import has_own_interval, judge_intervals
from .steadiness import repeats_instead_of_cases

NET_FLIPS = "net flips"
"""Used in place of the name of a metric."""

_MAX_NOTES = 3


class Part(NamedTuple):
    """The changes of one metric, or net flips, by case, over all comparable cases or one slice of them."""

    metric: str
    changes: Mapping[str, ScoreChange]
    clusters: int
    steady: bool
    slice: Mapping[str, str] = MappingProxyType({})

    @property
    def title(self) -> str:
        """``recall@5``, or ``recall@5{scenario=typo}`` as gates write it."""
        return sliced(self.metric, self.slice)

    @property
    def gains(self) -> Mapping[str, float]:
        """The gains by case."""
        return {i: change.gain for i, change in self.changes.items()}

    @property
    def change(self) -> MetricChange:
        """The means before and after; there is at least one change."""
        return mean_change(self.changes)


def judge_comparison(
    run: Run,
    comparison: Comparison,
    policy: RegressionPolicy,
    metrics: Mapping[str, Metric],
    advisory: Collection[str] = (),
) -> list[GateOutcome]:
    """Complete *comparison* and return one outcome per comparable metric, each followed by its slices, net flips last.

    Metrics missing in *metrics* are judged by the values of their cases alone.  The *advisory* metrics are a family of
    their own, so that they do not cost the others power.
    """
    gates = judge_intervals(run, comparison, policy, metrics)
    parts = parts_of(run, comparison, policy)
    if (flips := net_flips(run, comparison, policy, advisory)) is not None:
        parts.append(flips)
    parts = [part for part in parts if not is_too_small(part, policy)]
    methods = [(part, policy.method_for(part.metric, part.clusters, steady=part.steady)) for part in parts]
    out = {p.title: _judge_by_tolerance(run, comparison, p, policy) for p, method in methods if method == "tolerance"}
    tested = grouped((part.metric in advisory, part) for part, method in methods if method == "statistical")
    for family in tested.values():
        out.update(_judge_by_test(run, comparison, policy, family))
    gates += [out[part.title] for part in parts if part.title in out]
    order = {name: i for i, name in enumerate(run.metrics)}
    return sorted(gates, key=lambda gate: order.get(gate.metric, len(order)))


def parts_of(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[Part]:
    """Return the parts of all comparable metrics: the whole metric first, then its slices.

    Metrics with their own interval are left out, and slices that hold all cases or none.
    """
    out: list[Part] = []
    slices = _slices(run, policy.slices)
    cases_of_slices = [(labels, {i for i, case in run.cases.items() if in_slice(case, labels)}) for labels in slices]
    clusters = run.clusters
    for name, info in run.metrics.items():
        changes = comparison.changes_of(name) if info.baselined and not has_own_interval(info) else {}
        if not changes:
            continue
        steady = name in comparison.steady
        out.append(Part(name, changes, count_clusters(changes, clusters), steady))
        for labels, ids in cases_of_slices:
            of_slice = {i: change for i, change in changes.items() if i in ids}
            if 0 < len(of_slice) < len(changes):
                out.append(Part(name, of_slice, count_clusters(of_slice, clusters), steady, labels))
    return out


def _slices(run: Run, declared: Sequence[Slice]) -> list[Mapping[str, str]]:
    """Return the *declared* slices without duplicates; a label alone stands for one slice per value."""
    out: list[Mapping[str, str]] = []
    for entry in declared:
        if isinstance(entry, str):
            values = sorted({value for case in run.cases.values() for value in label_values(case, entry)})
            out += [{entry: value} for value in values]
        else:
            out.append(dict(entry))
    return [labels for i, labels in enumerate(out) if labels not in out[:i]]


def is_too_small(part: Part, policy: RegressionPolicy) -> bool:
    """Whether it is a slice of too few clusters to be judged; an explicit ``tolerance`` judges any number."""
    is_small = bool(part.slice) and part.clusters < CLUSTERS_FOR_STATISTICS
    return is_small and policy.for_metric(part.metric).policy != "tolerance"


def net_flips(
    run: Run, comparison: Comparison, policy: RegressionPolicy, advisory: Collection[str] = ()
) -> Part | None:
    """Return +1, -1 or 0 for each comparable case; None if no case flipped.  It is steady if what flipped is."""
    drops = {
        name: policy.for_metric(name).case_max_drop + TIE
        for name, info in run.metrics.items()
        if name not in advisory and not has_own_interval(info) and feeds_case_guard(name, info, policy)
    }
    flipped: set[str] = set()
    signs: dict[str, float] = {}
    for case_id, case in comparison.cases.items():
        gains = {n: c.gain for n, c in case.changes.items() if n in drops}
        if not gains:
            continue
        large = {n: gain for n, gain in gains.items() if abs(gain) > drops[n]}
        flipped.update(large)
        signs[case_id] = float(any(g > 0 for g in large.values()) - any(g < 0 for g in large.values()))
    if not any(signs.values()):
        return None
    changes = {case_id: ScoreChange(0.0, sign, sign) for case_id, sign in signs.items()}
    return Part(NET_FLIPS, changes, count_clusters(changes, run.clusters), flipped.issubset(comparison.steady))


def slice_notes(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[str]:
    """Return a note on slices that were not judged as they have too few cases."""
    small: dict[str, int] = {}
    for part in parts_of(run, comparison, policy) if policy.slices else ():
        if is_too_small(part, policy):
            name = sliced("", part.slice)[1:-1]
            small[name] = max(small.get(name, 0), part.clusters)
    names = ", ".join(f"{name} ({n})" for name, n in small.items())
    return [f"slices of fewer than {CLUSTERS_FOR_STATISTICS} clusters are not judged: {names}"] if small else []


def too_few_notes(gates: Iterable[GateOutcome]) -> list[str]:
    """Return notes on metrics that passed with too few cases to detect a loss of the margin."""
    passed = (gate for gate in gates if gate.warning and gate.state == "passed" and gate.is_of_whole)
    by_warning = grouped((gate.warning, gate.metric) for gate in passed)
    notes = [f"{', '.join(names)}: {warning}" for warning, names in by_warning.items()]
    more = len(notes) - _MAX_NOTES
    return notes[:_MAX_NOTES] + ([f"the same for {more} other metrics"] if more > 0 else [])


def _new_outcome(run: Run, comparison: Comparison, part: Part) -> GateOutcome:
    """Create the outcome of a part; of a metric over pairs of cases it shows the aggregate."""
    change = part.change
    shown = change if part.slice else comparison.aggregates.get(part.metric, change)
    return regression_outcome(run, part.title, part.metric, shown, n=change.n, dropped=change.dropped)


def _judge_by_tolerance(run: Run, comparison: Comparison, part: Part, policy: RegressionPolicy) -> GateOutcome:
    change, own, out = part.change, policy.for_metric(part.metric), _new_outcome(run, comparison, part)
    out.bound, out.word = f"drop <= {own.min_effect:g}", "better" if change.gain > own.min_effect + 1e-9 else "same"
    if is_worse := -change.gain > own.min_effect + 1e-9:
        out.state, out.word = "failed", "worse"
    if part.metric == NET_FLIPS:
        down, up = (sum(gain * sign > 0 for gain in part.gains.values()) for sign in (-1, 1))
        out.set_message(
            f"{down} of {cases_words(change.n)} fell by more than {own.case_max_drop:g}, {up} rose by as much"
        )
        return out
    message = f"{change.before:.4f} → {change.after:.4f} over {cases_words(change.n)}"
    if is_worse:
        drop, limit = Bound("max", own.min_effect).shown(-change.gain), f"more than the tolerated {own.min_effect:g}"
        message, out.brief = f"{message}: fell by {drop}, {limit}", f"fell by {limit}"
    out.set_message(message, f"{part.title} ")
    return out


def _judge_by_test(
    run: Run, comparison: Comparison, policy: RegressionPolicy, parts: Sequence[Part]
) -> dict[str, GateOutcome]:
    policies = [(part, policy.for_metric(part.metric)) for part in parts]
    family = [PairedMetric(part.title, part.gains, own.min_effect, own.margin) for part, own in policies]
    members = "metrics and slices" if any(part.slice for part in parts) else "metrics"
    verdicts = judge_family(family, run.clusters, alpha=policy.alpha, members=members)
    out: dict[str, GateOutcome] = {}
    for part, verdict in zip(parts, verdicts, strict=True):
        gate = _new_outcome(run, comparison, part)
        gate.bound, gate.p = f"p > {policy.alpha:g}", verdict.p_raw
        gate.n_worse, gate.n_better = verdict.n_worse, verdict.n_better
        gate.mde = verdict.mde if verdict.differs else planned_mde(verdict.estimate.n_clusters)
        outcome, message = verdict.outcome, verdict.reason
        if outcome == "worse":
            gate.finding = verdict.finding
        elif outcome == "same" and (warning := verdict.warning):
            gate.warning = warning
            message += f"; {warning}"
        elif outcome == "inconclusive" and not part.slice:
            message += repeats_instead_of_cases(run, comparison, verdict)
        gate.set_message(message)
        apply_outcome(gate, outcome, policy)
        out[part.title] = gate
    return out
