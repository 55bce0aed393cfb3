"""What is known about a call beside its answer: processor time and memory, and what an orchestration layer reports."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..errors import MissingExtraError

INTERVAL = 0.02
"""Seconds between two looks at the memory."""


@dataclass(slots=True)
class Resources:
    """What a piece of work took.  *cpu_percent* is of one core: 200 means two cores were busy all the time."""

    cpu_percent: float = 0.0
    memory_mb: float = 0.0
    seconds: float = 0.0


def _process() -> Any:
    try:
        import psutil
    except ImportError:
        raise MissingExtraError("sampling processor time and memory", "resources") from None
    return psutil.Process()


@contextmanager
def sampled() -> Iterator[Resources]:
    """Sample this process until the block ends; the yielded `Resources` is filled then.

    All threads and anything else the process does meanwhile are part of it, so samples mean little when several
    calls run at once.

    Raises:
        MissingExtraError: psutil is not installed.
    """
    process, taken, done = _process(), Resources(), threading.Event()
    sizes = [process.memory_info().rss]

    def watch() -> None:
        while not done.wait(INTERVAL):
            sizes.append(process.memory_info().rss)

    watcher = threading.Thread(target=watch, name="auepora-resources", daemon=True)
    used, start = time.process_time(), time.perf_counter()
    watcher.start()
    try:
        yield taken
    finally:
        taken.seconds = time.perf_counter() - start
        used = time.process_time() - used  # finer than the ticks of cpu_times
        done.set()
        watcher.join()
        sizes.append(process.memory_info().rss)
        taken.cpu_percent = 100 * used / taken.seconds if taken.seconds else 0.0
        taken.memory_mb = max(sizes) / 2**20


class Sampled(NamedTuple):
    """What a call gave, and what it took meanwhile."""

    value: Any
    resources: dict[str, float]


def with_resources(fn: Callable[[], Any], *, is_async: bool = False) -> Callable[[], Any]:
    """Return a call of *fn* that gives `Sampled`; awaiting what *fn* gives is part of the call.

    With *is_async*, *fn* is called when the coroutine that is returned first runs, not before.
    """

    def of(value: Any, taken: Resources) -> Sampled:
        return Sampled(value, {"cpu_percent": taken.cpu_percent, "memory_mb": taken.memory_mb})

    async def awaited(value: Any) -> Sampled:
        with sampled() as taken:
            given = await (fn() if is_async else value)
        return of(given, taken)

    def now() -> Any:
        with sampled() as taken:
            value = fn()
        return awaited(value) if inspect.isawaitable(value) else of(value, taken)

    return partial(awaited, None) if is_async else now


TIMINGS = {
    "parse_ms": ("parse",),
    "retrieval_ms": ("retrieval",),
    "synthesis_ms": ("synthesis", "generation"),
    "total_ms": ("end_to_end",),
}
"""Field in milliseconds → the names its seconds go by in ``SystemOutputs.timings``."""

REPORTED = ("request_id", "adapter", "surface", "retry", "retries", "privacy", "status", "soft_deadline_ms", "aborted")
"""What an orchestration layer says of a request beside its timings; `metrics.operational` and `metrics.privacy` read
it in ``SystemOutputs.extra``."""


def seconds_by_name(field: str, value: float) -> dict[str, float]:
    """Return the names and seconds of one timing: milliseconds where *field* ends in ``_ms``, else seconds."""
    if not field.endswith("_ms"):
        return {field: value}
    return dict.fromkeys(TIMINGS.get(field, (field.removesuffix("_ms"),)), value / 1000)
