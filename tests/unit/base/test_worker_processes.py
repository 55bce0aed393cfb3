"""What a worker is sent: the work, once, and what it says back."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from pytest_auepora.base import worker_processes
from pytest_auepora.base.batches import run_batches
from pytest_auepora.errors import AueporaError, UnsendableError

from ..large import Doubles
from .test_batches import Here, numbers


class Odd(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")
        self.lock = threading.Lock()


class Numbered(Exception):
    def __init__(self, number: int) -> None:
        super().__init__(f"number {number}")  # which unpickling would put after another "number"


class Raises(Doubles):
    def __call__(self, batch: Sequence[int]) -> list[int]:
        raise Odd(1, 2)


def test_an_error_that_cannot_travel_is_told() -> None:
    with pytest.raises(AueporaError, match="Odd: 1 and 2"):
        list(run_batches(Raises(), iter([[1]]), executor=Here()))


def test_an_error_that_would_say_something_else_is_told() -> None:
    packed = worker_processes.run_packed(pickle.dumps(_raise_numbered), pickle.dumps([1]))
    with pytest.raises(AueporaError, match=r"^Numbered: number 3$"):
        worker_processes.unpack(packed)


def _raise_numbered(batch: Sequence[int]) -> None:
    raise Numbered(3)


def test_what_cannot_be_sent_is_named() -> None:
    lock: Any = threading.Lock()
    with pytest.raises(UnsendableError, match=r"the deadly ones cannot be sent to another process: TypeError: .*lock"):
        list(run_batches(Doubles(lock), numbers(3), executor=Here(), parts={"the deadly ones": lock}))
    batch: Any = [0, lock]
    with pytest.raises(UnsendableError, match=r"sample 'number 1' cannot be sent"):
        list(run_batches(Doubles(), iter([batch]), executor=Here(), name_of=lambda n: f"number {0 if n == 0 else 1}"))


def test_functions_of_functions_travel_with_cloudpickle() -> None:
    pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")

    class Local(Doubles):
        def __call__(self, batch: Sequence[int]) -> list[int]:
            return [3 * n for n in batch]

    assert [made for _, made in run_batches(Local(), iter([[1, 2]]), executor=Here())] == [[3, 6]]


def test_the_task_travels_with_every_batch_and_is_unpacked_once() -> None:
    here, before = Here(), worker_processes._load_task.cache_info().misses
    list(run_batches(Doubles(), numbers(9), executor=here))
    assert len(here.tasks) == 3
    assert {task for task, *_ in here.tasks} == {here.tasks[0][0]}
    assert worker_processes._load_task.cache_info().misses <= before + 1


def test_no_two_pieces_of_work_look_the_same() -> None:
    here = Here()
    list(run_batches(Doubles(), iter([[1], [1]]), executor=here))
    first, second = here.tasks
    assert first[:2] == second[:2]
    assert first != second


def test_a_worker_that_cannot_read_the_work_says_why() -> None:
    class Elsewhere(Here):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            return super().submit(fn, b"cnowhere\nnothing\n.", args[1])

    with pytest.raises(UnsendableError, match="a worker cannot read the work: ModuleNotFoundError: No module"):
        list(run_batches(Doubles(), numbers(3), executor=Elsewhere()))
