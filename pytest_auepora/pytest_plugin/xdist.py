"""What travels from the process that ran a case to the one that judges the run.

A worker puts one JSON string on the report: pytest-xdist carries builtins only, and a numpy float would end
the session.  Within one process the results themselves are handed over.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..evaluation.recording import Recording

ATTRIBUTE = "auepora"
"""Where a report has the text of its case reports."""


@dataclass(eq=False, repr=False, slots=True)
class CaseReport:
    """One case result, and which run it belongs to.

    ``path`` is the golden file, relative to the rootdir; ``recordings`` what is kept of the answers, repeats in order.
    """

    path: str
    variant: str
    result: CaseResult
    provenance: dict[str, Any] = field(default_factory=dict)
    recordings: list[Recording] = field(default_factory=list)


def case_id_of(name: str, ids: Container[str]) -> str:
    """Return which of *ids* an item called *name* is of: behind it are parameters, and ``@`` its group for xdist."""
    plain = name.partition("[")[0]
    return plain if plain in ids else plain.rpartition("@")[0]


_here: WeakKeyDictionary[pytest.TestReport, list[CaseReport]] = WeakKeyDictionary()
"""By report, so that a report stays as serialisable as pytest made it."""


def attach(report: pytest.TestReport, case_reports: list[CaseReport], *, leaves_process: bool) -> None:
    """Put *case_reports* on *report*."""
    if leaves_process:
        setattr(report, ATTRIBUTE, "\n".join(chain.from_iterable(map(_lines, case_reports))))
    else:
        _here[report] = case_reports


def unpack(report: pytest.TestReport) -> list[CaseReport]:
    """Return what *report* carries; nothing where it is not ours."""
    if (found := _here.get(report)) is not None:
        return found
    text = getattr(report, ATTRIBUTE, None)
    if text is None:
        return []
    lines = iter(text.split("\n"))
    case_reports = [_case_report(*three) for three in zip(lines, lines, lines, strict=True)]
    _here[report] = case_reports  # several plugins ask
    delattr(report, ATTRIBUTE)  # pytest holds reports to the end, and answers are large
    return case_reports


def let_go(report: pytest.TestReport) -> None:
    """Drop what *report* carries, once everybody has unpacked it: pytest holds reports to the end."""
    _here.pop(report, None)


def _lines(one: CaseReport) -> tuple[str, str, str]:
    """Return *one* as three lines: the result, as the history will have it; what many cases share; the answers."""
    from ..core.json import dumps
    from ..history.codec import CaseJson

    shared = dumps([one.path, one.variant, one.provenance])
    case = CaseJson.of(one.result, one.recordings)
    return case.result.decode(), shared, case.answers.decode() or "[]"


def _case_report(result: str, shared: str, recordings: str) -> CaseReport:
    from ..core.run import CaseResult

    path, variant, provenance = _of_run(shared)
    read = CaseResult.from_dict(json.loads(result))
    return CaseReport(path, variant, read, provenance, json.loads(recordings))


@lru_cache(maxsize=64)
def _of_run(shared: str) -> tuple[str, str, dict[str, Any]]:
    """Return path, variant and provenance: as within a process, cases of which it is equal have the same."""
    path, variant, provenance = json.loads(shared)
    return path, variant, provenance


def run_provenance(said: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the provenance of a run, and a sentence on what differs between its cases, or an empty one.

    *said* is that of each case.  A value that differs is the text of all there are, so that it is equal to none of
    them: what was asked under two conditions compares with neither.
    """
    different: list[Mapping[str, Any]] = []
    for one in said:
        if not any(one is known or one == known for known in different):
            different.append(one)
    if len(different) <= 1:
        return dict(different[0]) if different else {}, ""
    out: dict[str, Any] = {}
    differing: list[str] = []
    for key in dict.fromkeys(key for one in different for key in one):
        values = [one.get(key, "not said") for one in different]
        if all(value == values[0] for value in values):
            out[key] = values[0]
        else:
            out[key] = " and ".join(sorted({str(value) for value in values}))
            differing.append(f"{key} {out[key]}")
    return out, f"not all cases were asked under the same conditions: {', '.join(differing)}"
