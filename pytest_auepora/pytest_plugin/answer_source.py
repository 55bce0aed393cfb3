"""Where the answers of one process come from and go to: the system, an earlier run, the recordings of this one."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from ..adapters.systems import System
from ..evaluation.replay import Answering
from ..io.golden.load import GoldenCase, GoldenSuite

if TYPE_CHECKING:
    from .replay import Replay
    from .session import AueporaSession

__all__ = ["Answers"]


class Answers:
    """One per process; what is not wanted is not imported."""

    def __init__(self, session: AueporaSession) -> None:
        self._session = session

    @cached_property
    def replay(self) -> Replay | None:
        """The earlier run that answers in place of the system, if one is to."""
        option = self._session.config.option
        if not (option.auepora_replay or option.auepora_resume):
            return None
        from .replay import make_replay

        return make_replay(self._session.config)

    @cached_property
    def record_cap(self) -> int:
        """Characters kept of each answer; 0 where none is: no history, no run of cases, a replay, ``answers=none``."""
        from .history_recorder import history_place

        config, keep = self._session.config, self._session.options.keep
        if keep.answers == 0 or not config.pluginmanager.hasplugin("auepora-running") or history_place(config) is None:
            return 0
        if self.asks_nothing:
            return 0  # the run that is replayed has them
        return sys.maxsize if keep.characters is None else keep.characters

    @property
    def asks_nothing(self) -> bool:
        """Whether the system may not be called, nor be made."""
        return self.replay is not None and self.replay.asks_nothing

    def source(self, suite: GoldenSuite, variant: str, system: System) -> System:
        """Return *system*, with the answers of the earlier run that is resumed."""
        if self.replay is None or isinstance(system, Answering):
            return system
        return self.replay.resumed(suite, variant, system, self._session.provenance(suite, system))

    def times(self, suite: GoldenSuite, case: GoldenCase, system: System) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        session = self._session
        if session.options.repeat is None and isinstance(system, Answering) and system.base is None:
            return system.times(case)
        return session.repeats(suite)

    def times_each(self, suite: GoldenSuite, system: System) -> int:
        """Return how often the cases of *suite* are asked where all are asked as often."""
        return max((self.times(suite, case, system) for case in suite.cases), default=1)
