"""The metrics table of every report: its rows, and which metrics come first where there is no room for all."""

from __future__ import annotations

from typing import NamedTuple

from ...core.run import MetricInfo, Run
from ...core.scoring import Aggregate
from ...metrics.catalogue import ALWAYS
from ...regression.compare import MetricChange
from ...regression.outcomes import GateOutcome
from ...regression.verdict import Verdict
from ..numbers import metric_gain, metric_value, sign
from ..text import BAD, GOOD, UNJUDGED, UNSURE
from .gates import bound_text, gate_title, part_text


class MetricRow(NamedTuple):
    """One metric, or one gate on a statistic of it.

    ``change`` is over the cases that compare; ``mark`` is the state of the comparison if ``failed`` or
    ``inconclusive``.  ``baseline_word`` is shown where no number compares: ``"new"``, ``"changed"`` or nothing;
    ``former`` is then the value of the baseline, measured differently.
    """

    name: str
    value: float | None
    n: int
    total: int
    info: MetricInfo | None = None
    n_error: int = 0
    change: MetricChange | None = None
    baseline_word: str = ""
    gate: GateOutcome | None = None
    mark: str = ""
    former: float | None = None

    @property
    def value_text(self) -> str:
        """The value; where a gate is on it, with enough digits to see why it failed."""
        gate = self.gate
        bound = gate.bound if gate is not None and gate.value == self.value else None
        return metric_value(self.value, self.info, bound)

    @property
    def n_text(self) -> str:
        """The denominator: ``41/44``."""
        return f"{self.n}/{self.total}"

    @property
    def baseline_text(self) -> str:
        """The mean of the baseline over the cases that compare; in brackets where none does."""
        if self.change is not None:
            return metric_value(self.change.before, self.info)
        return self.baseline_word if self.former is None else f"({metric_value(self.former, self.info)})"

    @property
    def change_text(self) -> str:
        """The signed difference over the cases that compare."""
        return "" if self.change is None else metric_gain(self.change.gain, self.info)

    @property
    def sign(self) -> int:
        """1 for a gain, -1 for a loss."""
        return sign(self.change.gain) if self.change is not None else 0

    @property
    def gate_state(self) -> str:
        """The state of the gate; empty without one."""
        return self.gate.state if self.gate is not None else ""

    @property
    def bound_text(self) -> str:
        """``>= 0.8``; with the gate's own value where errors make it differ from the one shown."""
        gate = self.gate
        if gate is None:
            return ""
        bound = f"{bound_text(gate)}{' s' if self.info is not None and self.info.target == 'LATENCY' else ''}"
        if gate.state in ("passed", "failed", "advisory") and gate.value is not None and gate.value != self.value:
            bound = f"{metric_value(gate.value, self.info, gate.bound)} {bound}"
        return f"{bound}{' (advisory)' if gate.state == 'advisory' else ''}"

    @property
    def gate_text(self) -> str:
        """The same with the symbol of its state: ``✓ >= 0.8``."""
        return f"{state_symbol(self.gate_state)} {self.bound_text}" if self.gate is not None else ""


def state_symbol(state: str) -> str:
    """Return the symbol of a gate's state."""
    return {"passed": GOOD, "failed": BAD, "inconclusive": UNSURE}.get(state, UNJUDGED)


def metric_rows(run: Run, verdict: Verdict) -> list[MetricRow]:
    """Return the rows of a run: its metrics in order, the further gates of each below it, the rates last.

    Left out are metrics without any value, those that the golden file does not list, times without a gate
    (`wording.metrics` has them), an error_rate of 0, and slices, which are many.
    """
    gates = [g for g in verdict.gates if g.kind == "threshold"]
    rows: list[MetricRow] = []
    for name, aggregate in verdict.aggregates.items():
        info = run.metrics.get(name)
        main_gate = next((g for g in gates if g.metric == g.part == name), None)
        row = _row(run, verdict, aggregate, main_gate)
        if main_gate is not None or _worth_showing(row):
            rows.append(row)
        rows += [_gate_row(g, info) for g in gates if g.metric == name and g is not main_gate]
        anchors = (g for g in verdict.gates if g.metric == name and g.kind == "anchor" and g.state != "not judged")
        rows += [_anchor_row(g, info) for g in anchors]
    rates = [
        g for g in gates if g.metric == "pass_rate" or (g.metric == "error_rate" and (g.line or g.state == "failed"))
    ]
    return rows + [_gate_row(gate, None) for gate in rates]


