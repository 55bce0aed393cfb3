"""Keeps every finished run in the project's history; a history that cannot be written is a note, never a failure."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

from ..core.run import Run
from ..regression.verdict import Verdict
from .keys import SESSION

if TYPE_CHECKING:
    from ..reporting.past import Past

__all__ = ["Recorder", "make_recorder"]


def make_recorder(config: pytest.Config) -> Recorder | None:
    """Return what records the runs of *config*, or None where no history is wanted."""
    if config.getoption("auepora_no_history"):
        return None
    from ..history.places import find_place
    from ..history.store import KEEP

    place = find_place(config.getini("auepora_history"), config.rootpath)
    text = config.getini("auepora_history_keep") or str(KEEP)
    if not text.isdecimal():
        raise pytest.UsageError(f"auepora_history_keep is a number of runs, 0 for all, got {text!r}")
    return Recorder(config, str(place), int(text)) if place is not None else None


class Recorder:
    """One per pytest run; controller only."""

    def __init__(self, config: pytest.Config, place: str, keep: int) -> None:
        self.config = config
        self.place = place
        self.keep = keep
        self.started = datetime.now(timezone.utc)
        self._began = perf_counter()
        self._ids: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_auepora_run_finished(self, run: Run, verdict: Verdict) -> None:
        """Store the run as it stands after every other implementation."""
        from ..history.store import HistoryStore

        try:
            self._ids[run.title] = HistoryStore(self.place).add(
                run, verdict, started=self.started, seconds=perf_counter() - self._began,
                git_commit=self.config.stash[SESSION].commit, keep=self.keep,
            )  # fmt: skip
        except Exception as exc:  # whatever it is, the verdict stands and has to be shown
            verdict.notes.append(f"not kept in the history: {exc}")

    def pasts(self, runs: Sequence[Run]) -> dict[str, Past]:
        """Return what the history knows of the time before *runs*, by their titles; what it cannot say is left out."""
        from ..history.store import HistoryStore
        from ..reporting.past import past_of

        out: dict[str, Past] = {}
        for run in runs:
            with suppress(Exception):  # said by the verdict already: this very run could not be kept either
                out[run.title] = past_of(HistoryStore(self.place), run, self._ids[run.title])
        return out
