"""A batch whose items threads do one by one: as many overlap as there are threads, not as there are batches."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

__all__ = ["ByItem", "ItemByItem"]

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


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
