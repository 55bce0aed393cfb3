"""The rows of the metrics table, as every report shows them: value, denominator, baseline, change, gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..core.run import MetricInfo, Run
from ..core.scoring import Aggregate
from ..regression.compare.cases import Comparison, MetricChange
from ..regression.guards.gates import GateOutcome
from ..regression.verdict import Verdict
from .numbers import bound_of, denominator, metric_change, metric_value, number, plural
from .symbols import Marks

__all__ = ["MetricRow", "latency_line", "metric_rows", "missing_notes", "state_mark"]

_RATES = ("error_rate", "pass_rate")


class MetricRow(NamedTuple):
    """One metric, or one gate on a statistic or slice of it.

    ``change`` is over the cases that compare; ``gate`` and ``regression`` are None where nothing was asked.
    ``baseline_word`` stands where there is no number to compare with: ``"new"``, ``"changed"`` or nothing.
    """

    name: str
    value: float | None
    n: int
    total: int
    info: MetricInfo | None = None
    n_error: int = 0
    n_na: int = 0
    change: MetricChange | None = None
    baseline_word: str = ""
    gate: GateOutcome | None = None
    regression: GateOutcome | None = None

    @property
    def value_text(self) -> str:
        """The value; where a gate is on this very value, with as many digits as it takes to see why it failed."""
        gate = self.gate
        bound = bound_of(gate.bound) if gate is not None and gate.value == self.value else None
        return metric_value(self.value, self.info, bound)

    @property
    def n_text(self) -> str:
        """The denominator: ``41/44``."""
        return denominator(self.n, self.total)

    @property
    def baseline_text(self) -> str:
        """The mean of the baseline over the cases that compare."""
        return self.baseline_word if self.change is None else metric_value(self.change.before, self.info)

    @property
    def change_text(self) -> str:
        """The signed difference over the cases that compare."""
        if self.change is None:
            return ""
        better = -1 if self.info is not None and self.info.direction == "lower" else 1
        return metric_change(better * self.change.gain, self.info)

    def gate_text(self, marks: Marks) -> str:
        """``✓ >= 0.8``; with the gate's own value where errors make it differ from the one shown."""
        gate = self.gate
        if gate is None:
            return ""
        bound = f"{gate.bound} s" if self.info is not None and self.info.target == "LATENCY" else gate.bound
        if gate.state in ("passed", "failed", "advisory") and gate.value is not None and gate.value != self.value:
            bound = f"{metric_value(gate.value, self.info, bound_of(gate.bound))} {bound}"
        return f"{state_mark(gate.state, marks)} {bound}{' (advisory)' if gate.state == 'advisory' else ''}"


def state_mark(state: str, marks: Marks) -> str:
    """Return the mark of a gate's state."""
    return {"passed": marks.good, "failed": marks.bad, "inconclusive": marks.unsure}.get(state, marks.unjudged)


def metric_rows(run: Run, verdict: Verdict) -> list[MetricRow]:
    """Return the rows of a run: its metrics in order, the further gates of each below it, the rates last.

    Left out are metrics nobody can say anything about (`missing_notes` names them), times without a gate
    (`latency_line`) and an empty_result_rate or error_rate of none.
    """
    gates = [g for g in verdict.gates if g.kind == "threshold"]
    rows: list[MetricRow] = []
    for name, found in verdict.aggregates.items():
        own = [g for g in gates if g.metric == name]
        first = next((g for g in own if g.title == name), None)
        others = [g for g in own if g is not first]
        row = _row(run, verdict, found, first)
        if first is not None or _worth_showing(row):
            rows.append(row)
        rows += [_gate_row(g, run.metrics.get(name)) for g in others]
        rows += [_part_row(g, run.metrics.get(name)) for g in verdict.gates if g.metric == name and _is_part(g)]
    for gate in gates:
        if gate.metric == "pass_rate" or (gate.metric == "error_rate" and (gate.line or gate.state == "failed")):
            rows.append(_gate_row(gate, None))
    return rows


def _worth_showing(row: MetricRow) -> bool:
    if row.info is not None and row.info.target == "LATENCY":
        return False
    if row.name == "empty_result_rate" and not row.value and not row.n_error:
        return row.change is not None and bool(row.change.gain)
    return row.n > 0 or row.n_error == row.total > 0 or (row.n_error > 0 and row.change is not None)


def _row(run: Run, verdict: Verdict, found: Aggregate, gate: GateOutcome | None) -> MetricRow:
    name, comparison = found.name, verdict.comparison
    change = comparison.metric(name) if comparison is not None else None
    info = run.metrics.get(name)
    word = ""
    if comparison is not None and change is None and info is not None and info.baselined:
        word = "changed" if name in comparison.incomparable else "new" if _has_cases(run, name) else ""
    regression = next((g for g in verdict.gates if g.title == f"regression: {name}"), None)
    return MetricRow(
        name, found.value, found.n, found.total, info, found.n_error, found.n_na, change, word, gate, regression
    )


def _has_cases(run: Run, name: str) -> bool:
    """Whether cases have values of their own, which is what baselines hold."""
    return any(s.state == "number" for s in run.scores_of(name))


def _gate_row(gate: GateOutcome, info: MetricInfo | None) -> MetricRow:
    return MetricRow(gate.title, gate.value, gate.n, gate.total, info, gate=gate)


