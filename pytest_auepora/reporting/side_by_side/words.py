"""What stands in the cells of a side-by-side table, alike in a terminal and in Markdown."""

from __future__ import annotations

from ..metric_rows import state_mark
from ..numbers import metric_change, metric_value, percent
from ..text import Symbols
from .table import CaseRow, Figure, Row, SideBySide

BEST = "*"
NEAR = "~"


def value_text(row: Row, figure: Figure) -> str:
    """Return ``0.833 *``: the value, and whether it is the best (``*``) or cannot be told from it (``~``)."""
    text = metric_value(figure.value, row.info)
    if row.is_tied or not figure.mark:
        return text
    return f"{text} {BEST if figure.mark == 'best' else NEAR}"


def difference_text(row: Row, figure: Figure, marks: Symbols) -> str:
    """Return ``+0.120 [+0.040, +0.200] ✓``: the difference from the first system, its interval, what it amounts to."""
    found = figure.difference
    if found is None or found.value is None:
        return figure.note
    if figure.standing == "equal":
        return "="
    text = metric_change(found.value, row.info)
    if found.low is not None and found.high is not None:
        text += f" [{metric_change(found.low, row.info)}, {metric_change(found.high, row.info)}]"
    mark = {"better": marks.good, "worse": marks.bad}.get(figure.standing or "", marks.unsure)
    return f"{text} {mark}"


def legend(compared: SideBySide, marks: Symbols) -> list[str]:
    """Return what the marks mean, and what the intervals are."""
    first = compared.columns[0].name
    sure = percent(compared.confidence, 0)
    return [
        f"{BEST} best   {NEAR} cannot be told from the best",
        f"differences are from {first}, paired by case, with {sure} intervals: {marks.good} better, {marks.bad} worse, "
        f"{marks.unsure} not distinguishable",
    ]


def key_metric(compared: SideBySide) -> Row | None:
    """Return the metric that stands for a case in a matrix: the first of the suite that cases have values of."""
    scored = {name for case in compared.cases for seen in case.scores for name, v in seen.items() if v is not None}
    rows = (row for row in compared.rows if row.info is not None and row.info.target != "LATENCY")
    return next((row for row in rows if row.name in scored), None)


def case_cell(case: CaseRow, i: int, key: Row | None, marks: Symbols) -> str:
    """Return ``✓ 0.50``: what became of a case in the system of column *i*, and its score in the metric *key*."""
    state = case.states[i]
    if state is None:
        return ""
    if state == "skipped":
        return "skipped"
    mark = "error" if state == "error" else state_mark(state, marks)
    score = case.scores[i].get(key.name) if key is not None else None
    return f"{mark} {metric_value(score, key.info)}" if key is not None and score is not None else mark
