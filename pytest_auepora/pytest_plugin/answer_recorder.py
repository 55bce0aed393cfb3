"""Recording in the process that runs the cases: every answer is packed as it is measured, redacted by the project."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.metrics_base import Metric
from ..core.run import CaseResult
from ..core.types import SystemOutputs
from ..evaluation.recording import RecordedAnswer, Recording, record
from ..io.golden.load import GoldenCase

if TYPE_CHECKING:
    from .session import AueporaSession

__all__ = ["Keeper", "make_keeper"]


def make_keeper(session: AueporaSession) -> Keeper | None:
    """Return what records answers, or None where none are to be kept: no history, a replay, ``answers=none``."""
    from .history_recorder import history_place

    config = session.config
    keep = session.options.keep
    if keep.answers == 0 or not config.pluginmanager.hasplugin("auepora-running") or history_place(config) is None:
        return None
    if session.answers.asks_nothing:
        return None  # the run that is replayed has them
    return Keeper(session, sys.maxsize if keep.characters is None else keep.characters)


class Keeper:
    """Holds what was recorded of a case until its result leaves; one per process."""

    def __init__(self, session: AueporaSession, cap: int) -> None:
        self._session, self._cap = session, cap
        self._kept: dict[str, list[Recording]] = {}

    def observe(
        self,
        case: GoldenCase,
        result: CaseResult,
        answer: SystemOutputs | RecordedAnswer | None,
        metrics: Mapping[str, Metric],
    ) -> None:
        """Record one measured answer; one that is recorded already stays as it is."""
        if isinstance(answer, RecordedAnswer):
            kept = answer.recording
        else:
            session = self._session
            redact = session.project.redact if session.project.redacts else None
            kept = record(case, result, answer, metrics, redact=redact, cap=self._cap)
        self._kept.setdefault(case.id, []).append(kept)

    def take(self, case_id: str) -> list[Recording]:
        """Return, and forget, what was recorded of a case, repeats in order."""
        return self._kept.pop(case_id, [])
