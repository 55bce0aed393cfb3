"""A long series of batches through an executor: in order, a bounded number under way, a dead worker survived.

``Executor.map`` would take the whole series in at once; here the next batch is read when there is room for it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable
from uuid import uuid4

from ..errors import AueporaError
from .worker_processes import PickledTask, end_now, run_packed, worker_pool

BATCH_SIZE = 128
"""Samples a batch: enough for a model to work on, and little to lose."""

_DEATHS = frozenset(("KilledWorker", "FutureCancelledError", "CommClosedError"))  # of dask.distributed

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Task(Protocol[T_contra, R_co]):
    """What is done with a batch.  It is pickled once; ``parts`` are what it is made of, for errors."""

    def __call__(self, batch: Sequence[T_contra], /) -> R_co:
        """Do the work for *batch*."""

    def parts(self) -> dict[str, Any]:
        """Return the parts by name."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What came of a batch whose worker died, alone as well: nothing.  ``reason`` says how it died."""

    reason: str


def all_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Cut *items* into lists of *size*, the last one shorter, reading no further than the next."""
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
) -> Iterator[tuple[list[T], R | Lost]]:
    """Yield every batch with what *task* made of it, in order.

    Args:
        task: what is done with a batch; what it raises is raised here, when its turn has come.
        batches: the series, read as there is room.
        executor: where it is done; not shut down.  One of threads gets the task itself, and where that is `ByItem` the
            items of a batch each by itself; any other gets it pickled.
        jobs: without an executor, how many processes of our own do it; 1 is this one.
        in_flight: how many batches are under way at most; by default two for every core or process.
        name_of: what to call an item that cannot be pickled.

    Raises:
        UnsendableError: the task or an item cannot be pickled, or not be read by a worker.
        AueporaError: the executor takes no more.
    """
    if executor is None and jobs == 1:
        for batch in batches:
            yield batch, task(batch)
        return
    lane: _Lane[T, R]
    if executor is not None and _is_of_threads(executor):
        lane = _Threads(task, executor)
    else:
        lane = _Processes(PickledTask.of(task, task.parts()), executor, jobs, name_of)
    try:
        yield from _Window(lane, in_flight or 2 * (jobs if executor is None else max(all_cores(), 16))).run(batches)
    except KeyboardInterrupt:
        lane.abandon()
        raise
    finally:
        lane.close()


def _is_of_threads(executor: Executor) -> bool:
    # an executor of interpreters is one of threads by class, and shares nothing
    return isinstance(executor, ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor"


class _Lane(Protocol[T_contra, R_co]):
    """Where batches are done."""

    can_renew: bool

    def start(self, batch: Sequence[T_contra]) -> Any: ...  # a future, or what is waited for and cancelled like one
    def result(self, future: Any) -> R_co: ...
    def renew(self) -> None: ...
    def abandon(self) -> None: ...
    def close(self) -> None: ...


class _Threads(Generic[T, R]):
    can_renew = False

    def __init__(self, task: Task[T, R], executor: Executor) -> None:
        self._task, self._executor = task, executor

    def start(self, batch: Sequence[T]) -> Future[R] | ItemByItem[T, R]:
        if isinstance(self._task, ByItem):
            return ItemByItem(self._task, batch, self._executor)
        return self._executor.submit(self._task, batch)

    def result(self, future: Future[R] | ItemByItem[T, R]) -> R:
        return future.result()

    def renew(self) -> None: ...
    def abandon(self) -> None: ...
    def close(self) -> None: ...


class _Processes(Generic[T, R]):
    """An executor of the user's, or a pool of our own that is replaced when it breaks."""

    def __init__(self, work: PickledTask, executor: Executor | None, jobs: int, name_of: Callable[[T], str]) -> None:
        self._work, self._jobs, self._name_of = work, jobs, name_of
        self.can_renew = executor is None
        self._executor = executor if executor is not None else worker_pool(jobs, work)

    def start(self, batch: Sequence[T]) -> Future[Any]:
        sent = self._work.pack_batch(batch, self._name_of)
        task = None if self.can_renew else self._work.task
        return self._executor.submit(run_packed, self._work.key, task, sent, uuid4().hex)

    def result(self, future: Future[Any]) -> R:
        return self._work.unpack(future.result())  # type: ignore[no-any-return]

    def renew(self) -> None:
        self.close()
        self._executor = worker_pool(self._jobs, self._work)

    def abandon(self) -> None:
        if self.can_renew:
            end_now(self._executor)

    def close(self) -> None:
        if self.can_renew:
            self._executor.shutdown(wait=True, cancel_futures=True)


