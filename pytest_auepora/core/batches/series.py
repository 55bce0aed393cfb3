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
from typing import Any, Generic, Protocol, TypeVar
from uuid import uuid4

from ...errors import AueporaError
from .item_by_item import ByItem, ItemByItem
from .workers import Parcel, end_now, run_packed, worker_pool

__all__ = ["BATCH_SIZE", "Lost", "Task", "all_cores", "in_batches", "run_batches"]

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
        lane = _Processes(Parcel.of(task, task.parts()), executor, jobs, name_of)
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

    def __init__(self, parcel: Parcel, executor: Executor | None, jobs: int, name_of: Callable[[T], str]) -> None:
        self._parcel, self._jobs, self._name_of = parcel, jobs, name_of
        self.can_renew = executor is None
        self._executor = executor if executor is not None else worker_pool(jobs, parcel)

    def start(self, batch: Sequence[T]) -> Future[Any]:
        sent = self._parcel.pack_batch(batch, self._name_of)
        task = None if self.can_renew else self._parcel.task
        return self._executor.submit(run_packed, self._parcel.key, task, sent, uuid4().hex)

    def result(self, future: Future[Any]) -> R:
        return self._parcel.unpack(future.result())  # type: ignore[no-any-return]

    def renew(self) -> None:
        self.close()
        self._executor = worker_pool(self._jobs, self._parcel)

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