def _worth_showing(row: MetricRow) -> bool:
    info = row.info
    is_listed = info is None or info.baselined or (info.target == "OPERATIONAL" and info.name not in ALWAYS)
    if not is_listed or (info is not None and info.target == "LATENCY"):
        return row.mark == "failed"
    return row.n > 0 or row.n_error == row.total > 0 or (row.n_error > 0 and row.change is not None)


def _row(run: Run, verdict: Verdict, aggregate: Aggregate, gate: GateOutcome | None) -> MetricRow:
    name, info = aggregate.name, run.metrics.get(aggregate.name)
    row = MetricRow(name, aggregate.value, aggregate.n, aggregate.total, info, aggregate.n_error, gate=gate)
    row = row._replace(mark=next((_mark(g) for g in verdict.gates if g.metric == name and g.is_of_whole), ""))
    if (comparison := verdict.comparison) is None:
        return row
    change, word = comparison.metric(name), ""
    if change is None and info is not None and info.baselined:
        has_cases = any(s.state == "number" for s in run.scores_of(name))  # baselines hold only these
        word = "changed" if name in comparison.incomparable else "new" if has_cases else ""
    return row._replace(change=change, baseline_word=word, former=comparison.former.get(name))


def _mark(gate: GateOutcome) -> str:
    """Return the state to mark a change with; what rose and may be chance is no problem, and gets no mark."""
    if gate.state == "inconclusive" and gate.test is not None and gate.test.drop <= 0:
        return ""
    return gate.state if gate.state in ("failed", "inconclusive") else ""


def _gate_row(gate: GateOutcome, info: MetricInfo | None) -> MetricRow:
    return MetricRow(part_text(gate), gate.value, gate.n, gate.total, info, gate=gate)


def _anchor_row(gate: GateOutcome, info: MetricInfo | None) -> MetricRow:
    change = None
    if gate.before is not None and gate.value is not None:
        gain = gate.value - gate.before if info is None else info.gain(gate.before, gate.value)
        change = MetricChange(gate.n, gate.before, gate.value, gain)
    return MetricRow(gate_title(gate), gate.value, gate.n, gate.n, info, change=change, mark=_mark(gate))


def chosen_metrics(run: Run, verdict: Verdict, most: int, *, times: bool = False) -> list[str]:
    """Return at most *most* metrics that have values per case, in the order of the run.

    Metrics with a failed gate are preferred, then those with another gate; times come last, and only with *times* or
    where their gate failed.
    """
    failed = {gate.metric for gate in verdict.gates if gate.state == "failed"}
    names = [
        n
        for n, info in run.metrics.items()
        if n != "empty_result_rate" and (times or info.target != "LATENCY" or n in failed) and has_values(run, n)
    ]
    chosen = sorted(names, key=lambda n: rank_of(n, run, verdict))[:most]
    return [n for n in names if n in chosen]


def has_values(run: Run, name: str) -> bool:
    """Whether any case has a number of metric *name*."""
    return any(score.value is not None for score in run.scores_of(name))


def rank_of(name: str, run: Run, verdict: Verdict) -> tuple[int, float]:
    """Return the sort key of a metric, the most important first."""
    gates = [g for g in verdict.gates if g.metric == name and (g.kind == "threshold" or g.state != "passed")]
    change = verdict.comparison.metric(name) if verdict.comparison is not None else None
    failed = sum(g.state == "failed" for g in gates)
    is_time = run.metrics[name].target == "LATENCY"
    return -failed if failed else 3 if is_time else 1 if gates else 2, change.gain if change else 0.0
