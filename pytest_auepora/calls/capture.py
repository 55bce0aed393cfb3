"""Whose output is whose: what an early call prints and logs stays with it until its owner asks for its result.

`OutputSplitter` puts itself in front of the streams' ``write`` and in front of the root logger's handlers.  Text
printed outside of any early call passes through untouched.  What cannot be told apart: threads that a call starts
without copying its context, and output that does not go through ``sys.stdout``, such as a child process's.
"""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Callable
from typing import Any

from .call import Call, CallResult, capturing_call

__all__ = ["OutputSplitter", "handed_over", "keep_with_call"]

_STREAMS = ("stdout", "stderr")


class OutputSplitter:
    """Installs the splitting; one for a session.

    ``install`` is cheap and may be repeated: it takes in whatever ``sys.stdout``, ``sys.stderr`` and the root
    logger's handlers are at the time, since pytest swaps them between phases.  As it shadows the ``write`` of the
    stream objects themselves, a stream once taken in stays so when it is swapped out and in again.
    """

    def __init__(self) -> None:
        self._shadowed: list[Any] = []
        self._replaced: list[tuple[str, Any, Any]] = []
        self._handlers: list[logging.Handler] = []
        self._seen: tuple[Any, Any] = None, None

    def install(self) -> None:
        """Take in the current streams and root handlers."""
        for handler in logging.root.handlers:
            if keep_with_call not in handler.filters:
                handler.addFilter(keep_with_call)
                self._handlers.append(handler)
        if sys.stdout is self._seen[0] and sys.stderr is self._seen[1]:
            return  # as in most phases: they were taken in, and stay so
        for name in _STREAMS:
            stream = getattr(sys, name)
            if stream is not None and not isinstance(stream, _Proxy) and "write" not in getattr(stream, "__dict__", ()):
                self._take_in(name, stream)
        self._seen = sys.stdout, sys.stderr

    def uninstall(self) -> None:
        """Leave everything as it was found."""
        for stream in self._shadowed:
            stream.__dict__.pop("write", None)
        for name, proxy, stream in self._replaced:
            if getattr(sys, name) is proxy:
                setattr(sys, name, stream)
        for handler in self._handlers:
            handler.removeFilter(keep_with_call)
        self.__init__()  # type: ignore[misc]

    def __enter__(self) -> OutputSplitter:
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        self.uninstall()

    def _take_in(self, name: str, stream: Any) -> None:
        try:
            stream.write = _splitting(name, stream.write)
        except AttributeError:  # an object that takes no attributes
            proxy = _Proxy(name, stream)
            setattr(sys, name, proxy)
            self._replaced.append((name, proxy, stream))
        else:
            self._shadowed.append(stream)


def _splitting(name: str, write: Callable[[str], int]) -> Callable[[str], int]:
    def write_or_keep(text: str) -> int:
        call = capturing_call()
        if call is None:
            return write(text)
        call.keep(name, text)
        return len(text)

    return write_or_keep


class _Proxy:
    """Stands in for a stream whose ``write`` cannot be shadowed."""

    def __init__(self, name: str, stream: Any) -> None:
        self._stream = stream
        self.write = _splitting(name, stream.write)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def keep_with_call(record: logging.LogRecord) -> bool:
    """Filter for log handlers: keep a record made inside an early call with that call."""
    call = capturing_call()
    if call is None:
        return True
    if record is not call.last_record:  # several handlers see one record
        call.last_record = record
        call.keep_record(_frozen(record))
    return False


def _frozen(record: logging.LogRecord) -> logging.LogRecord:
    """Format now what may have changed by the time it is replayed."""
    frozen = copy.copy(record)
    try:
        frozen.msg, frozen.args = record.getMessage(), None
    except Exception:  # a faulty log call: its handler shall complain, in the item that made it
        return record
    return frozen


def handed_over(call: Call) -> CallResult:
    """Hand *call* over to its owner: what it gave, and, here and now, what it printed and logged."""
    result = call.take()
    if call.output or call.records:
        try:
            _replay(call)
        except Exception as exc:  # a handler complains of a faulty log call, as pytest's does: there it ends the call
            if result.error is None:
                result.value, result.error = None, exc
    return result


def _replay(call: Call) -> None:
    output, call.output = call.output, []
    records, call.records = call.records, []
    for name, text in output:
        stream = getattr(sys, name)
        if stream is not None:
            stream.write(text)
    handlers = [h for h in logging.getLogger().handlers if keep_with_call in h.filters]
    for record in records:
        for handler in handlers:
            if record.levelno >= handler.level:
                handler.handle(record)
