"""One bounded, timed, cancellable RAG call, and many at once."""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_auepora.errors import CallTimeoutError

__all__ = ["CallResult", "Caller"]

_POLL = 0.2


@dataclass
class CallResult:
    """What one call gave, how long it took, and what it printed and logged."""

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    attempts: int = 1
    retry_reasons: list[str] = field(default_factory=list)
    concurrency: int = 1
    output: list[tuple[str, str]] = field(default_factory=list)
    records: list[logging.LogRecord] = field(default_factory=list)
    timed_out: bool = False


class Caller:
    """Calls one after the other, each in time or given up."""

    def __init__(
        self,
        concurrency: int = 1,
        *,
        lookahead: int | None = None,
        timeout: float | None = None,
        retry: Any = None,
        grace: float = 1.0,
    ) -> None:
        self.concurrency = concurrency
        self.timeout = timeout
        self.started = 0

    def call(
        self,
        key: Hashable,
        fn: Callable[[], Any],
        upcoming: Iterable[tuple[Hashable, Callable[[], Any]]] = (),
        *,
        timeout: float | None = None,
    ) -> CallResult:
        """Call *fn* and wait for it, at most *timeout* seconds."""
        timeout = self.timeout if timeout is None else timeout
        self.started += 1
        result = CallResult()
        if timeout is None:
            _run(fn, result)
            return result
        done = threading.Event()

        def work() -> None:
            try:
                _run(fn, result)
            except BaseException as exc:
                result.error = exc
            done.set()

        threading.Thread(target=work, name="auepora-call", daemon=True).start()
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0 and not done.wait(min(left, _POLL)):
            pass
        if not done.is_set():
            late = CallTimeoutError(f"no answer within {timeout:g} s")
            return CallResult(error=late, seconds=timeout, timed_out=True)
        return result

    async def acall(
        self,
        key: Hashable,
        fn: Callable[[], Any],
        upcoming: Iterable[tuple[Hashable, Callable[[], Any]]] = (),
        *,
        timeout: float | None = None,
    ) -> CallResult:
        """Call *fn* in the running loop."""
        import asyncio

        timeout = self.timeout if timeout is None else timeout
        self.started += 1
        result = CallResult()
        start = time.perf_counter()
        try:
            value = fn()
            result.value = await asyncio.wait_for(value, timeout) if inspect.isawaitable(value) else value
        except asyncio.TimeoutError:
            result.error = CallTimeoutError(f"no answer within {timeout:g} s")
            result.timed_out = True
        except Exception as exc:
            result.error = exc
        result.seconds = time.perf_counter() - start
        return result

    def drop(self) -> None:
        """Forget what was started early."""

    def close(self) -> None:
        """Stop everything."""


def _run(fn: Callable[[], Any], result: CallResult) -> None:
    start = time.perf_counter()
    try:
        value = fn()
        if inspect.isawaitable(value):
            import asyncio

            async def settle() -> Any:
                return await value

            value = asyncio.run(settle())
        result.value = value
    except KeyboardInterrupt:
        raise
    except BaseException as exc:
        result.error = exc
    result.seconds = time.perf_counter() - start
