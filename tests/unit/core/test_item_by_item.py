"""A batch done item by item: put together by whoever is last, and nothing of it held for longer."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from pytest_auepora.core.batches.item_by_item import ItemByItem


class Output:
    def __init__(self, n: int) -> None:
        self.n = n


class Sums:
    """Notes what it made, and in which threads."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[Output]] = []
        self.threads: set[threading.Thread] = set()

    def one(self, n: int) -> Output:
        if n < 0:
            raise ValueError(f"no {n}")
        self.threads.add(threading.current_thread())
        self.made.append(weakref.ref(made := Output(n)))
        return made

    def together(self, batch: Sequence[int], made: list[Any]) -> int:
        self.threads.add(threading.current_thread())
        assert [one.n for one in made] == list(batch)
        if sum(batch) == 66:
            raise ArithmeticError("66")
        return sum(batch)


def test_partial_results_are_merged_and_removed() -> None:
    sums = Sums()
    with ThreadPoolExecutor(3) as pool:
        batch = ItemByItem(sums, range(10), pool)
    gc.collect()
    assert [ref() for ref in sums.made] == [None] * 10
    assert threading.current_thread() not in sums.threads
    assert batch.result() == 45


@pytest.mark.parametrize(("items", "said"), [([1, -2, 3, -4], "no -2"), ([66], "66")])
def test_errors_of_the_first_item_and_the_last_step_are_raised(items: list[int], said: str) -> None:
    with ThreadPoolExecutor(3) as pool, pytest.raises((ValueError, ArithmeticError), match=said):
        ItemByItem(Sums(), items, pool).result()


def test_a_broken_executors_earlier_work_is_cancelled() -> None:
    taken: list[Future[Any]] = []

    class Ends(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if len(taken) == 2:
                raise RuntimeError("cannot schedule new futures after shutdown")
            taken.append(Future())
            return taken[-1]

    with pytest.raises(RuntimeError, match="after shutdown"):
        ItemByItem(Sums(), [1, 2, 3], Ends())
    assert [future.cancelled() for future in taken] == [True, True]
