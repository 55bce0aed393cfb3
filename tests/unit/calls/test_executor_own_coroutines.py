"""Functions that are known to be coroutines, in the loop of our own: no thread between, none begun twice."""

from __future__ import annotations

import asyncio
import contextvars
import socket
import threading
from functools import partial

import pytest

from pytest_auepora.calls.caller import Caller

from .asking import LONG, run_all, timed_out

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


def test_no_thread_stands_between_a_coroutine_and_the_loop() -> None:
    async def where() -> list[str]:
        await asyncio.sleep(0)
        return [thread.name for thread in threading.enumerate()]

    with Caller(2, coroutines=True) as caller:
        seen = run_all(caller, [where] * 4)
    assert not [r.value for r in seen if "auepora-call" in r.value]
    assert all("auepora-loop" in r.value for r in seen)


class Blocking:
    """A loop that is blocked in between: when what takes the place of `first` has a task, and has not begun."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self._turn: list[asyncio.Future[None]] = []

    async def first(self) -> None:
        while not self._turn:
            await asyncio.sleep(0)
        self._turn[0].set_result(None)

    async def block(self) -> None:
        self._turn.append(asyncio.get_running_loop().create_future())
        await self._turn[0]
        self.release.wait(LONG)


def test_calls_of_a_blocked_loop_run_once_in_the_next() -> None:
    blocking, asked = Blocking(), list[str]()

    async def good() -> asyncio.AbstractEventLoop:
        asked.append("good")
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    with Caller(2, grace=0.1, coroutines=True) as caller:
        assert caller.call(0, blocking.first, [(1, blocking.block, 0.2), (2, good), (3, good)]).error is None
        assert timed_out(caller.call(1, blocking.block, timeout=0.2))
        fine = [caller.call(2, good, [(3, good)]), caller.call(3, good)]
        blocking.release.set()
    assert [r.error for r in fine] == [None, None]
    assert fine[0].value is fine[1].value
    assert asked == ["good"] * 2


def test_what_is_taken_back_before_its_first_step_is_not_begun() -> None:
    blocking, asked = Blocking(), list[str]()

    async def ask(name: str) -> None:
        asked.append(name)

    with Caller(2, grace=0.1, coroutines=True) as caller:
        caller.call(0, blocking.first, [(1, blocking.block), (2, partial(ask, "first")), (3, partial(ask, "first"))])
        caller.drop()
        blocking.release.set()
        for i in (4, 5):
            assert caller.call(i, partial(ask, "second")).error is None
    assert asked == ["second"] * 2


def test_only_the_loop_that_is_blocked_is_left_behind() -> None:
    release, begun, loops = threading.Event(), list[int](), list[asyncio.AbstractEventLoop]()

    async def block() -> None:
        begun.append(1)
        while len(begun) < 2:  # so that both hang in the same loop
            await asyncio.sleep(0)
        release.wait(LONG)

    async def good() -> None:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(1.5)  # while the second of those that hang is given up

    with Caller(2, timeout=5 * LONG, grace=0.1, coroutines=True) as caller:
        results = [
            caller.call(0, block, [(1, block, 2.0), (2, good), (3, good)], timeout=1.0),
            *(
                caller.call(i, fn, timeout=limit)
                for i, fn, limit in ((1, block, 2.0), (2, good, None), (3, good, None))
            ),
        ]
        release.set()
    assert [timed_out(r) for r in results] == [True, True, False, False]
    assert [r.error for r in results[2:]] == [None, None]
    assert len(set(loops)) == 1


def test_a_context_is_its_calls_own() -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")

    async def ask() -> str:
        before = tenant.get()
        tenant.set("somebody")
        await asyncio.sleep(0)
        return before

    with Caller(2, coroutines=True) as caller:
        assert [r.value for r in run_all(caller, [ask] * 6)] == ["nobody"] * 6


def test_a_busy_loop_still_hears_of_what_is_ready() -> None:
    """Callbacks that are always ready keep the selector from being asked, but not for long."""
    ours, theirs = socket.socketpair()

    async def talk() -> bytes:
        loop, over = asyncio.get_running_loop(), False
        theirs.setblocking(False)

        def spin() -> None:
            if not over:
                loop.call_soon(spin)

        spin()
        ours.sendall(b"hello")
        try:
            return await asyncio.wait_for(loop.sock_recv(theirs, 5), LONG)
        finally:
            over = True

    with ours, theirs, Caller(coroutines=True) as caller:
        assert caller.call(1, talk).value == b"hello"
