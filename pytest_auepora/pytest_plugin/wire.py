"""What travels from the process that ran a case to the one that judges the run.

A worker puts one JSON string on the report: pytest-xdist carries builtins only, and a numpy float would end
the session.  Within one process the results themselves are handed over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..evaluation.document_texts import Recording

__all__ = ["Parcel", "attach", "let_go", "unpack"]

_ATTRIBUTE = "auepora"


@dataclass(eq=False, repr=False, slots=True)
class Parcel:
    """One case result, and which run it belongs to.

    ``path`` is the golden file, relative to the rootdir; ``recordings`` what is kept of the answers, repeats in order.
    """

    path: str
    variant: str
    result: CaseResult
    provenance: dict[str, Any] = field(default_factory=dict)
    recordings: list[Recording] = field(default_factory=list)


_here: WeakKeyDictionary[pytest.TestReport, list[Parcel]] = WeakKeyDictionary()
"""By report, so that a report stays as serialisable as pytest made it."""


def attach(report: pytest.TestReport, parcels: list[Parcel], *, leaves_process: bool) -> None:
    """Put *parcels* on *report*."""
    if leaves_process:
        from ..core.json_text import dumps

        text = dumps(parcels)
        setattr(report, _ATTRIBUTE, text)
    else:
        _here[report] = parcels


def unpack(report: pytest.TestReport) -> list[Parcel]:
    """Return the parcels on *report*; none on a report that is not ours."""
    if (found := _here.get(report)) is not None:
        return found
    text = getattr(report, _ATTRIBUTE, None)
    if text is None:
        return []
    from ..core.run import CaseResult

    parcels = [Parcel(**{**raw, "result": CaseResult.from_dict(raw["result"])}) for raw in json.loads(text)]
    _here[report] = parcels  # several plugins ask
    delattr(report, _ATTRIBUTE)  # pytest holds reports to the end, and answers are large
    return parcels


def let_go(report: pytest.TestReport) -> None:
    """Forget the parcels on *report*, once everybody has unpacked them: pytest holds reports to the end."""
    if (parcels := _here.pop(report, None)) is not None:
        parcels.clear()  # their item has the same list
