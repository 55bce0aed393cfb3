"""The comparison of two runs in a terminal, as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace

from ...core.run import Run
from ...history.aggregates import storable
from ...history.compare import WHY_NOT, CompareReport, ComparisonKind
from ..numbers import NOT_MEASURED, change, number
from ..terminal.layout import Cell, Column, Line, Page, table
from ..text import ARROW, BAD, escape_markdown, markdown_list, markdown_table, more_item
from ..wording.changes import incomparable_text
from ..wording.gates import gate_sentence
from ..wording.two_runs import case_lines, causes, counts_text, left_out, note_text, problems

_MOST = 50  # cases listed of each kind
_MOST_IN_TERMINAL = 10
_HEADINGS: Mapping[ComparisonKind, tuple[str, str]] = {
    ComparisonKind.REGRESSION: ("Regressions", "found before, missed now"),
    ComparisonKind.LOSS: ("Losses", "further down"),
    ComparisonKind.WIN: ("Wins", "found now, or further up"),
}
_STYLES = {"worse": ("red", "bold"), "mixed": ("red", "bold"), "better": ("green",), "inconclusive": ("yellow",)}
_COLUMNS = (Column("metric", least=12), *(Column(title, right=True) for title in ("a", "b", "b - a", "cases")))


def comparison_lines(report: CompareReport, *, width: int = 100) -> list[Line]:
    """Return the lines on *report*, none wider than *width*: the suite's own metrics, what is worse, what moved."""
    page = Page(width)
    page.title(f"{report.title}: {report.outcome}", f"{report.run_a} {ARROW} {report.run_b}")
    page.lines[0][0] = page.lines[0][0]._replace(style=_STYLES.get(report.outcome, ("bold",)))
    if report.causes:
        page.paragraph(f"changed: {', '.join(causes(report))}")
    page.paragraph(counts_text(report), "light")
    page.lines += table(_COLUMNS, [[*map(Cell, row)] for row in _metric_rows(report, 3)], page.width)
    for line in _incomparable_lines(report, 3):
        page.paragraph(line)
    for line in problems(report):
        page.paragraph(f"{BAD} {line}")
    for kind, (_, heading) in _HEADINGS.items():
        moved = _moved(report, kind)
        page.paragraph(heading if moved else "", "bold")
        for case_id, before, after, note in moved[:_MOST_IN_TERMINAL]:
            page.paragraph(f"{case_id}: {before} {ARROW} {after}{f'; {note}' if note else ''}", indent=2)
        page.more(len(moved) - _MOST_IN_TERMINAL)
    for line in left_out(report):
        page.paragraph(line, "light")
    return page.lines


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
    runs = f"{escape_markdown(report.run_a)} {ARROW} {escape_markdown(report.run_b)}"
    changed = f"\nChanged: {escape_markdown(', '.join(causes(report)))}." if report.causes else ""
    yield f"{runs}: {counts_text(report)}.{changed}"
    yield markdown_table(["figure", "a", "b", "b - a"], _figures(report), (1, 2, 3))
    if metrics := _metric_rows(report, 4):
        yield markdown_table(["metric of the suite", "a", "b", "b - a", "cases"], metrics, (1, 2, 3, 4))
    if lines := [*_incomparable_lines(report, 4), *problems(report)]:
        yield markdown_list([*map(escape_markdown, lines)], _MOST)
    for kind, heading in _HEADINGS.items():
        if moved := _moved(report, kind):
            yield f"### {': '.join(heading)}"
            yield "\n".join([markdown_table(["case", "a", "b", "note"], moved[:_MOST]), *more_item(len(moved) - _MOST)])
    if lines := left_out(report):
        yield markdown_list([*map(escape_markdown, lines)])


def _figures(report: CompareReport) -> Iterator[list[str]]:
    """Yield the figures of every run that are no metric of the suite."""
    before, after = report.aggregate_a.flat(), report.aggregate_b.flat()
    yield from ([name, *_values(before[name], after[name], 4)] for name in after if name not in report.metrics)
    for name in ("total_queries", "failed_queries"):
        a, b = getattr(report.aggregate_a, name), getattr(report.aggregate_b, name)
        yield [name, f"{a}", f"{b}", f"{b - a:+d}" if a != b else "0"]


def _metric_rows(report: CompareReport, places: int) -> list[list[str]]:
    """Return each metric of the suite: before, after, difference, cases."""
    return [[name, *_values(m.before, m.after, places), f"{m.n}"] for name, m in report.metrics.items()]


def _incomparable_lines(report: CompareReport, places: int) -> Iterator[str]:
    for name, why in report.incomparable.items():
        values = f" {ARROW} ".join(_value(value, places) for value in report.former.get(name, ()))
        yield f"not comparable: {name} ({incomparable_text(why)}){f': {values}' if values else ''}"


def _moved(report: CompareReport, kind: ComparisonKind) -> list[list[str]]:
    """Return the cases of one kind: rank before, rank after, what may be the cause."""
    return [
        [one.query_id, _rank(one.a_hit_rank), _rank(one.b_hit_rank), note_text(report, one.query_id, one.note)]
        for one in report.per_query
        if one.kind is kind
    ]


def _values(before: float | None, after: float | None, places: int) -> list[str]:
    difference = NOT_MEASURED if before is None or after is None else change(after - before, places)
    return [_value(before, places), _value(after, places), difference]


def _value(value: float | None, places: int) -> str:
    return NOT_MEASURED if value is None else number(value, places)


def _rank(rank: int | None) -> str:
    return "missed" if rank is None else f"rank {rank}"
