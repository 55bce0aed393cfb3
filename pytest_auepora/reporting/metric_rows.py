"""Metrics as every report shows them: the rows of the table, and which come first where there is no room for all."""

from __future__ import annotations

from typing import NamedTuple

from ..core.run import MetricInfo, Run
from ..core.scoring import Aggregate
from ..regression.compare import MetricChange
from ..regression.guards.gates import GateOutcome, regression_title
from ..regression.verdict import Verdict
from .numbers import bound_of, denominator, metric_change, metric_value
from .text import Symbols

_RATES = ("error_rate", "pass_rate")


class MetricRow(NamedTuple):
    """One metric, or one gate on a statistic or slice of it.

    ``change`` is over the cases that compare; ``gate`` and ``regression`` are None where nothing was asked.
    ``baseline_word`` stands where there is no number to compare with: ``"new"``, ``"changed"`` or nothing; ``former``
    is then what the baseline has, measured differently.
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
    former: float | None = None

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
        """The mean of the baseline over the cases that compare; in brackets where none does."""
        if self.change is not None:
            return metric_value(self.change.before, self.info)
        return self.baseline_word if self.former is None else f"({metric_value(self.former, self.info)})"

    @property
    def change_text(self) -> str:
        """The signed difference over the cases that compare."""
        if self.change is None:
            return ""
        better = -1 if self.info is not None and self.info.direction == "lower" else 1
        return metric_change(better * self.change.gain, self.info)

    def gate_text(self, marks: Symbols) -> str:
        """``✓ >= 0.8``; with the gate's own value where errors make it differ from the one shown."""
        gate = self.gate
        if gate is None:
            return ""
        bound = f"{gate.bound} s" if self.info is not None and self.info.target == "LATENCY" else gate.bound
        if gate.state in ("passed", "failed", "advisory") and gate.value is not None and gate.value != self.value:
            bound = f"{metric_value(gate.value, self.info, bound_of(gate.bound))} {bound}"
        return f"{state_mark(gate.state, marks)} {bound}{' (advisory)' if gate.state == 'advisory' else ''}"


def state_mark(state: str, marks: Symbols) -> str:
    """Return the mark of a gate's state."""
    return {"passed": marks.good, "failed": marks.bad, "inconclusive": marks.unsure}.get(state, marks.unjudged)


def metric_rows(run: Run, verdict: Verdict) -> list[MetricRow]:
    """Return the rows of a run: its metrics in order, the further gates of each below it, the rates last.

    Left out are metrics nobody can say anything about (`notes` names them), times without a gate
    (`notes` tells them) and an empty_result_rate or error_rate of none.
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
    regression = next((g for g in verdict.gates if g.title == regression_title(name)), None)
    former = comparison.former.get(name) if comparison is not None else None
    return MetricRow(
        name, found.value, found.n, found.total, info, found.n_error, found.n_na, change, word, gate, regression, former
    )


def _has_cases(run: Run, name: str) -> bool:
    """Whether cases have values of their own, which is what baselines hold."""
    return any(s.state == "number" for s in run.scores_of(name))


def _gate_row(gate: GateOutcome, info: MetricInfo | None) -> MetricRow:
    return MetricRow(gate.title, gate.value, gate.n, gate.total, info, gate=gate)


def _is_part(gate: GateOutcome) -> bool:
    """Whether the gate is on the anchor, or on a slice that got worse; others would fill pages."""
    if gate.kind == "anchor":
        return gate.state != "not judged"
    return gate.is_of_slice and "failed" in (gate.state, gate.would_be)


def _part_row(gate: GateOutcome, info: MetricInfo | None) -> MetricRow:
    """Return the row of a comparison that is not the metric's own: of a slice, or with the anchor."""
    change = None
    if gate.before is not None and gate.value is not None:
        gain = gate.value - gate.before if info is None else info.gain(gate.before, gate.value)
        change = MetricChange(gate.n, gate.before, gate.value, gain)
    return MetricRow(gate.part, gate.value, gate.n, gate.n, info, change=change, regression=gate)


def chosen_metrics(run: Run, verdict: Verdict, most: int, *, times: bool = False) -> list[str]:
    """Return at most *most* metrics with values of single cases, in the order of the run.

    Those with a failed gate go before those with another gate, and these before the rest; times come last, and only
    where *times* are wanted or a gate is on them.
    """
    names = [n for n, info in run.metrics.items() if has_values(run, n) and _wanted(info, verdict, times)]
    kept = set(sorted(names, key=lambda n: rank_of(n, run, verdict))[:most])
    return [n for n in names if n in kept]


def has_values(run: Run, name: str) -> bool:
    """Whether any case has a number of metric *name*."""
    return any((s := c.scores.get(name)) is not None and s.value is not None for c in run.cases.values())


def _wanted(info: MetricInfo, verdict: Verdict, times: bool) -> bool:
    if info.name == "empty_result_rate":
        return False
    if times or info.target != "LATENCY":
        return True
    return any(g.metric == info.name and g.state == "failed" for g in verdict.gates)


def rank_of(name: str, run: Run, verdict: Verdict) -> tuple[int, float]:
    """Return what metrics are ordered by, the most important first."""
    asked = [g for g in verdict.gates if g.metric == name and (g.kind == "threshold" or g.state != "passed")]
    change = verdict.comparison.metric(name) if verdict.comparison is not None else None
    failed = sum(g.state == "failed" for g in asked)
    time = run.metrics[name].target == "LATENCY"
    return -failed if failed else 3 if time else 1 if asked else 2, change.gain if change else 0.0
