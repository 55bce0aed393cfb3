"""Several systems side by side for programs: JSON, and CSV with a row per case and metric."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TypedDict

from ...core.run import CaseState, Run
from ...regression.statistics.intervals import Difference, Standing
from ...regression.verdict import Verdict
from ..csv_report import spreadsheet_text
from ..numbers import number
from .table import CaseRow, Column, Figure, Mark, SideBySide, side_by_sides

FORMAT = 1
"""Raised when a reader of the former format would misread the new one; keys may be added without."""


class FigureData(TypedDict):
    """One metric of one system."""

    value: float | None
    mark: Mark
    standing: Standing | None
    difference: Difference | None
    note: str


class RowData(TypedDict):
    """One metric, a figure per system."""

    metric: str
    direction: str
    owner: str
    n: int
    figures: list[FigureData]


class SystemData(TypedDict):
    """What became of a case in one system."""

    state: CaseState
    scores: dict[str, float | None]


class CaseData(TypedDict):
    """One case in every system."""

    case_id: str
    where: str
    differs: bool
    systems: list[SystemData | None]


class SuiteData(TypedDict):
    """One suite that several systems ran."""

    suite: str
    path: str
    owner: str
    confidence: float
    shared: int
    columns: list[Column]
    rows: list[RowData]
    cases: list[CaseData]
    notes: list[str]


def side_by_side_json(compared: SideBySide) -> str:
    """Return the whole comparison as JSON text."""
    raw = {"format": FORMAT, **side_by_side_dict(compared)}
    return json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False, default=asdict) + "\n"


def side_by_side_dict(compared: SideBySide) -> SuiteData:
    """Return the comparison as data; `side_by_side_schema` is derived from its type.  Numbers are unrounded."""
    return {
        "suite": compared.suite,
        "path": compared.path,
        "owner": compared.owner,
        "confidence": compared.confidence,
        "shared": compared.shared,
        "columns": list(compared.columns),
        "rows": [
            {
                "metric": row.name,
                "direction": row.direction,
                "owner": row.owner,
                "n": row.n,
                "figures": [_figure(f) for f in row.figures],
            }
            for row in compared.rows
        ],
        "cases": [_case(case) for case in compared.cases],
        "notes": list(compared.notes),
    }


def _figure(figure: Figure) -> FigureData:
    return {
        "value": figure.value,
        "mark": figure.mark,
        "standing": figure.standing,
        "difference": figure.difference,
        "note": figure.note,
    }


def _case(case: CaseRow) -> CaseData:
    return {
        "case_id": case.case_id,
        "where": case.where,
        "differs": case.differs,
        "systems": [
            None if state is None else {"state": state, "scores": scores}
            for state, scores in zip(case.states, case.scores, strict=True)
        ],
    }


def matrix_csv(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],  # noqa: ARG001 - as all reports
    *,
    compared: Sequence[SideBySide] | None = None,
) -> str:
    """Return `side_by_side_csv` of the suites that several systems ran; of none the header alone."""
    return side_by_side_csv(side_by_sides(runs) if compared is None else compared)


def side_by_side_csv(compared: Sequence[SideBySide]) -> str:
    """Return a row per case and metric, a column per system; an empty cell was not measured.

    The row ``state`` of a case says what became of it.  Suites stand below each other, each with its own columns
    filled.
    """
    systems = list(dict.fromkeys(column.name for one in compared for column in one.columns))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["suite", "owner", "id", "metric", *map(spreadsheet_text, systems)])
    for one in compared:
        place = {column.name: i for i, column in enumerate(one.columns)}
        metrics = [row for row in one.rows if row.info is not None]
        for case in one.cases:
            states = [(case.states[place[s]] or "") if s in place else "" for s in systems]
            writer.writerow([*map(spreadsheet_text, (one.suite, one.owner, case.case_id)), "state", *states])
            for row in metrics:
                values = [case.scores[place[s]].get(row.name) if s in place else None for s in systems]
                start = map(spreadsheet_text, (one.suite, row.owner or one.owner, case.case_id))
                writer.writerow([*start, row.name, *("" if v is None else number(v, 4) for v in values)])
    return out.getvalue()
