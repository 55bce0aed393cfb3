"""What travels from the process that ran a case to the one that judges the run.

One JSON string on the report: pytest-xdist carries builtins only, and a numpy float would end the session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from ..core.run import CaseResult

__all__ = ["Parcel", "attach", "unpack"]

_ATTRIBUTE = "auepora"


@dataclass(slots=True)
class Parcel:
    """One case result, and which run it belongs to.  ``path`` is the golden file, relative to the rootdir."""

    path: str
    variant: str
    result: CaseResult
    provenance: dict[str, Any] = field(default_factory=dict)


def attach(report: pytest.TestReport, parcels: Iterable[Parcel]) -> None:
    """Put *parcels* on *report*."""
    setattr(report, _ATTRIBUTE, json.dumps([asdict(p) for p in parcels], ensure_ascii=False, default=str))


def unpack(report: pytest.TestReport) -> list[Parcel]:
    """Return the parcels on *report*; none on a report that is not ours."""
    text = getattr(report, _ATTRIBUTE, None)
    if text is None:
        return []
    return [Parcel(**{**raw, "result": CaseResult.from_dict(raw["result"])}) for raw in json.loads(text)]
