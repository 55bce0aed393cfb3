"""What is known about a call beside its answer: processor time and memory, and what an orchestration layer reports."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ..errors import MissingExtraError
from .rag_interface import RAGSystem, RAGSystemProtocol
from .types import EvaluationSample, SystemOutputs

__all__ = ["TIMINGS", "Resources", "WithResources", "sampled", "with_orchestration"]

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


class WithResources(RAGSystem):
    """A system whose outputs say what each call took: ``cpu_percent``, ``memory_mb`` in ``extra["resources"]``."""

    def __init__(self, system: RAGSystemProtocol) -> None:
        self._system = system

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        """Call the system and sample the process meanwhile."""
        with sampled() as taken:
            outputs = self._system.run(sample, top_k=top_k)
        outputs.extra["resources"] = {"cpu_percent": taken.cpu_percent, "memory_mb": taken.memory_mb}
        return outputs


TIMINGS = {
    "parse_ms": ("parse",),
    "retrieval_ms": ("retrieval",),
    "synthesis_ms": ("synthesis", "generation"),
    "total_ms": ("end_to_end",),
}
"""Field in milliseconds → the names its seconds go by in ``SystemOutputs.timings``."""

_EXTRA = ("request_id", "adapter", "surface", "retry", "privacy", "status", "soft_deadline_ms", "aborted")


def with_orchestration(outputs: SystemOutputs, record: Mapping[str, Any]) -> SystemOutputs:
    """Return *outputs* with what an orchestration *record* says about the same request.

    ``timings`` (`TIMINGS`) become seconds and win over those measured around the call; any further field of
    them that ends in ``_ms`` is taken under the rest of its name.  ``retry`` (attempts, last_reason), ``privacy``
    (mode, redacted, blocked), ``request_id``, ``adapter``, ``surface``, ``status``, ``aborted`` and
    ``soft_deadline_ms`` go to ``extra``.  Fields that are missing or None change nothing.

    Raises:
        TypeError: a timing is no number, or ``timings`` is no mapping.
    """
    timings = dict(outputs.timings)
    reported = record.get("timings") or {}
    if not isinstance(reported, Mapping):
        raise TypeError(f"timings must be a mapping, got {type(reported).__name__}")
    for field, milliseconds in reported.items():
        if milliseconds is None or not (field in TIMINGS or field.endswith("_ms")):
            continue
        if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)):
            raise TypeError(f"timings[{field!r}] must be milliseconds, got {milliseconds!r}")
        for name in TIMINGS.get(field, (field.removesuffix("_ms"),)):
            timings[name] = milliseconds / 1000
    said = {key: record[key] for key in _EXTRA if record.get(key) is not None}
    return replace(outputs, timings=timings, extra={**outputs.extra, **said})
