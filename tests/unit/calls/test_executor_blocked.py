"""Calls whose loop is blocked by one of them, which does not await what it waits for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pytest_auepora.calls.call import Fn
from pytest_auepora.calls.caller import Caller
from pytest_auepora.errors import AueporaError

from .asking import LONG, Alarm, run_all, timed_out

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


class System:
    """Blocks the loop it is called in, or answers."""

    def __init__(self, release: threading.Event) -> None:
        self.release = release
        self.blocks = threading.Event()
        self.asked: list[str] = []

    async def block(self) -> None:
        self.asked.append("block")
        self.blocks.set()
        self.release.wait(LONG)

    async def block_when_cancelled(self) -> None:
        self.asked.append("block")
        self.blocks.set()
        try:
            await asyncio.sleep(LONG)
        finally:
            self.release.wait(LONG)

    async def good(self) -> str:
        self.asked.append("good")
        await asyncio.sleep(0)
        return "good"


@pytest.fixture
def system(release: threading.Event) -> System:
    return System(release)


def kinds(concurrency: int, coroutines: bool) -> dict[str, Any]:
    return {"concurrency": concurrency, "coroutines": coroutines, "grace": 0.05}


ALL = pytest.mark.parametrize(
    "options", [kinds(1, False), kinds(2, False), kinds(2, True)], ids=["alone", "threads", "coroutines"]
)
BESIDE = pytest.mark.parametrize("options", [kinds(2, False), kinds(2, True)], ids=["threads", "coroutines"])


@ALL
@pytest.mark.parametrize("late", [False, True], ids=["", "when cancelled"])
@pytest.mark.slow
def test_who_ends_the_waiting_for_it_gets_the_next_answer(
    system: System, alarm: Alarm, options: dict[str, Any], late: bool
) -> None:
    block = system.block_when_cancelled if late else system.block

    def ring_when_blocked() -> None:
        system.blocks.wait(LONG)
        alarm.ring()

    with Caller(**options) as caller:
        for key in range(2):
            system.blocks.clear()
            helper = threading.Thread(target=ring_when_blocked)
            helper.start()
            with pytest.raises(Alarm.Rung):
                caller.call(key, block, [(key + 10, system.good)] * (caller.concurrency - 1))
            helper.join()
            caller.drop()  # the early one may be caught in the loop: begun, and not awaited to its end
            assert caller.call(key + 10, system.good).value == "good"
            assert caller.call(key + 20, system.good, [(key + 30, system.good)]).value == "good"
            assert caller.call(key + 30, system.good).value == "good"
    assert system.asked.count("block") == 2


def test_what_was_on_the_way_to_it_is_done_by_the_next_and_once(system: System) -> None:
    with Caller(2, grace=0.05) as caller:
        early: list[tuple[int, Fn, float | None]] = [(1, system.block, 0.2), (2, system.good, None)]
        assert caller.call(0, lambda: system.blocks.wait(LONG), early).value is True
        assert timed_out(caller.call(1, system.block, timeout=0.2))
        assert caller.call(2, system.good).value == "good"
    assert system.asked == ["block", "good"]


@BESIDE
@pytest.mark.parametrize("limit", [None, LONG])
def test_what_is_dropped_while_it_blocks_is_left_behind(
    system: System, options: dict[str, Any], limit: float | None
) -> None:
    over = threading.Event()

    async def block() -> None:
        while not over.is_set():
            await asyncio.sleep(0.001)
        await system.block()

    with Caller(**options, timeout=limit) as caller:
        assert caller.call(0, system.good, [(1, block)]).value == "good"
        over.set()
        assert system.blocks.wait(LONG)
        caller.drop()
        assert [r.value for r in run_all(caller, [system.good] * 4)] == ["good"] * 4
    assert (system.asked.count("block"), system.asked.count("good")) == (1, 5)


@BESIDE
def test_what_waits_in_a_loop_that_is_left_behind_says_so(system: System, options: dict[str, Any]) -> None:
    waits = threading.Event()

    async def begin() -> None:
        while not waits.is_set():
            await asyncio.sleep(0.001)

    async def wait() -> None:
        waits.set()
        await asyncio.sleep(LONG)

    with Caller(**options) as caller:
        assert caller.call(0, begin, [(1, wait), (2, system.block, 0.2), (3, system.good)]).error is None
        assert timed_out(caller.call(2, system.block, timeout=0.2))
        stranded = caller.call(1, wait)
        assert type(stranded.error) is AueporaError, "and no time limit of its own"
        assert caller.call(3, system.good).value == "good"
        assert [r.value for r in run_all(caller, [system.good] * 4)] == ["good"] * 4
    assert (system.asked.count("block"), system.asked.count("good")) == (1, 5)


def test_a_loop_is_kept_while_it_answers(release: threading.Event) -> None:
    async def stay() -> None:
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    async def loop() -> asyncio.AbstractEventLoop:
        await asyncio.sleep(1.5)  # while the other one is looked after
        return asyncio.get_running_loop()

    async def begin() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    with Caller(3, grace=0.05, coroutines=True) as caller:
        first = caller.call(0, begin, [(1, stay)]).value
        caller.drop()
        assert caller.call(2, loop, [(3, loop)]).value is first
        assert caller.call(3, loop).value is first
        release.set()
