"""The comparison of two runs for a terminal: the suite's own metrics, what is worse, and the cases that moved."""

from __future__ import annotations

from collections.abc import Iterator

from ...history.compare import CompareReport, ComparisonKind
from ..numbers import change, number
from ..text import ARROW, BAD
from ..wording.changes import incomparable_text
from ..wording.two_runs import causes, counts_text, left_out, note_text, problems
from .layout import Cell, Column, Line, Page, table

_MOST = 10
"""Cases listed of each kind; Markdown and JSON have more."""

_HEADINGS = {
    ComparisonKind.REGRESSION: "found before, missed now",
    ComparisonKind.LOSS: "further down",
    ComparisonKind.WIN: "found now, or further up",
}
_STYLES = {"worse": ("red", "bold"), "mixed": ("red", "bold"), "better": ("green",), "inconclusive": ("yellow",)}


def comparison_lines(report: CompareReport, *, width: int = 100) -> list[Line]:
    """Return the lines on *report*, none wider than *width*."""
    page = Page(width)
    page.title(f"{report.title}: {report.outcome}", f"{report.run_a} {ARROW} {report.run_b}")
    page.lines[0][0] = page.lines[0][0]._replace(style=_STYLES.get(report.outcome, ("bold",)))
    if report.causes:
        page.paragraph(f"changed: {', '.join(causes(report))}")
    page.paragraph(counts_text(report), "light")
    page.lines += _metrics_table(report, page)
    for name, why in report.incomparable.items():
        values = f" {ARROW} ".join(number(value, 3) for value in report.former.get(name, ()))
        page.paragraph(f"not comparable: {name} ({incomparable_text(why)}){f': {values}' if values else ''}")
    for line in problems(report):
        page.paragraph(f"{BAD} {line}")
    for kind, heading in _HEADINGS.items():
        lines = [*_cases(report, kind)]
        if lines:
            page.paragraph(heading, "bold")
        for line in lines[:_MOST]:
            page.paragraph(line, indent=2)
        page.more(len(lines) - _MOST)
    for line in left_out(report):
        page.paragraph(line, "light")
    return page.lines


def _metrics_table(report: CompareReport, page: Page) -> list[Line]:
    columns = [Column("metric", least=12), *(Column(title, right=True) for title in ("a", "b", "b - a", "cases"))]
    rows = []
    for name, metric in report.metrics.items():
        values = number(metric.before, 3), number(metric.after, 3), change(metric.after - metric.before, 3)
        rows.append([Cell(text) for text in (name, *values, str(metric.n))])
    return table(columns, rows, page.width) if rows else []


def _cases(report: CompareReport, kind: ComparisonKind) -> Iterator[str]:
    for query in report.per_query:
        if query.kind is kind:
            ranks = [("missed" if rank is None else f"rank {rank}") for rank in (query.a_hit_rank, query.b_hit_rank)]
            note = note_text(report, query.query_id, query.note)
            yield f"{query.query_id}: {f' {ARROW} '.join(ranks)}{f'; {note}' if note else ''}"
