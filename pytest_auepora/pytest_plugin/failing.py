"""How the failure of a golden case becomes a report: by its text alone, for a failing run must not be a slow run.

pytest walks, filters and formats the traceback of every failure, also where it shows none of it, which takes longer
than the case.
"""

from __future__ import annotations

from copy import copy
from itertools import takewhile
from traceback import walk_tb
from types import FrameType, MethodType
from typing import Any

import pytest

from .compat import plain_failure
from .keys import CASE

__all__ = ["show_quickly", "wants_traceback"]

_SHOWN = "_auepora_shown"


def wants_traceback(config: pytest.Config) -> bool:
    """Whether the user asked to see, or step into, frames; else a short text serves (and is fast)."""
    asked = config.getoption("usepdb", False) or config.getoption("fulltrace", False)
    return bool(asked) or config.getoption("tbstyle", "auto") in ("long", "native")


def show_quickly(item: pytest.Item, when: str) -> None:
    """Let a failure of *item*, a golden case, that shows no traceback be told without looking at one.

    And one that many cases share, as that of a fixture they all need, by looking at it once.
    """
    own = "repr_failure" if when == "call" else "_repr_failure_py"
    theirs = getattr(pytest.Function, own, None)
    if theirs is not None and getattr(type(item), own, None) is theirs:  # else some plugin has its own way
        item.__dict__[own] = MethodType(_repr_failure if when == "call" else _repr_shared, item)


def _repr_failure(item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    error = excinfo.value
    if isinstance(error, pytest.fail.Exception) and not error.pytrace and not (error.__cause__ or error.__context__):
        text = str(error)
        shown = plain_failure(text, _headline(text), str(item.path), item.stash[CASE].line)
        if shown is not None:
            return shown
    return type(item).repr_failure(item, excinfo)


def _headline(text: str) -> str:
    """Return the first line of *text*, with the indented ones that go on with it."""
    first, *others = text.split("\n")
    return " ".join([first, *(line.strip() for line in takewhile(lambda line: line.startswith("  "), others))])


def _repr_shared(item: Any, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
    """What a failed set-up shows: a fixture that failed raises the same exception, from the same frames, ever after.

    The exception itself carries what it was shown as, for it lives as long as it can be raised again.
    """
    error = excinfo.value
    places = [(id(frame), frame.f_code, line) for frame, line in walk_tb(error.__traceback__) if not _inner(frame)]
    if not places or style == "native" or item.config.getoption("fulltrace", False):  # shows pytest's frames as well
        return type(item)._repr_failure_py(item, excinfo, style)
    seen, shown = error.__dict__.get(_SHOWN, (None, None))
    if seen != (style, places):
        shown = type(item)._repr_failure_py(item, excinfo, style)
        error.__dict__[_SHOWN] = (style, places), shown
    mine = copy(shown)
    if hasattr(mine, "sections"):  # which plugins may add to
        mine.sections = list(mine.sections)
    return mine


def _inner(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("_pytest", "pluggy")
