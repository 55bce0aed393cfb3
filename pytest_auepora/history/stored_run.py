"""`StoredRun`: what the list of runs says about one, without its results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .database import Row

__all__ = ["LISTED", "StoredRun", "listed"]

LISTED = (
    "run_id", "started", "suite", "variant", "path", "git_commit", "seconds", "complete", "outcome", "cases",
    "failed", "aggregate_json", "origin",
)  # fmt: skip
"""The columns it takes."""


class StoredRun(NamedTuple):
    """One line of the list of runs.

    ``started`` is ISO 8601 in UTC; ``complete`` whether every case of the suite ran; ``failed`` how many cases
    failed or errored; ``aggregate`` the stored aggregate, four decimals; ``origin`` is ``replayed RUN`` or
    ``resumed RUN`` where answers came from an earlier run.
    """

    run_id: str
    started: str
    suite: str
    variant: str
    path: str
    git_commit: str
    seconds: float
    complete: bool
    outcome: str
    cases: int
    failed: int
    aggregate: Mapping[str, Any] = MappingProxyType({})
    origin: str = ""

    @property
    def title(self) -> str:
        """``billing`` or ``billing[bm25]``."""
        return f"{self.suite}[{self.variant}]" if self.variant else self.suite


def listed(row: Row) -> StoredRun:
    """Return what one row of `LISTED` columns says."""
    said = dict(zip(LISTED, row, strict=True))
    said["complete"], said["aggregate"] = bool(said["complete"]), json.loads(said.pop("aggregate_json"))
    return StoredRun(**said)
