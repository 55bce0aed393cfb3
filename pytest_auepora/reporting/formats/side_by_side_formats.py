"""Several systems side by side: in a terminal, as Markdown, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from ..numbers import metric_value, percent, plural, with_interval
from ..side_by_side import CaseRow, Figure, Row, SideBySide
from ..terminal import layout
from ..terminal.layout import Cell, Line, Page
from ..text import BAD, GOOD, UNSURE, escape_markdown, folded, markdown_table, text_width
from ..wording.metric_rows import state_symbol

FORMAT = 1
"""Increased when a reader of the previous format would misread the new one; keys may be added without."""

BEST = "*"
NEAR = "~"
MOST_CASES = 10  # in a terminal
_MOST_IN_MARKDOWN = 1000

_STYLE = {
    "better": ("green",), "worse": ("red",), "equal": ("light",), "not distinguishable": ("light",),
    "failed": ("red",), "error": ("red",),
}  # fmt: skip
"""Styles of differences and of case states."""

_GAP = 2
_LEAST = 6  # columns to which a column may shrink


def value_text(row: Row, figure: Figure) -> str:
    """Return ``0.833 *``: the value, with ``*`` for the best and ``~`` for not distinguishable from the best."""
    text = metric_value(figure.value, row)
    if row.is_tied or not figure.mark:
        return text
    return f"{text} {BEST if figure.mark == 'best' else NEAR}"


def difference_text(row: Row, figure: Figure) -> str:
    """Return ``+0.120 [+0.040, +0.200] ✓``: the difference from the first system, its interval, better or worse."""
    difference = figure.difference
    if difference is None or difference.value is None:
        return figure.note
    if figure.standing == "equal":
        return "="
    symbol = {"better": GOOD, "worse": BAD}.get(figure.standing or "", UNSURE)
    return f"{with_interval(difference, row)} {symbol}"


def legend(compared: SideBySide) -> list[str]:
    """Return the meaning of the symbols and of the intervals."""
    first = compared.columns[0].name
    confidence = percent(compared.confidence, 0)
    return [
        f"{BEST} best   {NEAR} cannot be told from the best",
        f"differences are from {first}, paired by case, with {confidence} intervals: {GOOD} better, "
        f"{BAD} worse, {UNSURE} not distinguishable",
    ]


def key_metric(compared: SideBySide) -> Row | None:
    """Return the metric shown for a case in a matrix: the first of the suite that cases have values of."""
    systems = [system.scores for case in compared.cases for system in case.systems if system is not None]
    scored = {name for scores in systems for name, value in scores.items() if value is not None}
    rows = (row for row in compared.rows if row.target not in ("", "LATENCY"))
    return next((row for row in rows if row.metric in scored), None)


def case_cell(case: CaseRow, i: int, key: Row | None) -> str:
    """Return ``✓ 0.50``: the state of a case in the system of column *i*, and its score in the metric *key*."""
    if (system := case.systems[i]) is None:
        return ""
    if system.state == "skipped":
        return "skipped"
    symbol = "error" if system.state == "error" else state_symbol(system.state)
    score = system.scores.get(key.metric) if key is not None else None
    return f"{symbol} {metric_value(score, key)}" if key is not None and score is not None else symbol


def side_by_side_lines(compared: SideBySide, *, width: int = 80) -> list[Line]:
    """Return the metrics of all systems, their differences from the first, and the cases on which they disagree.

    Systems that do not fit in one table are shown in further tables below.
    """
    page = Page(width)
    names = ", ".join(column.name for column in compared.columns)
    page.title(f"{compared.suite} side by side")
    owner = f", owner {compared.owner}" if compared.owner else ""
    page.paragraph(f"{names} over {plural(compared.shared, 'case')} that all ran{owner}", "light")
    rows = [row for row in compared.rows if not row.is_idle]
    if rows:
        _add_values(page, compared, rows)
        _add_differences(page, compared, rows)
        for line in legend(compared):
            page.paragraph(line, "light")
    _add_cases(page, compared)
    for note in compared.notes:
        page.paragraph(note, "light", most=3)
    return page.lines


def _add_values(page: Page, compared: SideBySide, rows: Sequence[Row]) -> None:
    left = [layout.Column("metric", least=12), layout.Column("n", right=True)]
    lines: list[Line] = []
    for row in rows:
        cells = [Cell(value_text(row, f), ("bold",) if f.mark == "best" else ()) for f in row.figures]
        lines.append([Cell(row.metric), Cell(f"{row.n}"), *cells])
    _add_tables(page, left, [column.name for column in compared.columns], lines)


def _add_differences(page: Page, compared: SideBySide, rows: Sequence[Row]) -> None:
    lines = [
        [
            Cell(row.metric),
            *(Cell(difference_text(row, f), _STYLE.get(f.standing or "", ())) for f in row.figures[1:]),
        ]
        for row in rows
        if any(figure.standing not in (None, "equal") for figure in row.figures)
    ]
    if not lines:
        page.paragraph("no case differs in any metric", "light")
        return
    first, *others = [page.safe(column.name) for column in compared.columns]
    page.lines.append([])
    _add_tables(page, [layout.Column("difference", least=12)], [f"{name} - {first}" for name in others], lines)


def _add_cases(page: Page, compared: SideBySide) -> None:
    differing = [case for case in compared.cases if case.differs]
    if not differing:
        return
    key = key_metric(compared)
    suffix = f" ({key.metric} beside)" if key is not None else ""
    page.lines.append([])
    page.paragraph(f"{plural(len(differing), 'case')} that only some of them pass{suffix}", "bold")
    lines: list[Line] = []
    for case in differing[:MOST_CASES]:
        styles = [_STYLE.get(system.state, ()) if system is not None else () for system in case.systems]
        cells = [Cell(case_cell(case, i, key), style) for i, style in enumerate(styles)]
        lines.append([Cell(case.case_id), *cells])
    _add_tables(page, [layout.Column("case", least=24)], [column.name for column in compared.columns], lines)
    page.more(len(differing) - MOST_CASES)


def _add_tables(page: Page, left: Sequence[layout.Column], heads: Sequence[str], rows: Sequence[Line]) -> None:
    """Add *rows* as tables that have all columns of *left*, and as many of the columns of *heads* as fit beside."""
    columns = [*left, *(layout.Column(page.safe(head), least=_LEAST) for head in heads)]
    sizes = [max(map(text_width, (column.title, *(row[i].text for row in rows)))) for i, column in enumerate(columns)]
    room = page.width - sum((column.least or _LEAST) + _GAP for column in left)
    n, start = len(left), len(left)
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and sum(sizes[start : stop + 1]) + _GAP * (stop + 1 - start) <= room:
            stop += 1
        shown = [[*row[:n], *row[start:stop]] for row in rows]
        page.lines += layout.table([*left, *columns[start:stop]], shown, page.width)
        start = stop


def side_by_side_markdown(compared: SideBySide) -> str:
    """Return the comparison as a document of its own."""
    return "\n\n".join(side_by_side_blocks(compared, most=_MOST_IN_MARKDOWN, level=2)) + "\n"


def side_by_side_blocks(compared: SideBySide, *, most: int, level: int = 3) -> Iterator[str]:
    """Yield the parts of the comparison in Markdown, at most *most* cases in each of its two lists of cases."""
    owner = f" \u00b7 owner {escape_markdown(compared.owner)}" if compared.owner else ""
    yield f"{'#' * level} {escape_markdown(compared.suite)} side by side{owner}"
    yield f"over {plural(compared.shared, 'case')} that all ran"
    first, *others = names = [column.name for column in compared.columns]
    rows = []
    for row in compared.rows:
        if not row.is_idle:
            differences = [difference_text(row, figure) for figure in row.figures[1:]]
            rows.append([row.metric, f"{row.n}", *(value_text(row, figure) for figure in row.figures), *differences])
    heads = ["metric", "n", *names, *(f"{name} - {first}" for name in others)]
    yield markdown_table(heads, rows, range(1, 2 + len(names)))
    notes = [*legend(compared), *compared.notes]
    yield "\n".join(f"<sub>{escape_markdown(note)}</sub><br>" for note in notes)
    differing = [case for case in compared.cases if case.differs]
    if differing and most:
        yield f"**{plural(len(differing), 'case')} that only some of them pass**"
        yield _case_table(compared, differing[:most])
        if len(differing) > most:
            yield f"\u2026 and {len(differing) - most:,} more"
    if len(compared.cases) <= most:
        yield folded(f"All {plural(len(compared.cases), 'case')}", _case_table(compared, compared.cases))


def _case_table(compared: SideBySide, cases: Sequence[CaseRow]) -> str:
    key = key_metric(compared)
    heads = [f"case ({key.metric})" if key is not None else "case", *(column.name for column in compared.columns)]
    columns = range(len(compared.columns))
    return markdown_table(heads, [[case.case_id, *(case_cell(case, i, key) for i in columns)] for case in cases])


def side_by_side_json(compared: SideBySide) -> str:
    """Return the whole comparison as JSON text."""
    raw = {"format": FORMAT, **asdict(compared)}
    return json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
