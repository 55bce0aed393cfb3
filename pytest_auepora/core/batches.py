"""Run a long series of batches in an executor: in order, a bounded number in flight, dead workers survived.

``Executor.map`` would read the whole series at once; here the next batch is read when there is room for it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable
from uuid import uuid4

from ..errors import AueporaError, error_line
from .worker_processes import PickledTask, end_now, run_packed, worker_pool

BATCH_SIZE = 128
"""Samples a batch: enough for a model to work on, and little to lose."""

_DEATHS = frozenset(("KilledWorker", "FutureCancelledError", "CommClosedError"))  # of dask.distributed

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Task(Protocol[T_contra, R_co]):
    """The work on a batch.  It is pickled once; ``parts`` are its parts by name, for errors."""

    def __call__(self, batch: Sequence[T_contra], /) -> R_co:
        """Do the work for *batch*."""

    def parts(self) -> dict[str, Any]:
        """Return the parts by name."""


@dataclass(frozen=True, slots=True)
class LostBatch:
    """The result of a batch whose worker died, even when the batch ran alone.  ``reason`` says how it died."""

    reason: str


def all_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Split *items* into lists of *size*, the last one shorter, reading one list at a time."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def run_batches(
    task: Task[T, R],
    batches: Iterable[list[T]],
    *,
    executor: Executor | None = None,
    jobs: int = 1,
    in_flight: int | None = None,
    name_of: Callable[[T], str] = str,
) -> Iterator[tuple[list[T], R | LostBatch]]:
    """Yield every batch with its result, in order.

    Args:
        task: the work on a batch; its exceptions are raised here, in the order of the batches.
        batches: the series, read as there is room.
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
    pool = _Pool(task, executor, jobs, name_of)
    try:
        yield from pool.run(batches, in_flight or 2 * (jobs if executor is None else max(all_cores(), 16)))
    except KeyboardInterrupt:
        if executor is None:
            end_now(pool.executor)
        raise
    finally:
        if executor is None:
            pool.executor.shutdown(wait=True, cancel_futures=True)


def _is_thread_pool(executor: Executor) -> bool:
    # an InterpreterPoolExecutor is a ThreadPoolExecutor by class, but shares no memory
    return isinstance(executor, ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor"


class _Pool(Generic[T, R]):
    """An executor and its batches in flight, oldest first: one of the user's, or worker processes of our own.

    Threads get the task itself, any other executor gets it pickled.  Our own processes are replaced when they break.
    """

    def __init__(self, task: Task[T, R], executor: Executor | None, jobs: int, name_of: Callable[[T], str]) -> None:
        self.task, self.jobs, self.name_of = task, jobs, name_of
        self.is_ours, self.in_threads = executor is None, executor is not None and _is_thread_pool(executor)
        self.executor = executor if executor is not None else worker_pool(jobs, self.pickled)
        self.waiting: deque[tuple[list[T], Any]] = deque()

    @cached_property
    def pickled(self) -> PickledTask:
        """The task for other processes."""
        return PickledTask.of(self.task, self.task.parts())

    def start(self, batch: Sequence[T]) -> Any:
        """Return a future, or an object with its `result` and `cancel`."""
        if self.in_threads:
            if isinstance(self.task, ByItem):
                return ItemByItem(self.task, batch, self.executor)
            return self.executor.submit(self.task, batch)
        packed = self.pickled.pack_batch(batch, self.name_of)
        task = None if self.is_ours else self.pickled.task
        return self.executor.submit(run_packed, self.pickled.key, task, packed, uuid4().hex)

    def result(self, future: Any) -> R:
        """Wait for the result of what `start` returned."""
        result: R = future.result() if self.in_threads else self.pickled.unpack(future.result())
        return result

    def renew(self) -> None:
        """Replace our own processes."""
        self.executor.shutdown(wait=True, cancel_futures=True)
        self.executor = worker_pool(self.jobs, self.pickled)

    def run(self, batches: Iterable[list[T]], in_flight: int) -> Iterator[tuple[list[T], R | LostBatch]]:
        """Yield every batch with its result, at most *in_flight* of them started at a time."""
        try:
            for batch in batches:
                while len(self.waiting) >= in_flight:
                    yield from self._next_result()
                try:
                    started = self.start(batch)
                except (BrokenExecutor, RuntimeError) as exc:
                    if not self.is_ours:
                        raise AueporaError(f"the executor takes no more work: {type(exc).__name__}: {exc}") from exc
                    yield from self._run_one_by_one()
                    started = self.start(batch)
                self.waiting.append((batch, started))
            while self.waiting:
                yield from self._next_result()
        finally:
            for _, future in self.waiting:
                future.cancel()

    def _next_result(self) -> Iterator[tuple[list[T], R | LostBatch]]:
        batch, future = self.waiting[0]
        try:
            result = self.result(future)
        except BaseException as exc:
            if not _is_death(exc):
                raise
            if self.is_ours:
                yield from self._run_one_by_one()
                return
            self.waiting.popleft()
            yield batch, self._retry(batch, exc)
            return
        self.waiting.popleft()
        yield batch, result

    def _retry(self, batch: list[T], error: BaseException) -> R | LostBatch:
        """Run a batch again that Dask gave up: the fault may have been that of another batch on the same worker."""
        if type(error).__name__ != "KilledWorker":
            return LostBatch(error_line(error))
        try:
            return self.result(self.start(batch))
        except Exception as exc:
            if not _is_death(exc):
                raise
            return LostBatch(error_line(exc))

    def _run_one_by_one(self) -> Iterator[tuple[list[T], R | LostBatch]]:
        """Run every batch in flight alone after the pool broke, to find the one at fault."""
        self.renew()
        while self.waiting:
            batch, future = self.waiting.popleft()
            try:
                yield batch, self.result(future if _is_sound(future) else self.start(batch))
            except Exception as exc:
                if not _is_death(exc):
                    raise
                self.renew()
                yield batch, LostBatch(error_line(exc))


def _is_sound(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and not _is_death(future.exception())


def _is_death(error: BaseException | None) -> bool:
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in _DEATHS


@runtime_checkable
class ByItem(Protocol[T_contra, R_co]):
    """A task with a first step for each item, and a second one for the whole batch."""

    def run_item(self, item: T_contra, /) -> Any:
        """Do the first step for one item."""

    def combine(self, batch: Sequence[T_contra], results: list[Any], /) -> R_co:
        """Return the result of *batch* from those of its items."""


class ItemByItem(Generic[T, R]):
    """A batch whose items run in *executor*; the thread that finishes last combines their results.

    No thread waits for another, and a batch that waits for its turn keeps only the combined result.
    """

    def __init__(self, task: ByItem[T, R], batch: Sequence[T], executor: Executor) -> None:
        self._task, self._batch = task, batch
        self._results: list[Any] = [None] * len(batch)
        self._n_left, self._lock = len(batch), Lock()
        self._result: R
        self._items: list[Future[None]] = []
        try:
            for index in range(len(batch)):
                self._items.append(executor.submit(self._run_item, index))
        except BaseException:
            self.cancel()
            raise

    def _run_item(self, index: int) -> None:
        self._results[index] = self._task.run_item(self._batch[index])
        with self._lock:
            self._n_left -= 1
            is_last = not self._n_left
        if is_last:
            results, self._results = self._results, []
            self._result = self._task.combine(self._batch, results)

    def result(self) -> R:
        """Wait for the result; raises the exception of the first item in batch order that failed."""
        for item in self._items:
            item.result()
        return self._result

    def cancel(self) -> None:
        """Cancel the items that have not started."""
        for item in self._items:
            item.cancel()
