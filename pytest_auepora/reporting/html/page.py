"""What the templates show of each suite, worked out and in words; nothing here is markup but the pictures."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.run import Run
from ...regression.guards.gates import GateOutcome
from ...regression.verdict import Outcome, Verdict
from ..diagnosis import alike, diagnose
from ..findings import titled
from ..metric_rows import MetricRow, metric_rows
from ..notes import (
    gate_groups,
    gate_reason,
    judge_lines,
    latency_line,
    missing_notes,
    next_steps,
    noise_lines,
    provenance_changes,
    repeats_line,
    warnings,
)
from ..numbers import number, plural
from ..plots import MOST_PLOTS, MetricPlots, metric_plots, trend_plot
from ..tally import FAILING, Kind, cases_of, comparison_word, headline
from ..text import UNICODE, listed
from ..trend import EarlierRun, Trend
from .cases import shown, suite_data

OUTCOMES: dict[Outcome, tuple[str, str]] = {
    "passed": ("Passed", UNICODE.good),
    "failed": ("Failed", UNICODE.bad),
    "inconclusive": ("Inconclusive", UNICODE.unsure),
    "not judged": ("Not judged", UNICODE.unjudged),
}
"""Outcome → its word, and its mark."""

_FIGURES = ("hit@1", "hit@5", "mrr@10", "recall@5_doc", "assertion_pass", "refusal_correctness", "citation_coverage")
"""Those shown first where the suite has no metric of its own with a past; the others where there is room."""

_MOST_FIGURES = 6
MOST_CASES = 6
_OF_METRICS = ("threshold", "regression")
_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_BREAKS = re.compile(r"(?<=[_,=])|(?=[{@])")


@dataclass(frozen=True, slots=True)
class Part:
    """How many of the failing cases are the fault of one part of the system."""

    name: str
    n: int
    share: float


@dataclass(frozen=True, slots=True)
class BadCase:
    """A case to look at first: its place in the run, what became of it, and the diagnosis."""

    index: int
    case_id: str
    kind: Kind
    why: str


@dataclass(slots=True)
class Broken:
    """The short answer.  ``gates`` are the messages of failed gates that are about no metric."""

    summary: str = ""
    parts: list[Part] = field(default_factory=list)
    gates: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    cases: list[BadCase] = field(default_factory=list)
    n_cases: int = 0
    n_gates: int = 0

    def __bool__(self) -> bool:
        return bool(self.n_cases or self.n_gates)


@dataclass(frozen=True, slots=True)
class MetricLine:
    """A row of the metrics table as text; ``gate`` and ``regression`` are states for the marks beside them.

    ``name`` is in pieces, between which a line may break.
    """

    name: list[str]
    value: str
    n: str
    baseline: str
    change: str
    gain: int
    gate_text: str
    gate: str
    regression: str
    lower_is_better: bool


@dataclass(frozen=True, slots=True)
class Messages:
    """Gates of one state, each in a sentence, under a heading that unfolds them; those that failed stand ``open``."""

    title: str
    open: bool
    state: str
    told: list[str]


@dataclass(frozen=True, slots=True)
class TrendView:
    """One figure over the runs: picture, latest value, and all values in words."""

    name: str
    svg: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class SuiteView:
    """Everything shown of one suite."""

    index: int
    title: str
    beside: str
    outcome: str
    word: str
    mark: str
    headline: str
    n_cases: int
    broken: Broken
    metrics: list[MetricLine]
    compared: bool
    notes: list[str]
    messages: list[Messages]
    plots: list[MetricPlots]
    trend: list[TrendView]
    n_runs: int
    data: str


def suite_views(runs: Sequence[Run], verdicts: Sequence[Verdict], trends: Mapping[str, Trend]) -> list[SuiteView]:
    """Return what there is to show of every run.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    pairs = enumerate(zip(runs, verdicts, strict=True))
    most = max(2, min(MOST_PLOTS, 2 * MOST_PLOTS // max(1, len(runs))))  # pictures take time to draw
    return [_view(i, run, verdict, trends.get(run.title, Trend()), most) for i, (run, verdict) in pairs]


def _view(index: int, run: Run, verdict: Verdict, past: Trend, most_plots: int) -> SuiteView:
    rows = metric_rows(run, verdict)
    word, mark = OUTCOMES[verdict.outcome]
    beside = [run.path, f"owner {run.owner}" if run.owner else "", plural(len(run.cases), "case")]
    trend = list(_trend(run, verdict, past.runs, f"s{index}t"))
    return SuiteView(
        index=index,
        title=run.title,
        beside=" \u00b7 ".join(filter(None, beside)),
        outcome=verdict.outcome,
        word=", ".join(filter(None, [word, comparison_word(verdict)])),
        mark=mark,
        headline=headline([verdict], [run]),
        n_cases=len(run.cases),
        broken=what_broke(run, verdict),
        metrics=[_line(row) for row in rows if row.regression is None or not row.regression.is_of_slice],
        compared=any(row.baseline_text or row.change_text for row in rows),
        notes=list(_notes(run, verdict, rows)),
        messages=[
            Messages(one.title, one.open, one.state, [_message(gate, run.owner) for gate in one.gates])
            for one in gate_groups(verdict)
        ],
        plots=metric_plots(run, verdict, f"s{index}", most_plots),
        trend=trend,
        n_runs=len(past.runs) + run.is_full,
        data=embedded_json(suite_data(run, verdict, past.previous)),
    )


def what_broke(run: Run, verdict: Verdict) -> Broken:
    """Return what is wrong with *run*; false where nothing is."""
    out = Broken()
    compared = verdict.comparison.cases if verdict.comparison is not None else {}
    places = {case_id: i for i, case_id in enumerate(run.cases)}
    parts, told = Counter[str](), set[str]()
    for kind, cases in cases_of(run, verdict).items():
        if kind not in FAILING:
            continue
        for case in sorted(cases, key=lambda c: compared[c.case_id].worst if c.case_id in compared else 0.0):
            if case.state == "passed":  # an assertion that failed in the accepted baseline as well: listed, not red
                continue
            why = diagnose(case, compared.get(case.case_id), run.metrics)
            parts[why.component if why else "system"] += 1
            key = alike(str(why), case) or case.case_id
            if len(out.cases) < MOST_CASES and key not in told:
                told.add(key)
                out.cases.append(BadCase(places[case.case_id], case.case_id, kind, str(why or case.state)))
    out.n_cases = parts.total()
    out.parts = [Part(name, n, n / out.n_cases) for name, n in parts.most_common()]
    failed = [g for g in verdict.gates if g.state == "failed"]
    out.n_gates, out.gates = len(failed), [g.message for g in failed if g.kind not in _OF_METRICS]
    out.changed, out.steps = provenance_changes(verdict), next_steps(verdict, html="")
    out.summary = _summary(out)
    return out


def _summary(broken: Broken) -> str:
    if not broken.parts:
        return "No case failed by itself; the suite as a whole did." if broken else ""
    first, *others = broken.parts
    if not others:
        return f"{_all(broken.n_cases)} to {_named(first.name)}."
    if first.share >= 0.5:
        return f"Mostly {_named(first.name)}: {first.n} of {plural(broken.n_cases, 'failing case')}."
    return f"No single part: {', '.join(f'{p.name} {p.n}' for p in broken.parts)} of {broken.n_cases} failing cases."


def _all(n: int) -> str:
    return "The failing case points" if n == 1 else f"All {n} failing cases point"


def _named(part: str) -> str:
    return {"error": "the call: it raised", "timeout": "the call: it timed out", "output": "the answer's shape"}.get(
        part, f"the {part} metric" if part == "metric" else part
    )


def _line(row: MetricRow) -> MetricLine:
    gain = row.change.gain if row.change is not None else 0.0
    marked = row.regression is not None and row.regression.state in ("failed", "inconclusive")
    return MetricLine(
        _BREAKS.split(row.name),
        row.value_text,
        row.n_text,
        row.baseline_text,
        row.change_text,
        (gain > 0) - (gain < 0),
        row.gate_text(UNICODE)[2:],
        row.gate.state if row.gate is not None else "",
        row.regression.state if marked and row.regression is not None else "",
        row.info is not None and row.info.direction == "lower",
    )


def _notes(run: Run, verdict: Verdict, rows: Sequence[MetricRow]) -> Iterator[str]:
    told = [latency_line(run, verdict), *missing_notes(run, verdict, rows), *warnings(verdict)]
    told += [repeats_line(run), *noise_lines(verdict), *judge_lines(run)]
    if (comparison := verdict.comparison) is not None and comparison.vanished:
        gone = [f"{old} (now {new}?)" if new else old for old, new in comparison.vanished.items()]
        told.append(f"in the baseline, no longer in the golden file: {listed(gone, 10)}")
    yield from filter(None, told)


def _message(gate: GateOutcome, owner: str) -> str:
    beside = [f"costs most: {', '.join(gate.culprits[:3])}"] if gate.culprits else []
    beside += [f"owner {gate.owner}"] if gate.owner not in ("", owner) else []
    return " \u00b7 ".join([titled(gate.title, gate_reason(gate)), *beside])


def _own_figures(run: Run, verdict: Verdict) -> dict[str, float | None]:
    """The metrics the golden file asks for, as far as they lie in [0, 1]."""
    within = [n for n, info in run.metrics.items() if info.range[0] >= 0 and info.range[1] <= 1]
    return {n: verdict.aggregates[n].value for n in within if n in verdict.aggregates and n != "empty_result_rate"}


def _told_before(figures: Sequence[Mapping[str, float | None]]) -> list[str]:
    return [n for n, now in figures[-1].items() if now is not None and any(f.get(n) is not None for f in figures[:-1])]


def _trend(run: Run, verdict: Verdict, earlier: Sequence[EarlierRun], prefix: str) -> Iterator[TrendView]:
    """Yield the suite's own metrics, or without any the figures that every run has; partial runs are no part of it."""
    if not earlier or not run.is_full:
        return
    from ...history.aggregates import aggregate_of
    from ...history.matching import unmapped_cases

    figures = [*(past.metrics for past in earlier), _own_figures(run, verdict)]
    if not (kept := _told_before(figures)):
        now = aggregate_of(run, unmapped=unmapped_cases(run, verdict.comparison))
        figures = [*(past.figures for past in earlier), now.flat()]
        kept = sorted(_told_before(figures), key=lambda n: _FIGURES.index(n) if n in _FIGURES else len(_FIGURES))
    for i, name in enumerate(kept[:_MOST_FIGURES]):
        values = [f.get(name) for f in figures]
        told = [number(v, 3) if v is not None else "n/a" for v in values]
        days = [*(past.started[:10] for past in earlier), "this run"]
        words = f"{name} over {len(values)} runs: {', '.join(map(' '.join, zip(days, told, strict=True)))}"
        yield TrendView(
            shown(name), trend_plot(values, f"{prefix}{i}", words, earlier[0].started[:10]), told[-1], words
        )


def embedded_json(value: Any) -> str:
    """Return *value* as JSON that may stand inside a ``<script>`` element.

    No character that HTML or JavaScript gives a meaning to is in it: no ``<``, ``>``, ``&``, line separator or lone
    surrogate; they are written as escapes, which JSON reads back as the same text.

    Raises:
        ValueError: a number is infinite or NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
