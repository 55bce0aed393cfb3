"""Cases with ``benchmark:`` are timed by pytest-benchmark's own fixture, so its tables and comparisons work on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ..calls.call import CallResult
from ..calls.caller import Caller
from .compat import has_pytest_benchmark

__all__ = ["timed_call"]


def timed_call(
    item: pytest.Function, caller: Caller, ask: Callable[[], Any], options: dict[str, Any], limit: float | None
) -> CallResult:
    """Call the system as often as pytest-benchmark wants, and return the last call with the median time of all.

    A call that fails ends the timing.  Fails the item where pytest-benchmark is not active.
    """
    if not has_pytest_benchmark(item.config):
        pytest.fail(
            "this case has `benchmark:` and is timed by pytest-benchmark, which is not active: "
            "pip install 'pytest-auepora[benchmark]'",
            pytrace=False,
        )
    request: Any = item.funcargs["request"]
    fixture = request.getfixturevalue("benchmark")
    if "group" in options:
        fixture.group = options["group"]
    done: list[CallResult] = []

    def once() -> CallResult:
        if not done or done[-1].error is None:
            done.append(caller.call((item, len(done)), ask, timeout=limit))
        return done[-1]

    how = {k: v for k, v in options.items() if k != "group"}
    if how:
        fixture.pedantic(once, **how)
    else:
        fixture(once)
    last = done[-1]
    if last.error is None:
        last.seconds = sorted(c.seconds for c in done)[len(done) // 2]
    return last
