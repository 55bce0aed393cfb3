"""Case results on their way from the process that ran a case to the controller.

A worker puts one JSON string on the report: pytest-xdist carries builtins only, and a numpy float would end
the session.  Within one process the results themselves are handed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Literal
from weakref import WeakKeyDictionary

import pytest

from ..base.json import dumps
from ..base.records import read_record
from ..core.run import CaseResult
from ..evaluation.recording import Recording
from ..regression.compare import Change, Incomparable
from ..regression.outcomes import Note

ATTRIBUTE = "auepora"
"""The attribute of a report that has its case reports as text."""


FurtherKind = Literal["", "accepted", "look"]
"""Of a case that was reported before: further answers that an update accepts as well; that of a further look."""


@dataclass(eq=False, repr=False, slots=True)
class CaseReport:
    """One case result, and which run it belongs to.

    ``path`` is the golden file, relative to the rootdir; ``recordings`` what is kept of the answers, repeats in order.
    Further answers to a case come in a report of their own ``kind``, with their recordings alone.
    """

    path: str
    variant: str
    result: CaseResult
    provenance: dict[str, Any] = field(default_factory=dict)
    recordings: list[Recording] = field(default_factory=list)
    kind: FurtherKind = ""


_case_reports: WeakKeyDictionary[pytest.TestReport, list[CaseReport]] = WeakKeyDictionary()
"""By report, so that a report stays as serialisable as pytest made it."""


def attach(report: pytest.TestReport, case_reports: list[CaseReport], *, leaves_process: bool) -> None:
    """Put *case_reports* on *report*."""
    if leaves_process:
        setattr(report, ATTRIBUTE, "\n".join(chain.from_iterable(map(_to_lines, case_reports))))
    else:
        _case_reports[report] = case_reports


def unpack(report: pytest.TestReport) -> list[CaseReport]:
    """Return what *report* carries; nothing where it is not ours."""
    if (case_reports := _case_reports.get(report)) is not None:
        return case_reports
    text = getattr(report, ATTRIBUTE, None)
    if text is None:
        return []
    lines = iter(text.split("\n"))
    case_reports = [_from_lines(*three) for three in zip(lines, lines, lines, strict=True)]
    _case_reports[report] = case_reports  # several plugins ask
    delattr(report, ATTRIBUTE)  # pytest holds reports to the end, and answers are large
    return case_reports


def _to_lines(case_report: CaseReport) -> tuple[str, str, str]:
    """Return three lines: the result, as the history stores it; what many cases share; the answers."""
    from ..history.codec import CaseJson

    shared = dumps([case_report.path, case_report.variant, case_report.provenance, case_report.kind])
    case = CaseJson.of(case_report.result, case_report.recordings)
    return case.result.decode(), shared, f'{{"answers":{case.answers.decode()}}}' if case.answers else ""


def _from_lines(result: str, shared: str, recordings: str) -> CaseReport:
    from ..history.codec import read_answers

    path, variant, provenance, kind = _shared_part(shared)
    case_result = read_record(CaseResult, result, by_hand=False)
    answers = read_answers(recordings) if recordings else []
    return CaseReport(path, variant, case_result, provenance, answers, kind)


@lru_cache(maxsize=64)
def _shared_part(shared: str) -> tuple[str, str, dict[str, Any], FurtherKind]:
    """Return path, variant, provenance, kind: as within a process, cases of which it is equal have the same."""
    path, variant, provenance, kind = json.loads(shared)
    return path, variant, provenance, kind


def run_provenance(provenances: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], Note | None]:
    """Return the provenance of a run, and a note on what differs between its cases, None where nothing does.

    *provenances* are those of the cases.  A value that differs becomes the text of all values, which equals none of
    them: a run under two conditions compares with neither.
    """
    distinct: list[Mapping[str, Any]] = []
    for provenance in provenances:
        if not any(provenance is known or provenance == known for known in distinct):
            distinct.append(provenance)
    if len(distinct) <= 1:
        return dict(distinct[0]) if distinct else {}, None
    merged: dict[str, Any] = {}
    differences: list[Change] = []
    for key in dict.fromkeys(key for provenance in distinct for key in provenance):
        values = [provenance.get(key, "not said") for provenance in distinct]
        if all(value == values[0] for value in values):
            merged[key] = values[0]
        else:
            merged[key] = " and ".join(sorted({str(value) for value in values}))
            first, second = list(dict.fromkeys(values))[:2]
            differences.append(Change(key, first, second))
    return merged, Note("provenance differs", why=Incomparable(changes=tuple(differences)))
