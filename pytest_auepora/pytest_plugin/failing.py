"""How the failure of a golden case becomes a report: by its text alone, for a failing run must not be a slow run.

pytest walks, filters and formats the traceback of every failure, also where it shows none of it, which takes longer
than the case.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import pytest

from .compat import plain_failure
from .keys import CASE

__all__ = ["show_plainly", "wants_traceback"]


def wants_traceback(config: pytest.Config) -> bool:
    """Whether the user asked to see, or step into, frames; else a short text serves (and is fast)."""
    asked = config.getoption("usepdb", False) or config.getoption("fulltrace", False)
    return bool(asked) or config.getoption("tbstyle", "auto") in ("long", "native")


def show_plainly(item: pytest.Item) -> None:
    """Let failures of *item*, a golden case, that show no traceback be told without looking at one."""
    if type(item).repr_failure is pytest.Function.repr_failure:  # else some plugin has its own way
        item.__dict__["repr_failure"] = MethodType(_repr_failure, item)


def _repr_failure(item: pytest.Item, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    error = excinfo.value
    if isinstance(error, pytest.fail.Exception) and not error.pytrace and not (error.__cause__ or error.__context__):
        shown = plain_failure(str(error), str(item.path), item.stash[CASE].line)
        if shown is not None:
            return shown
    return type(item).repr_failure(item, excinfo)
