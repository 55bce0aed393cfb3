"""How the tests of calls ask for them: as a session of items does, one after the other, naming all that follow."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator

from pytest_auepora.calls.call import CallResult, Fn
from pytest_auepora.calls.caller import Caller
from pytest_auepora.errors import CallTimeoutError

LONG = 20.0
"""Seconds after which a test has hung."""


def ahead(fns: list[Fn], start: int = 0) -> Iterator[tuple[int, Fn]]:
    return ((i, fns[i]) for i in range(start, len(fns)))


def limited(fns: list[Fn], start: int, limits: dict[Fn, float]) -> Iterator[tuple[int, Fn, float | None]]:
    return ((i, fn, limits.get(fn)) for i, fn in ahead(fns, start))


def run_all(caller: Caller, fns: list[Fn], limits: dict[Fn, float] | None = None) -> list[CallResult]:
    limits = limits or {}
    return [caller.call(i, fn, limited(fns, i + 1, limits), timeout=limits.get(fn)) for i, fn in enumerate(fns)]


async def arun_all(caller: Caller, fns: list[Fn], limits: dict[Fn, float] | None = None) -> list[CallResult]:
    limits = limits or {}
    return [await caller.acall(i, fn, limited(fns, i + 1, limits), timeout=limits.get(fn)) for i, fn in enumerate(fns)]


def timed_out(result: CallResult) -> bool:
    return isinstance(result.error, CallTimeoutError)


class Alarm:
    """Ends what the main thread waits for, from any thread, as pytest-timeout does."""

    class Rung(BaseException): ...

    def __enter__(self) -> Alarm:
        def answer(*_: object) -> None:
            raise self.Rung

        self._before = signal.signal(signal.SIGALRM, answer)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGALRM, self._before)

    def ring(self) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)


class Gauge:
    """How many calls are in it at once, and which."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.seen: list[int] = []
        self.lock = threading.Lock()

    def call(self, i: int, work: Fn = lambda: None) -> Callable[[], int]:
        def fn() -> int:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
                self.seen.append(i)
            work()
            with self.lock:
                self.now -= 1
            return i

        return fn
