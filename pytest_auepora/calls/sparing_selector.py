"""A selector for a loop whose thread shares the interpreter with a busy one."""

from __future__ import annotations

import selectors
from time import monotonic

__all__ = ["SparingSelector"]

_EVERY = 0.001  # seconds


class SparingSelector(selectors.DefaultSelector):
    """While callbacks are ready to run, asks the operating system once a millisecond and not at every turn.

    Asking gives the interpreter's lock away even where there is nothing to wait for, and a busy thread keeps it for
    5 ms or longer: a coroutine takes three turns to end and to make room for the next one.
    """

    _asked = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready; *timeout* in seconds, 0 where callbacks are."""
        if timeout is not None and timeout <= 0 and monotonic() - self._asked < _EVERY:
            return []
        found = super().select(timeout)
        self._asked = monotonic()
        return found
