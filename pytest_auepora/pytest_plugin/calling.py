"""What makes the calls of one pytest process: one caller for functions, one for coroutines, timed ones.

Cases with ``benchmark:`` are timed by pytest-benchmark's own fixture, so its tables and comparisons work on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System
from ..calls.call import CallResult
from ..calls.caller import Caller
from .compat import has_pytest_benchmark
from .options import Options

if TYPE_CHECKING:
    import asyncio

__all__ = ["ASYNC_CONCURRENCY", "Callers", "timed_call"]

ASYNC_CONCURRENCY = 8
"""Calls in flight for async systems unless the user says otherwise: their clients are made for it."""


class Callers:
    """Made when first needed, closed at the end.

    Args:
        config: pytest's.
        options: what the user asks for.
        preload: called once, while the first of overlapping calls are awaited.
    """

    def __init__(self, config: pytest.Config, options: Options, preload: Callable[[], Any]) -> None:
        self._config = config
        self._options = options
        self._preload = preload
        self._processes = int(getattr(config, "workerinput", {}).get("workercount", 1))
        self._callers: dict[tuple[bool, bool], Caller] = {}
        self._asking: tuple[pytest.Item, asyncio.Task[Any]] | None = None

    def of(self, system: System) -> Caller:
        """Return what makes the calls of *system*."""
        if (caller := self._callers.get(key := (system.is_async, system.is_coroutine))) is None:
            concurrency = self._concurrency(is_async=system.is_async)
            stops_early = self._config.getoption("maxfail", 0)
            caller = self._callers[key] = Caller(
                concurrency,
                processes=self._processes,
                lookahead=concurrency if stops_early and concurrency > 1 else None,
                timeout=self._options.timeout,
                retry=self._options.retry,
                coroutines=system.is_coroutine,
                blocks=not system.is_async,
                preload=self._preload if concurrency > 1 else None,
            )
        return caller

    def _concurrency(self, *, is_async: bool) -> int:
        if hasattr(self._config, "workerinput"):
            return 1  # a worker's items are everybody's list, not its own share, so it cannot look ahead
        if self._options.seed is not None:
            return 1  # calls side by side draw from the same global generators in whatever order they get there
        return self._options.concurrency or (ASYNC_CONCURRENCY if is_async else 1)

    @property
    def ahead(self) -> bool:
        """Whether calls may have been started that nobody has asked for."""
        return any(caller.concurrency > 1 for caller in self._callers.values())

    def asks_here(self, item: pytest.Item) -> None:
        """Take note that the running task asks for *item*, if it is its own: pytest-asyncio makes one for each test."""
        if item.get_closest_marker("asyncio") is not None:
            import asyncio

            task = asyncio.current_task()
            self._asking = (item, task) if task is not None else None

    def forget(self, item: pytest.Item) -> None:
        """Give up the calls of *item*, which somebody ended: what it has started beside the one it waited for.

        And its task: what ends a loop from outside, as pytest-timeout does, leaves it there, for later cases to run.
        """
        if self._asking is not None and self._asking[0] is item:
            (_, task), self._asking = self._asking, None
            if not task.done() and not task.get_loop().is_closed():
                task.cancel()
        for caller in self._callers.values():
            caller.forget(lambda key: isinstance(key, tuple) and key[0] is item)

    def drop(self) -> None:
        """Forget calls started early: the systems they use are about to go."""
        for caller in self._callers.values():
            caller.drop()

    def close(self) -> None:
        """Cancel what still runs."""
        for caller in self._callers.values():
            caller.close()
        self._callers.clear()


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
