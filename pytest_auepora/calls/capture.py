"""Separates output by call: what an early call prints and logs is kept until its owner asks for its result.

`OutputSplitter` puts itself in front of the streams' ``write`` and in front of the root logger's handlers.  Text
printed outside of any early call passes through untouched.  What cannot be separated: threads that a call starts
without copying its context; output that does not go through ``sys.stdout``, such as a child process's; a stream whose
``write`` cannot be shadowed.
"""

from __future__ import annotations

import contextvars
import copy
import logging
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Literal


class CallOutput:
    """What one call prints and logs: kept until it is handed over, then passed through; dropped if it is given up."""

    def __init__(self) -> None:
        self.mode: Literal["keep", "pass", "drop"] = "keep"
        self._texts: list[tuple[str, str]] = []  # stdout or stderr, and the text
        self._records: list[logging.LogRecord] = []
        self._last: logging.LogRecord | None = None

    def keep(self, stream: str, text: str) -> None:
        """Keep what the call printed."""
        if self.mode == "keep":
            self._texts.append((stream, text))

    def keep_record(self, record: logging.LogRecord) -> None:
        """Keep what the call logged; several handlers see one record."""
        if self.mode == "keep" and record is not self._last:
            self._last = record
            self._records.append(_freeze(record))

    def hand_over(self) -> None:
        """Print and log here what was kept; what comes later passes through.

        Raises:
            Exception: what a log handler raises for a faulty record.
        """
        if self.mode == "keep":
            self.mode = "pass"
        texts, self._texts, records, self._records = self._texts, [], self._records, []
        for name, text in texts:
            if (stream := getattr(sys, name)) is not None:
                stream.write(text)
        handlers = [handler for handler in logging.root.handlers if keep_with_call in handler.filters]
        for record in records:
            for handler in handlers:
                if record.levelno >= handler.level:
                    handler.handle(record)

    @classmethod
    def current(cls) -> CallOutput | None:
        """Return the running call's; None where output goes straight through."""
        output = CURRENT.get()
        return None if output is None or output.mode == "pass" else output


CURRENT: contextvars.ContextVar[CallOutput | None] = contextvars.ContextVar("auepora_call_output", default=None)
"""The output of the call that runs in this context."""


class OutputSplitter:
    """Installs the splitting; one for a session.

    ``install`` is cheap and may be repeated: it covers whatever ``sys.stdout``, ``sys.stderr`` and the root
    logger's handlers are at the time, since pytest swaps them between phases.  As it shadows the ``write`` of the
    stream objects themselves, a stream once covered stays so when it is swapped out and in again.
    """

    def __init__(self) -> None:
        self._restore = ExitStack()

    def install(self) -> None:
        """Cover the current streams and root handlers."""
        for handler in logging.root.handlers:
            if keep_with_call not in handler.filters:
                handler.addFilter(keep_with_call)
                self._restore.callback(handler.removeFilter, keep_with_call)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if "write" not in getattr(stream, "__dict__", ("write",)):
                stream.write = _splitting_write(name, stream.write)
                self._restore.callback(stream.__dict__.pop, "write", None)

    def uninstall(self) -> None:
        """Leave everything as it was found."""
        self._restore.close()


def _splitting_write(name: str, write: Callable[[str], int]) -> Callable[[str], int]:
    def write_or_keep(text: str) -> int:
        output = CallOutput.current()
        if output is None:
            return write(text)
        output.keep(name, text)
        return len(text)

    return write_or_keep


def keep_with_call(record: logging.LogRecord) -> bool:
    """Filter for log handlers: keep a record made inside an early call with that call."""
    output = CallOutput.current()
    if output is None:
        return True
    output.keep_record(record)
    return False


def _freeze(record: logging.LogRecord) -> logging.LogRecord:
    """Format now what may have changed by the time it is replayed."""
    frozen = copy.copy(record)
    try:
        frozen.msg, frozen.args = record.getMessage(), None
    except Exception:  # a faulty log call: its handler raises, in the item that made it
        return record
    return frozen
