"""What is looked through and when, and how many calls a result says there were."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_auepora.calls.call import CallResult, Fn
from pytest_auepora.calls.caller import Caller

from .asking import LONG, Gauge, ahead, arun_all, run_all

pytestmark = pytest.mark.usefixtures("nothing_stays")


def in_a_loop(caller: Caller, fns: list[Fn]) -> list[CallResult]:
    return asyncio.run(arun_all(caller, fns))


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 2}, {"concurrency": 2, "timeout": LONG}])
@pytest.mark.parametrize("call", [run_all, in_a_loop])
def test_concurrency_counts_the_calls_of_all_processes(options: dict[str, Any], call: Any) -> None:
    with Caller(**options, processes=3) as caller:
        alone = call(caller, [lambda: None])
        together = call(caller, [lambda: None] * 4)
    assert [result.concurrency for result in alone] == [3]
    assert [result.concurrency for result in together] == [3 * options.get("concurrency", 1)] * 4


def test_so_it_does_where_calls_are_mapped() -> None:
    with Caller(2, processes=3) as caller:
        assert [result.concurrency for result in caller.map([lambda: None] * 4)] == [6] * 4


def test_a_call_with_none_behind_it_takes_a_place_too() -> None:
    gauge, entered = Gauge(), threading.Semaphore(0)

    def work() -> None:
        entered.release()
        time.sleep(0.05)

    fns = [gauge.call(i, work) for i in range(5)]
    with Caller(2) as caller:
        caller.call(0, fns[0], ahead(fns, 1))
        assert all(entered.acquire(timeout=LONG) for _ in range(3)), "two run now"
        again = caller.call("again", gauge.call(9))
    assert (again.value, again.concurrency, gauge.most) == (9, 2, 2)


# -- looking ahead


class Owner:
    """Asks for calls 0, 1, 2 and so on, and knows how far it was looked ahead for each."""

    def __init__(self, concurrency: int, lookahead: int) -> None:
        self.caller = Caller(concurrency, lookahead=lookahead)
        self.asked = 0
        self.last = 0

    def ask(self) -> int:
        """Ask for the next call, and return how many of those behind it were read."""
        read = 0

        def upcoming(after: int) -> Iterator[tuple[int, Fn]]:
            nonlocal read
            for i in range(after + 1, 1000):
                read += 1
                self.last = i
                yield i, lambda: None

        key, self.asked = self.asked, self.asked + 1
        self.caller.call(key, lambda: None, upcoming(key))
        return read


def test_what_is_upcoming_is_read_once_for_several_calls() -> None:
    owner = Owner(2, 20)
    with owner.caller:
        assert [owner.ask() for _ in range(9)] == [20, 0, 0, 0, 20, 0, 0, 0, 20]
    assert owner.last == 28


def test_a_short_look_ahead_is_filled_at_every_call() -> None:
    owner = Owner(4, 4)
    with owner.caller:
        assert [owner.ask() for _ in range(5)] == [4] * 5
