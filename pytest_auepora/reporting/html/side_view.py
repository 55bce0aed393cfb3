"""Several systems side by side, as two tables of text: the metrics, and the cases that only some of them pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...core.run import Run
from ..numbers import plural
from ..side_by_side.table import CaseRow, Figure, Row, SideBySide, side_by_sides
from ..side_by_side.words import case_cell, difference_text, key_metric, legend, value_text
from ..symbols import UNICODE

__all__ = ["CaseCell", "SideView", "side_views"]

MOST_CASES = 200


@dataclass(frozen=True, slots=True)
class CaseCell:
    """A case in one system: its text, its state, and where on the page it can be opened (empty: nowhere)."""

    text: str
    state: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class SideView:
    """Several systems on one suite.

    ``rows`` have a metric, its n, the values and whether they are best, the differences and what they amount to.
    """

    suite: str
    over: str
    names: list[str]
    rows: list[tuple[str, str, list[tuple[str, bool]], list[tuple[str, str]]]]
    notes: list[str]
    key: str
    cases: list[tuple[str, list[CaseCell]]]
    left: int


def side_views(runs: Sequence[Run], compared: Sequence[SideBySide] | None = None) -> list[SideView]:
    """Return one for each suite that several of *runs* are of; *compared* saves working it out."""
    titles = [run.title for run in runs]
    links = {
        run.title: {case_id: f"#case-{i}-{n}" for n, case_id in enumerate(run.cases)}
        for i, run in enumerate(runs)
        if titles.count(run.title) == 1
    }
    return [_view(one, links) for one in (side_by_sides(runs) if compared is None else compared)]


def _view(compared: SideBySide, links: Mapping[str, Mapping[str, str]]) -> SideView:
    key = key_metric(compared)
    differing = [case for case in compared.cases if case.differs]
    return SideView(
        compared.suite,
        f"over {plural(compared.shared, 'case')} that all ran",
        [column.name for column in compared.columns],
        [_metric(row) for row in compared.rows if not row.is_idle],
        [*legend(compared, UNICODE), *compared.notes],
        key.name if key is not None else "",
        [(case.case_id, _cells(compared, case, key, links)) for case in differing[:MOST_CASES]],
        len(differing) - MOST_CASES,
    )


def _metric(row: Row) -> tuple[str, str, list[tuple[str, bool]], list[tuple[str, str]]]:
    values = [(value_text(row, figure), not row.is_tied and figure.mark == "best") for figure in row.figures]
    return row.name, f"{row.n}", values, [_difference(row, figure) for figure in row.figures[1:]]


def _difference(row: Row, figure: Figure) -> tuple[str, str]:
    return difference_text(row, figure, UNICODE), figure.standing if figure.standing in ("better", "worse") else ""


def _cells(
    compared: SideBySide, case: CaseRow, key: Row | None, links: Mapping[str, Mapping[str, str]]
) -> list[CaseCell]:
    out = []
    for i, column in enumerate(compared.columns):
        link = links.get(column.title, {}).get(case.case_id, "")
        out.append(CaseCell(case_cell(case, i, key, UNICODE), case.states[i] or "", link))
    return out
