"""The comparison of two runs as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace

from ...core.run import Run
from ...history.aggregates import storable
from ...history.compare import WHY_NOT, CompareReport, ComparisonKind
from ..numbers import NOT_MEASURED, change, number
from ..text import escape_markdown, markdown_list, markdown_table, more_item
from ..wording.changes import incomparable_text
from ..wording.gates import gate_sentence
from ..wording.two_runs import case_lines, causes, counts_text, left_out, note_text, problems

MOST = 50  # cases listed of each kind
_HEADINGS = {
    ComparisonKind.REGRESSION: "Regressions: found before, missed now",
    ComparisonKind.LOSS: "Losses: further down",
    ComparisonKind.WIN: "Wins: found now, or further up",
}


def comparison_json(report: CompareReport) -> str:
    """Return the whole comparison as JSON text: its data, four decimals, and beside them the sentences."""
    data = asdict(replace(report, run=Run("")))  # whose cases nobody wants a copy of
    del data["run"]
    queries = zip(report.per_query, data["per_query"], strict=True)
    counts = report.count()
    raw = {
        **storable(data),
        "aggregate_a": report.aggregate_a.to_dict(),
        "aggregate_b": report.aggregate_b.to_dict(),
        "per_query": [
            {**row, "kind": query.kind.value, "note": note_text(report, query.query_id, query.note) or None}
            for query, row in queries
        ],
        "outcome": report.outcome,
        "counts": {kind.value: counts[kind] for kind in ComparisonKind},
        "sentences": {
            "causes": causes(report),
            "gates": [gate_sentence(gate, report.run) for gate in report.gates],
            "cases": {case_id: case_lines(report, case_id) for case_id in report.findings},
            "incomparable": {name: incomparable_text(why) for name, why in report.incomparable.items()},
            "not_comparable": {case_id: WHY_NOT[why] for case_id, why in report.not_comparable.items()},
        },
    }
    return json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def render_report_md(report: CompareReport) -> str:
    """Return the report: the outcome, what differs, the figures, then regressions, losses and wins."""
    return "\n\n".join(_blocks(report)) + "\n"


def _blocks(report: CompareReport) -> Iterator[str]:
    yield f"## {escape_markdown(report.title)}: {report.outcome}"
    runs = f"{escape_markdown(report.run_a)} \u2192 {escape_markdown(report.run_b)}"
    changed = f"\nChanged: {escape_markdown(', '.join(causes(report)))}." if report.causes else ""
    yield f"{runs}: {counts_text(report)}.{changed}"
    yield _tables(report)
    if lines := problems(report):
        yield markdown_list([*map(escape_markdown, lines)], MOST)
    for kind, heading in _HEADINGS.items():
        queries = [q for q in report.per_query if q.kind is kind]
        rows = [
            [q.query_id, _rank(q.a_hit_rank), _rank(q.b_hit_rank), note_text(report, q.query_id, q.note)]
            for q in queries
        ]
        if rows:
            table = markdown_table(["case", "rank a", "rank b", "note"], rows[:MOST], (1, 2))
            yield f"### {heading}"
            yield "\n".join([table, *more_item(len(rows) - MOST)])
    if lines := left_out(report):
        yield markdown_list([*map(escape_markdown, lines)])


def _tables(report: CompareReport) -> str:
    """Return the figures and the suite's own metrics, each as a table; below them the metrics that do not compare."""
    before, after = report.aggregate_a.flat(), report.aggregate_b.flat()
    figures = [[name, *_values(before[name], after[name])] for name in after if name not in report.metrics]
    for name in ("total_queries", "failed_queries"):
        a, b = getattr(report.aggregate_a, name), getattr(report.aggregate_b, name)
        figures.append([name, f"{a}", f"{b}", f"{b - a:+d}" if a != b else "0"])
    lines = [markdown_table(["figure", "a", "b", "b - a"], figures, (1, 2, 3))]
    metrics = [[name, *_values(m.before, m.after), f"{m.n}"] for name, m in report.metrics.items()]
    if metrics:
        lines += ["", markdown_table(["metric of the suite", "a", "b", "b - a", "cases"], metrics, (1, 2, 3, 4))]
    for name, why in report.incomparable.items():
        reason = incomparable_text(why)
        values = " → ".join(map(_value, report.former.get(name, ())))
        lines.append(f"- not comparable: {escape_markdown(f'{name} ({reason})')}{f': {values}' if values else ''}")
    return "\n".join(lines)


def _values(before: float | None, after: float | None) -> list[str]:
    difference = NOT_MEASURED if before is None or after is None else change(after - before, 4)
    return [_value(before), _value(after), difference]


def _value(value: float | None) -> str:
    return NOT_MEASURED if value is None else number(value, 4)


def _rank(rank: int | None) -> str:
    return "miss" if rank is None else str(rank)
