"""The loop of our own: what is awaited in it, and when it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
import time
from typing import Any

import pytest

from pytest_auepora.calls.caller import Caller

from .asking import LONG, run_all, timed_out

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


@pytest.mark.parametrize("coroutines", [False, True])
def test_the_loop_lives_as_long_as_the_caller(coroutines: bool) -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    with Caller(coroutines=coroutines) as caller:
        first, second = caller.call(1, loop).value, caller.call(2, loop).value
        caller.drop()
        third = caller.call(3, loop).value
        assert first is second is third
        assert not first.is_closed()
    assert first.is_closed()


@pytest.mark.parametrize("coroutines", [False, True])
def test_waiting_on_the_way_to_the_loop_is_not_the_calls_time(coroutines: bool) -> None:
    free: list[float] = []

    async def block() -> None:
        time.sleep(0.2)
        free.append(time.perf_counter())

    async def quick() -> None:
        pass

    with Caller(4, coroutines=coroutines) as caller:
        _, *fast = run_all(caller, [block, quick, quick, quick])
        since = time.perf_counter() - free[0]
    assert max(r.seconds for r in fast) < max(0.1, since)  # more only on a machine that did nothing for so long


@pytest.mark.parametrize("coroutines", [False, True])
def test_dropped_coroutines_are_cancelled_and_clean_up(coroutines: bool) -> None:
    began, cleaned = threading.Event(), threading.Event()

    async def hang() -> None:
        began.set()
        try:
            await asyncio.sleep(LONG)
        finally:
            cleaned.set()

    async def wait() -> None:
        while not began.is_set():
            await asyncio.sleep(0)

    with Caller(2, grace=LONG, coroutines=coroutines) as caller:
        caller.call(0, wait, [(1, hang)])
        start = time.perf_counter()
        caller.drop()
        assert cleaned.is_set()
        assert time.perf_counter() - start < LONG / 2, "it is cancelled, not waited for"


def test_an_abandoned_function_may_still_return_a_coroutine() -> None:
    release, over = threading.Event(), threading.Event()

    async def nobody_awaits_me() -> None:
        pass

    def slow_to_return_it() -> Any:
        release.wait(LONG)
        over.set()
        return nobody_awaits_me()

    with Caller(timeout=0.05) as caller:
        assert timed_out(caller.call(1, slow_to_return_it))
        release.set()
        assert over.wait(LONG)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C to one process there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_cancels_what_a_waiting_owner_waits_for() -> None:
    cancelled = threading.Event()

    async def hang() -> None:
        await asyncio.sleep(1)  # until the owner waits; before that, closing cancels the call
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(LONG)
        finally:
            cancelled.set()

    with Caller() as caller:
        with pytest.raises(KeyboardInterrupt):
            caller.call(1, hang)
        assert cancelled.wait(LONG / 2)


def test_closing_ends_asynchronous_generators() -> None:
    ended = threading.Event()

    async def numbers() -> Any:
        try:
            yield 1
            yield 2
        finally:
            ended.set()

    source = numbers()

    async def first() -> int:
        return int(await source.__anext__())

    with Caller() as caller:
        assert caller.call(1, first).value == 1
    assert ended.is_set()


@pytest.mark.parametrize("coroutines", [False, True])
def test_a_task_that_ends_the_process_ends_only_itself(coroutines: bool) -> None:
    async def start() -> None:
        async def leave() -> None:
            raise SystemExit

        task = asyncio.ensure_future(leave())
        await asyncio.wait({task})
        task.exception()

    async def good() -> str:
        return "good"

    with Caller(coroutines=coroutines) as caller:
        caller.call(1, start)
        assert caller.call(2, good).value == "good"


# -- who had it


async def thread() -> threading.Thread:
    return threading.current_thread()


def test_a_loop_ends_with_who_had_it() -> None:
    """As that of a metric with an async function, which nobody closes."""
    caller = Caller()
    threads = [caller.call("once", thread).value, caller.call("again", thread).value]
    assert threads[0] is threads[1]
    assert threads[0].is_alive()
    del caller
    gc.collect()
    threads[0].join(LONG)
    assert not threads[0].is_alive()


def test_a_loop_that_was_closed_does_not_end_the_next_one() -> None:
    caller = Caller()
    first = caller.call("before", thread).value
    caller.close()
    assert not first.is_alive()
    then = caller.call("then", thread).value
    gc.collect()
    assert caller.call("after", thread).value is then
    assert then.is_alive()
    caller.close()
    assert not then.is_alive()
