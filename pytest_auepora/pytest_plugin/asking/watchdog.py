"""A word about a call that does not come back: without a time limit a run would hang and not say over which case.

A thread looks now and then at what pytest itself says is running (``PYTEST_CURRENT_TEST``): a case costs nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

import pytest

from ..session import SUFFIXES

AFTER = 30.0
"""Seconds of the call phase after which it is told, once a case."""
EVERY = 5.0
"""Seconds between two looks."""


def copy_of_stderr() -> int | None:
    """Return a file descriptor of what is standard error now (during a test pytest has another), None without any."""
    try:
        return os.dup(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return None


class Watchdog:
    """Watches over the cases of this process; a worker of pytest-xdist watches over its own."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._watching: threading.Thread | None = None
        self._stderr = copy_of_stderr()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin to watch."""
        if self._stderr is not None and session.items and not session.config.option.collectonly:
            self._watching = threading.Thread(target=self._watch, name="auepora-watchdog", daemon=True)
            self._watching.start()

    def pytest_unconfigure(self) -> None:
        """Stop."""
        self._over.set()
        if self._watching is not None:
            self._watching.join()
        if self._stderr is not None:
            os.close(self._stderr)

    def _watch(self) -> None:
        running, waited = "", 0.0
        while not self._over.wait(EVERY):
            now = os.environ.get("PYTEST_CURRENT_TEST", "")
            running, waited = (now, waited + EVERY) if now == running else (now, 0.0)
            name, _, phase = now.rpartition(" ")
            golden = phase == "(call)" and name.partition("::")[0].endswith(SUFFIXES)
            if golden and waited >= AFTER > waited - EVERY:
                self._say(
                    f"\nauepora: {name} has been running for {waited:.0f} s "
                    "(--auepora-timeout SECONDS gives up on a call)\n"
                )

    def _say(self, text: str) -> None:
        if self._stderr is not None:
            with suppress(OSError):
                os.write(self._stderr, text.encode(errors="replace"))
