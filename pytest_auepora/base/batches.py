"""Run a long series of batches in an executor: in order, a bounded number in flight, dead workers survived.

``Executor.map`` would read the whole series at once; here the next batch is read when there is room for it.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from types import MappingProxyType
from typing import Any, Generic, TypeVar
from uuid import uuid4

from ..errors import AueporaError
from .text import error_line
from .worker_processes import end_now, pack_named, run_packed, unpack, worker_pool

BATCH_SIZE = 128
"""Samples a batch: enough for a model to work on, and little to lose."""

_DEATHS = frozenset(("KilledWorker", "FutureCancelledError", "CommClosedError"))  # of dask.distributed

T = TypeVar("T")
R = TypeVar("R")


class ByItem(ABC, Generic[T, R]):
    """A task with a first step for each item, and a second one for the whole batch."""

    @abstractmethod
    def run_item(self, item: T) -> Any:
        """Do the first step for one item."""

    @abstractmethod
    def combine(self, batch: Sequence[T], results: list[Any]) -> R:
        """Return the result of *batch* from those of its items; never None."""

    def __call__(self, batch: Sequence[T]) -> R:
        """Do both steps, for one item after another."""
        return self.combine(batch, [self.run_item(item) for item in batch])


@dataclass(frozen=True, slots=True)
class LostBatch:
    """The result of a batch whose worker died, even when the batch ran alone.  ``reason`` says how it died.

    ``given_up`` says whether Dask gave the batch up.
    """

    reason: str
    given_up: bool = False


def all_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Split *items* into lists of *size*, the last one shorter, reading one list at a time."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def run_batches(
    task: Callable[[list[T]], R],
    batches: Iterable[list[T]],
    *,
    parts: Mapping[str, Any] = MappingProxyType({}),
    executor: Executor | None = None,
    jobs: int = 1,
    in_flight: int | None = None,
    name_of: Callable[[T], str] = str,
) -> Iterator[tuple[list[T], R | LostBatch]]:
    """Yield every batch with its result, in order.

    Args:
        task: the work on a batch; its exceptions are raised here, in the order of the batches.
        batches: the series, read as there is room.
        parts: what *task* is made of, by name, for errors.
        executor: runs the batches; not shut down.  A thread pool gets the task itself, and for a `ByItem` task each
            item alone; any other executor gets the task pickled.
        jobs: without an executor, how many processes to start; 1 is this process.
        in_flight: how many batches are in flight at most; by default two for every core or process.
        name_of: the name of an item, for errors.

    Raises:
        UnsendableError: the task or an item cannot be pickled, or not be read by a worker.
        AueporaError: the executor accepts no more work.
    """
    if executor is None and jobs == 1:
        for batch in batches:
            yield batch, task(batch)
        return
    pool = _Pool(task, parts, executor, jobs, name_of)
    try:
        yield from pool.run(batches, in_flight or 2 * (jobs if executor is None else max(all_cores(), 16)))
    except KeyboardInterrupt:
        if executor is None:
            end_now(pool.executor)
        raise
    finally:
        if executor is None:
            pool.executor.shutdown(wait=True, cancel_futures=True)


class _Pool(Generic[T, R]):
    """An executor and its batches in flight, oldest first; processes of our own are replaced when they break."""

    def __init__(
        self, task: Callable[[list[T]], R], parts: Mapping[str, Any], executor: Executor | None, jobs: int,
        name_of: Callable[[T], str],
    ) -> None:  # fmt: skip
        self.task, self.jobs, self.name_of = task, jobs, name_of
        self.is_ours = executor is None
        # an InterpreterPoolExecutor is a ThreadPoolExecutor by class, but shares no memory
        self.in_threads = (
            isinstance(executor, ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor"
        )
        self.pickled = b"" if self.in_threads else pack_named(task, lambda: parts)
        self.executor = executor if executor is not None else worker_pool(jobs, self.pickled)
        self.waiting: deque[tuple[list[T], list[Future[Any]]]] = deque()

    def run(self, batches: Iterable[list[T]], in_flight: int) -> Iterator[tuple[list[T], R | LostBatch]]:
        """Yield every batch with its result, at most *in_flight* of them started at a time."""
        try:
            for batch in batches:
                while len(self.waiting) >= in_flight:
                    yield from self._next_result()
                self.waiting.append((batch, futures := list[Future[Any]]()))
                try:
                    futures.extend(self._start(batch))  # each is there to be cancelled, should the next one fail
                except (BrokenExecutor, RuntimeError) as exc:
                    if not self.is_ours:
                        raise AueporaError(f"the executor takes no more work: {type(exc).__name__}: {exc}") from exc
                    yield from self._run_one_by_one()
            while self.waiting:
                yield from self._next_result()
        finally:
            for _, futures in self.waiting:
                for future in futures:
                    future.cancel()

    def _start(self, batch: list[T]) -> Iterator[Future[Any]]:
        """Yield the pieces of work on *batch*, as they are submitted."""
        if not self.in_threads:
            packed = pack_named(batch, lambda: {f"sample {self.name_of(item)!r}": item for item in batch})
            task = None if self.is_ours else self.pickled
            yield self.executor.submit(run_packed, task, packed, uuid4().hex)
        elif isinstance(self.task, ByItem):
            yield from _submit_items(self.task, batch, self.executor)
        else:
            yield self.executor.submit(self.task, batch)

    def _result(self, futures: Iterable[Future[Any]]) -> R | LostBatch:
        """Wait for all that `_start` yielded; raises the first exception in batch order, unless it is a death."""
        try:
            [answer] = [answer for future in futures if (answer := future.result()) is not None]
            result: R = answer if self.in_threads else unpack(answer)
        except BaseException as exc:
            if not _is_death(exc):
                raise
            return LostBatch(error_line(exc), type(exc).__name__ == "KilledWorker")
        return result

    def _next_result(self) -> Iterator[tuple[list[T], R | LostBatch]]:
        batch, futures = self.waiting[0]
        result = self._result(futures)
        if self.is_ours and isinstance(result, LostBatch):
            yield from self._run_one_by_one()
            return
        if isinstance(result, LostBatch) and result.given_up:
            # the fault may have been that of another batch on the same worker
            result = self._result(self._start(batch))
        self.waiting.popleft()
        yield batch, result

    def _run_one_by_one(self) -> Iterator[tuple[list[T], R | LostBatch]]:
        """Run every batch in flight alone after our own pool broke, to find the one at fault."""
        self._renew()
        while self.waiting:
            batch, futures = self.waiting.popleft()
            result = self._result(futures if _is_sound(futures) else self._start(batch))
            if isinstance(result, LostBatch):
                self._renew()
            yield batch, result

    def _renew(self) -> None:
        """Replace our own processes."""
        self.executor.shutdown(wait=True, cancel_futures=True)
        self.executor = worker_pool(self.jobs, self.pickled)


def _submit_items(task: ByItem[T, R], batch: Sequence[T], executor: Executor) -> Iterator[Future[R | None]]:
    """Yield a future for each item; the thread that finishes last combines their results, the others return None.

    No thread waits for another, and a batch that waits for its turn keeps only the combined result.
    """
    results: list[Any] = [None] * len(batch)
    n_left, lock = len(batch), Lock()

    def run_item(index: int) -> R | None:
        nonlocal n_left, results
        results[index] = task.run_item(batch[index])
        with lock:
            n_left -= 1
            is_last = not n_left
        if not is_last:
            return None
        last, results = results, []
        return task.combine(batch, last)

    for index in range(len(batch)):
        yield executor.submit(run_item, index)


def _is_sound(futures: Sequence[Future[Any]]) -> bool:
    return bool(futures) and all(f.done() and not f.cancelled() and not _is_death(f.exception()) for f in futures)


def _is_death(error: BaseException | None) -> bool:
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in _DEATHS
