"""Telemetry of a call: processor time, memory, and the fields that an orchestration layer reports."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..errors import MissingExtraError

INTERVAL = 0.02
"""Seconds between two memory samples."""


@contextmanager
def sample_resources() -> Iterator[dict[str, float]]:
    """Sample this process until the block ends; ``cpu_percent`` and ``memory_mb`` are in the yielded mapping then.

    The processor time is that of one core: 200 means two cores were busy all the time.  The samples cover the whole
    process with all its threads, so they mean little when several calls run at once.

    Raises:
        MissingExtraError: psutil is not installed.
    """
    try:
        import psutil
    except ImportError:
        raise MissingExtraError("sampling processor time and memory", "resources") from None
    process, finished = psutil.Process(), threading.Event()
    resources: dict[str, float] = {}
    memory_sizes = [process.memory_info().rss]

    def watch() -> None:
        while not finished.wait(INTERVAL):
            memory_sizes.append(process.memory_info().rss)

    watcher = threading.Thread(target=watch, name="auepora-resources", daemon=True)
    cpu_start, start = time.process_time(), time.perf_counter()
    watcher.start()
    try:
        yield resources
    finally:
        seconds = time.perf_counter() - start
        cpu_seconds = time.process_time() - cpu_start  # finer than the ticks of cpu_times
        finished.set()
        watcher.join()
        memory_sizes.append(process.memory_info().rss)
        resources["cpu_percent"] = 100 * cpu_seconds / seconds if seconds else 0.0
        resources["memory_mb"] = max(memory_sizes) / 2**20


class SampledCall(NamedTuple):
    """The result of a call, and the resources that it used."""

    value: Any
    resources: dict[str, float]


def with_resources(fn: Callable[[], Any], *, is_async: bool = False) -> Callable[[], Any]:
    """Return a call of *fn* that gives `SampledCall`; awaiting what *fn* gives is part of the call.

    With *is_async*, *fn* is called when the coroutine that is returned first runs, not before.
    """

    async def call_async(value: Any = None) -> SampledCall:
        with sample_resources() as resources:
            result = await (fn() if is_async else value)
        return SampledCall(result, resources)

    def call() -> Any:
        with sample_resources() as resources:
            value = fn()
        return call_async(value) if inspect.isawaitable(value) else SampledCall(value, resources)

    return call_async if is_async else call


TIMINGS = {
    "parse_ms": ("parse",),
    "retrieval_ms": ("retrieval",),
    "synthesis_ms": ("synthesis", "generation"),
    "total_ms": ("end_to_end",),
}
"""Field in milliseconds → the names its seconds go by in ``SystemOutputs.timings``."""

REQUEST = ("request_id", "adapter", "surface")
"""What names a request elsewhere, kept with each answer."""

REPORTED = (
    *REQUEST, "retry", "retries", "tools", "privacy", "status", "soft_deadline_ms", "aborted",
    "usage", "model",
)  # fmt: skip
"""Fields of a request that an orchestration layer reports; `metrics.service` reads them in ``SystemOutputs.extra``."""


def seconds_by_name(field: str, value: float) -> dict[str, float]:
    """Return the names and seconds of one timing: milliseconds where *field* ends in ``_ms``, else seconds."""
    if not field.endswith("_ms"):
        return {field: value}
    return dict.fromkeys(TIMINGS.get(field, (field.removesuffix("_ms"),)), value / 1000)
