"""Why a call failed, in lines: the error, the frames of the user's own code, and what caused it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import TracebackType

from ..errors import message_of

__all__ = ["describe_error"]

_MOST = 3
"""Errors of a group, and causes, that are named."""


def describe_error(error: BaseException, frames: int = 6) -> str:
    """Return ``Type: message``; below, the innermost frames of the user's own code, and what caused the error.

    A group of errors, as ``asyncio.TaskGroup`` raises, says little by itself: the first line has what is in
    it as well, and the frames and causes are those of its first error.
    """
    told, inner = _only(error), error
    if (errors := list(_inside(error))) != [error]:
        named = list(dict.fromkeys(_only(one).partition("\n")[0] for one in errors))
        more = f"; and {len(named) - _MOST} more" if len(named) > _MOST else ""
        told, inner = f"{told}: {'; '.join(named[:_MOST])}{more}", errors[0]
    return "\n".join([told, *(_frames(inner, frames) or _frames(error, frames)), *_causes(inner)])


def _only(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


def _inside(error: BaseException) -> Iterator[BaseException]:
    """Give the errors of a group, and of groups in it; of any other error itself.  Python 3.10 knows no groups."""
    inner = getattr(error, "exceptions", None)
    if isinstance(inner, tuple) and inner and all(isinstance(one, BaseException) for one in inner):
        for one in inner:
            yield from _inside(one)
    else:
        yield error


def _frames(error: BaseException, most: int) -> list[str]:
    entries = list(_entries(error.__traceback__))
    shown = [i for i, tb in enumerate(entries) if "pytest_auepora" not in tb.tb_frame.f_code.co_filename][-most:]
    if not shown:
        return []
    # a test runner stands before them with dozens of frames, whose sources nobody asks for
    stack = [f for f in traceback.extract_tb(entries[shown[0]]) if "pytest_auepora" not in f.filename]
    return ["".join(traceback.format_list(stack)).rstrip()]


def _entries(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _causes(error: BaseException) -> Iterator[str]:
    """Name what *error* was raised for or amid; libraries that wrap an error in their own repeat its words."""
    seen, said = {id(error)}, {message_of(error)}
    for _ in range(_MOST):
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen:
            return
        if message_of(cause) not in said:
            yield f"{'caused by' if error.__cause__ else 'while handling'} {_only(cause).partition(chr(10))[0]}"
        seen.add(id(cause))
        said.add(message_of(cause))
        error = cause
