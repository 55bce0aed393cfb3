"""Several systems side by side in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..numbers import plural
from ..terminal.layout import Cell, Column, Line, Page, table
from ..text import text_width
from .table import CaseRow, Figure, Row, SideBySide
from .words import case_cell, difference_text, key_metric, legend, value_text

MOST_CASES = 10

_STYLE = {"better": ("green",), "worse": ("red",), "equal": ("light",), "not distinguishable": ("light",)}
_GAP = 2


def side_by_side_lines(compared: SideBySide, *, width: int = 80, ascii_only: bool = False) -> list[Line]:
    """Return the metrics of all systems, their differences from the first, and the cases on which they disagree.

    Systems that do not fit beside each other stand in further tables below.
    """
    page = Page(width, ascii_only=ascii_only)
    names = ", ".join(column.name for column in compared.columns)
    page.title(f"{compared.suite} side by side")
    owner = f", owner {compared.owner}" if compared.owner else ""
    page.free(f"{names} over {plural(compared.shared, 'case')} that all ran{owner}", "light")
    rows = [row for row in compared.rows if not row.is_idle]
    if rows:
        _values(page, compared, rows)
        _differences(page, compared, rows)
        for line in legend(compared, page.marks):
            page.free(line, "light")
    _cases(page, compared)
    for note in compared.notes:
        page.free(note, "light", most=3)
    return page.lines


def _values(page: Page, compared: SideBySide, rows: Sequence[Row]) -> None:
    texts = [[value_text(row, figure) for figure in row.figures] for row in rows]
    places = range(len(compared.columns))
    heads = [page.safe(compared.columns[i].name) for i in places]
    for group in _groups(page.width - 22, heads, texts, places):
        columns = [Column("metric", least=12), Column("n", right=True), *(Column(heads[i], least=6) for i in group)]
        cells = [
            [Cell(row.name), Cell(f"{row.n}"), *(Cell(text[i], _bold(row, row.figures[i])) for i in group)]
            for row, text in zip(rows, texts, strict=True)
        ]
        page.lines += table(columns, cells, page.width, ascii_only=page.ascii_only)


def _bold(row: Row, figure: Figure) -> tuple[str, ...]:
    return ("bold",) if figure.mark == "best" and not row.is_tied else ()


def _differences(page: Page, compared: SideBySide, rows: Sequence[Row]) -> None:
    shown = [row for row in rows if any(f.standing not in (None, "equal") for f in row.figures)]
    if not shown:
        page.free("no case differs in any metric", "light")
        return
    texts = [[difference_text(row, figure, page.marks) for figure in row.figures] for row in shown]
    places = range(1, len(compared.columns))
    first = page.safe(compared.columns[0].name)
    heads = ["", *(f"{page.safe(column.name)} - {first}" for column in compared.columns[1:])]
    for group in _groups(page.width - 14, heads, texts, places):
        columns = [Column("difference", least=12), *(Column(heads[i], least=8) for i in group)]
        cells = [
            [Cell(row.name), *(Cell(text[i], _STYLE.get(row.figures[i].standing or "", ())) for i in group)]
            for row, text in zip(shown, texts, strict=True)
        ]
        page.lines.append([])
        page.lines += table(columns, cells, page.width, ascii_only=page.ascii_only)


def _groups(room: int, heads: Sequence[str], texts: Sequence[Sequence[str]], places: range) -> Iterator[list[int]]:
    """Yield as many columns at a time as fit into *room*."""
    group: list[int] = []
    used = 0
    for i in places:
        size = max(text_width(text) for text in (heads[i], *(row[i] for row in texts))) + _GAP
        if group and used + size > room:
            yield group
            group, used = [], 0
        group.append(i)
        used += size
    if group:
        yield group


def _cases(page: Page, compared: SideBySide) -> None:
    differing = [case for case in compared.cases if case.differs]
    if not differing:
        return
    row = key_metric(compared)
    what = f" ({row.name} beside)" if row is not None else ""
    page.lines.append([])
    page.free(f"{plural(len(differing), 'case')} that only some of them pass{what}", "bold")
    texts = [
        [case_cell(case, i, row, page.marks) for i in range(len(compared.columns))] for case in differing[:MOST_CASES]
    ]
    heads = [page.safe(column.name) for column in compared.columns]
    for group in _groups(page.width - 26, heads, texts[:MOST_CASES], range(len(heads))):
        columns = [Column("case", least=24), *(Column(heads[i], least=6) for i in group)]
        cells = [
            [Cell(case.case_id), *(Cell(text[i], _state_style(case, i)) for i in group)]
            for case, text in zip(differing, texts, strict=False)
        ]
        page.lines += table(columns, cells, page.width, ascii_only=page.ascii_only)
    if len(differing) > MOST_CASES:
        page.free(f"{page.marks.dots} and {len(differing) - MOST_CASES} more", "light", indent=2)


def _state_style(case: CaseRow, i: int) -> tuple[str, ...]:
    return ("red",) if case.states[i] in ("failed", "error") else ()
