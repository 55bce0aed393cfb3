"""Several systems side by side as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..numbers import plural
from ..side_by_side.table import CaseRow, Row, SideBySide
from ..side_by_side.words import case_cell, difference_text, key_metric, legend, value_text
from ..text import UNICODE
from .text import escape, table_lines

MOST_CASES = 1000


def side_by_side_markdown(compared: SideBySide) -> str:
    """Return the comparison as a document of its own."""
    return "\n".join(side_by_side_parts(compared, most=MOST_CASES, level=2)) + "\n"


def side_by_side_parts(compared: SideBySide, *, most: int, level: int = 3) -> Iterator[str]:
    """Yield the lines of the comparison, at most *most* cases in each of its two lists of cases."""
    owner = f" \u00b7 owner {escape(compared.owner)}" if compared.owner else ""
    yield f"{'#' * level} {escape(compared.suite)} side by side{owner}"
    yield ""
    yield f"over {plural(compared.shared, 'case')} that all ran"
    yield ""
    yield from _metrics(compared)
    notes = [*legend(compared, UNICODE), *compared.notes]
    yield ""
    yield from (f"<sub>{escape(note)}</sub><br>" for note in notes)
    differing = [case for case in compared.cases if case.differs]
    if differing and most:
        yield ""
        yield f"**{plural(len(differing), 'case')} that only some of them pass**"
        yield ""
        yield from _cases(compared, differing, most)
    if len(compared.cases) <= most:
        yield ""
        yield f"<details><summary>All {plural(len(compared.cases), 'case')}</summary>"
        yield ""
        yield from _cases(compared, compared.cases, most)
        yield ""
        yield "</details>"


def _metrics(compared: SideBySide) -> Iterator[str]:
    names = [column.name for column in compared.columns]
    heads = ["metric", "n", *names, *(f"{name} - {names[0]}" for name in names[1:])]
    rows = [
        [
            row.name,
            f"{row.n}",
            *(value_text(row, figure) for figure in row.figures),
            *(_difference(row, i) for i in range(1, len(names))),
        ]
        for row in compared.rows
        if not row.is_idle
    ]
    yield from table_lines(heads, rows, right=range(1, 2 + len(names)))


def _difference(row: Row, i: int) -> str:
    return difference_text(row, row.figures[i], UNICODE)


def _cases(compared: SideBySide, cases: Sequence[CaseRow], most: int) -> Iterator[str]:
    row = key_metric(compared)
    heads = [f"case ({row.name})" if row is not None else "case", *(column.name for column in compared.columns)]
    columns = range(len(compared.columns))
    rows = [[case.case_id, *(case_cell(case, i, row, UNICODE) for i in columns)] for case in cases[:most]]
    yield from table_lines(heads, rows, right=())
    if len(cases) > most:
        yield ""
        yield f"\u2026 and {len(cases) - most:,} more"