def _is_part(gate: GateOutcome) -> bool:
    """Whether the gate is on the anchor, or on a slice of which there is something to say; others would fill pages."""
    if gate.kind == "anchor":
        return gate.state != "not judged"
    of_slice = gate.kind == "regression" and gate.title != f"regression: {gate.metric}"
    return of_slice and gate.state not in ("passed", "not judged")


def _part_row(gate: GateOutcome, info: MetricInfo | None) -> MetricRow:
    """Return the row of a comparison that is not the metric's own: of a slice, or with the anchor."""
    change = None
    if gate.before is not None and gate.value is not None:
        gain = gate.value - gate.before if info is None or info.direction == "higher" else gate.before - gate.value
        change = MetricChange(gate.n, gate.before, gate.value, gain)
    name = gate.title.removeprefix("regression: ")
    return MetricRow(name, gate.value, gate.n, gate.n, info, change=change, regression=gate)


def missing_notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> Iterator[str]:
    """Say what the denominators of *rows* lack: errors, n/a and why, changes over fewer cases than the value."""
    n_error = max((row.n_error for row in rows), default=0)
    if n_error and any(row.n for row in rows):
        yield f"{plural(n_error, 'case')} errored: left out of the values, the worst value in gates and changes"
    gaps: dict[tuple[str, str], list[str]] = {}
    for name, found in verdict.aggregates.items():
        if found.n_na:
            many = str(found.n_na) if found.n or found.n_error else "all"
            gaps.setdefault((many, "; ".join(_reasons(run, name))), []).append(name)
    said = [f"{n} in {', '.join(names)}{f' ({why})' if why else ''}" for (n, why), names in gaps.items()]
    if said:
        yield f"n/a: {'; '.join(said)}"
    for row in rows:
        aggregate = verdict.aggregates.get(row.name)
        if aggregate is not None and aggregate.details.get("reliable") is False:
            yield f"{row.name}: unreliable below {aggregate.details.get('needs')} values, got {aggregate.n}"
    yield from _labelled(verdict)
    if verdict.comparison is not None:
        yield from _comparison_notes(verdict.comparison, rows)
        yield from _found_from(verdict)
    by: dict[str, list[str]] = {}
    for name, info in run.metrics.items():
        if info.owner and info.owner != run.owner:
            by.setdefault(info.owner, []).append(name)
    if by:
        yield f"owners: {'; '.join(f'{owner} of {_and(names)}' for owner, names in by.items())}"


def _comparison_notes(comparison: Comparison, rows: Sequence[MetricRow]) -> Iterator[str]:
    fewer: dict[int, list[str]] = {}
    for row in rows:
        if row.change is not None and row.change.n != row.n + row.n_error:
            fewer.setdefault(row.change.n, []).append(row.name)
    if fewer:
        said = "; ".join(f"{n} in {', '.join(names)}" for n, names in fewer.items())
        yield f"changes are over the cases that compare: {said}"
    reasons: dict[str, list[str]] = {}
    for name, reason in comparison.incomparable.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"not comparable: {', '.join(names)} ({reason})"


def _labelled(verdict: Verdict) -> Iterator[str]:
    """Say how much of what was returned somebody labelled, where a score over labels takes the rest for irrelevant."""
    said: dict[str, list[str]] = {}
    for name, found in verdict.aggregates.items():
        for key, share in found.details.items():
            if key.startswith("judged@") and share < 1:
                said.setdefault(f"{key} {number(share)}", []).append(name)
    if said:
        told = (f"{share} beside {', '.join(names)}" for share, names in said.items())
        yield f"labelled: {'; '.join(told)}"


def _found_from(verdict: Verdict) -> Iterator[str]:
    """Say how small a loss these cases would show, of the metrics that were tested as a whole."""
    found: dict[str, list[str]] = {}
    for gate in verdict.gates:
        if gate.mde is not None and gate.state != "not judged" and gate.is_of_whole:
            found.setdefault(number(gate.mde), []).append(gate.metric)
    if found:
        every = len(found) == 1
        said = "; ".join(size if every else f"{size} in {', '.join(names)}" for size, names in found.items())
        yield f"smallest loss that 4 of 5 such runs would show: {said}"


def _reasons(run: Run, name: str) -> list[str]:
    seen = {s.reason for s in run.scores_of(name) if s.state == "n/a" and s.reason}
    return sorted(seen)[:2]


def latency_line(run: Run, verdict: Verdict) -> str:
    """Return the times that have no row of their own: ``latency: mean 12 ms, p50 10 ms, p95 35 ms over 44``."""
    gated = {g.metric for g in verdict.gates if g.kind == "threshold"}
    said: list[str] = []
    n = 0
    for name, found in verdict.aggregates.items():
        info = run.metrics.get(name)
        if info is None or info.target != "LATENCY" or name in gated or found.value is None:
            continue
        text = f"{name.replace('_latency', '')} {metric_value(found.value, info)}"
        if found.details.get("reliable") is False:
            text += f" (unreliable below {found.details.get('needs')})"
        said.append(text)
        n = found.n
    return f"latency: {', '.join(said)} over {plural(n, 'case')}" if said else ""


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
