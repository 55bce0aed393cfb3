"""A flag that is set once and can be waited for, safe against Ctrl-C.

`threading.Event` is written in Python: an interrupt that arrives while its inner lock is being taken leaves the
lock taken for ever, and whoever asks next hangs.  Here the only lock operations are single calls into C.
"""

from __future__ import annotations

import threading

__all__ = ["Latch"]


class Latch:
    """Set once; never cleared."""

    __slots__ = ("_is_set", "_lock")

    def __init__(self) -> None:
        self._is_set = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        """Let everybody through, now and later.  To be called once."""
        self._is_set = True
        self._lock.release()

    def is_set(self) -> bool:
        """Whether it was set."""
        return self._is_set

    def wait(self, timeout: float) -> bool:
        """Wait at most *timeout* seconds; return whether it is set."""
        if not self._is_set and self._lock.acquire(timeout=max(0.0, timeout)):
            self._lock.release()  # for the next one who waits
        return self._is_set