class _Window(Generic[T, R]):
    """The batches under way, oldest first."""

    def __init__(self, lane: _Lane[T, R], size: int) -> None:
        self.lane, self.size = lane, size
        self.waiting: deque[tuple[list[T], Any]] = deque()

    def run(self, batches: Iterable[list[T]]) -> Iterator[tuple[list[T], R | Lost]]:
        try:
            for batch in batches:
                while len(self.waiting) >= self.size:
                    yield from self._next()
                try:
                    started = self.lane.start(batch)
                except (BrokenExecutor, RuntimeError) as exc:
                    if not self.lane.can_renew:
                        raise AueporaError(f"the executor takes no more work: {type(exc).__name__}: {exc}") from exc
                    yield from self._one_by_one()
                    started = self.lane.start(batch)
                self.waiting.append((batch, started))
            while self.waiting:
                yield from self._next()
        finally:
            for _, future in self.waiting:
                future.cancel()

    def _next(self) -> Iterator[tuple[list[T], R | Lost]]:
        batch, future = self.waiting[0]
        try:
            made = self.lane.result(future)
        except BaseException as exc:
            if not _is_death(exc):
                raise
            if self.lane.can_renew:
                yield from self._one_by_one()
                return
            self.waiting.popleft()
            yield batch, self._again(batch, exc)
            return
        self.waiting.popleft()
        yield batch, made

    def _again(self, batch: list[T], why: BaseException) -> R | Lost:
        """Dask gives up on all that was under way where workers died, again and again: it may have been another's."""
        if type(why).__name__ != "KilledWorker":
            return Lost(_told(why))
        try:
            return self.lane.result(self.lane.start(batch))
        except Exception as exc:
            if not _is_death(exc):
                raise
            return Lost(_told(exc))

    def _one_by_one(self) -> Iterator[tuple[list[T], R | Lost]]:
        """A pool that broke takes everything under way with it; who was to blame shows when each runs alone."""
        self.lane.renew()
        while self.waiting:
            batch, future = self.waiting.popleft()
            try:
                yield batch, self.lane.result(future if _is_sound(future) else self.lane.start(batch))
            except Exception as exc:
                if not _is_death(exc):
                    raise
                self.lane.renew()
                yield batch, Lost(_told(exc))


def _is_sound(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and not _is_death(future.exception())


def _is_death(error: BaseException | None) -> bool:
    return isinstance(error, (BrokenExecutor, CancelledError)) or type(error).__name__ in _DEATHS


def _told(error: BaseException) -> str:
    said = str(error).splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__


@runtime_checkable
class ByItem(Protocol[T_contra, R_co]):
    """A task whose first step takes an item at a time; what it made of them all makes the batch."""

    def one(self, item: T_contra, /) -> Any:
        """Do the work for one item."""

    def together(self, batch: Sequence[T_contra], made: list[Any], /) -> R_co:
        """Put together what the items of *batch* made."""


class ItemByItem(Generic[T, R]):
    """A batch in the hands of *executor*; the thread that is done last puts together what the others made.

    So no thread waits for another, and of a batch whose turn is yet to come only what was put together is left.
    """

    def __init__(self, task: ByItem[T, R], batch: Sequence[T], executor: Executor) -> None:
        self._task, self._batch = task, batch
        self._made: list[Any] = [None] * len(batch)
        self._left, self._lock = len(batch), Lock()
        self._whole: R
        self._items: list[Future[None]] = []
        try:
            for at in range(len(batch)):
                self._items.append(executor.submit(self._one, at))
        except BaseException:
            self.cancel()
            raise

    def _one(self, at: int) -> None:
        self._made[at] = self._task.one(self._batch[at])
        with self._lock:
            self._left -= 1
            is_last = not self._left
        if is_last:
            made, self._made = self._made, []
            self._whole = self._task.together(self._batch, made)

    def result(self) -> R:
        """Wait; raises what the first item in the order of the batch raised, whichever was the first in time."""
        for item in self._items:
            item.result()
        return self._whole

    def cancel(self) -> None:
        """Let no further item be begun."""
        for item in self._items:
            item.cancel()
