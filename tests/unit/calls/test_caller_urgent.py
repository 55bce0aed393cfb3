"""Urgent calls, by which a case is asked again: they wait for no call that was started early."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest

from pytest_auepora.calls.call import Fn
from pytest_auepora.calls.caller import Caller

from .asking import LONG, Gauge, ahead

pytestmark = pytest.mark.usefixtures("nothing_stays")


@pytest.fixture
def full(release: threading.Event) -> Iterator[tuple[Caller, Gauge]]:
    """A caller of two calls at once whose places are taken by calls that nobody has asked for yet."""
    gauge, entered = Gauge(), threading.Semaphore(0)

    def work() -> None:
        entered.release()
        assert release.wait(LONG)

    fns = [gauge.call(0), *(gauge.call(i, work) for i in range(1, 6))]
    with Caller(2) as caller:
        caller.call(0, fns[0], ahead(fns, 1))
        assert all(entered.acquire(timeout=LONG) for _ in range(2))
        yield caller, gauge
        release.set()


def test_they_start_though_all_places_are_taken(full: tuple[Caller, Gauge]) -> None:
    caller, gauge = full
    result = caller.call("again", gauge.call(9), urgent=True)
    assert (result.value, gauge.now, gauge.most) == (9, 2, 3)


def test_what_they_give_to_await_is_awaited_at_once(full: tuple[Caller, Gauge]) -> None:
    caller, _ = full

    def fn() -> Awaitable[str]:
        async def answer() -> str:
            await asyncio.sleep(0.01)
            return "done"

        return answer()

    assert caller.call("again", fn, urgent=True).value == "done"


def test_no_other_call_starts_in_their_place(full: tuple[Caller, Gauge], release: threading.Event) -> None:
    caller, gauge = full
    for i in range(3):
        caller.call(f"again {i}", gauge.call(9 + i), urgent=True)
    time.sleep(0.05)
    assert sorted(gauge.seen) == [0, 1, 2, 9, 10, 11], "3, 4 and 5 wait for a place"
    release.set()
    assert [caller.call(i, gauge.call(i)).value for i in range(1, 6)] == [1, 2, 3, 4, 5]
    assert gauge.most == 3


def test_those_behind_them_come_before_what_was_started_early(
    full: tuple[Caller, Gauge], release: threading.Event
) -> None:
    caller, gauge = full
    fns: list[Fn] = [gauge.call(10 + i) for i in range(4)]
    caller.call("a", fns[0], ((f"a{i}", fns[i]) for i in range(1, 4)), urgent=True)
    release.set()
    assert [caller.call(f"a{i}", fns[i], urgent=True).value for i in range(1, 4)] == [11, 12, 13]
    assert [caller.call(i, gauge.call(i)).value for i in range(1, 6)] == [1, 2, 3, 4, 5]
    early = [i for i in gauge.seen if i in (3, 4, 5)]
    assert gauge.seen.index(13) < gauge.seen.index(early[-1])


def test_they_start_at_once_in_a_loop_of_others() -> None:
    async def run() -> tuple[int, int]:
        gauge, over = Gauge(), asyncio.Event()

        def waiting(i: int) -> Callable[[], Awaitable[int]]:
            async def fn() -> int:
                gauge.call(i)()
                await over.wait()
                return i

            return fn

        async def answer() -> int:
            return 9

        with Caller(2, coroutines=True) as caller:
            fns: list[Fn] = [answer, *(waiting(i) for i in range(1, 6))]
            await caller.acall(0, fns[0], ahead(fns, 1))
            while len(gauge.seen) < 2:
                await asyncio.sleep(0.001)
            result = await caller.acall("again", answer, urgent=True)
            seen = len(gauge.seen)
            over.set()
            return result.value, seen

    assert asyncio.run(asyncio.wait_for(run(), LONG)) == (9, 2)


def test_alone_they_are_calls_like_any_other() -> None:
    with Caller(1) as caller:
        assert caller.call(0, lambda: 1, urgent=True).value == 1
    with Caller(2, timeout=LONG) as caller:
        assert caller.call(0, lambda: 1, urgent=True).value == 1
