"""Calls that are awaited in a loop that somebody else runs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Hashable
from functools import partial
from typing import Any

import pytest

from pytest_auepora.base.retry import RetryPolicy
from pytest_auepora.calls.call import CallResult, Fn
from pytest_auepora.calls.caller import Caller
from pytest_auepora.errors import CallTimeoutError

from .asking import LONG, timed_out

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


def test_what_was_started_in_another_loop_is_forgotten() -> None:
    caller = Caller(2, coroutines=True)
    loops: list[asyncio.AbstractEventLoop] = []

    async def ask() -> int:
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return len(loops)

    async def one(key: int) -> CallResult:
        return await caller.acall(key, ask, [(key + 1, ask), (key + 2, ask)])

    for key in range(3):
        result = asyncio.run(one(key))
        assert result.error is None
        assert result.value is not None
    assert len(set(map(id, loops))) >= 1
    assert loops[-1].is_closed()
    caller.close()


def test_owners_with_loops_of_their_own_start_nothing_more() -> None:
    seen: list[int] = []

    async def ask(key: int) -> None:
        seen.append(key)
        await asyncio.sleep(0)

    async def one(key: int) -> CallResult:
        return await caller.acall(key, partial(ask, key), [(k, partial(ask, k)) for k in range(key + 1, 9)])

    with Caller(2, coroutines=True) as caller:
        for key in range(9):
            asyncio.run(one(key))
    assert seen[0] == 0
    assert seen[-8:] == list(range(1, 9)), "each once, after what the first had started"


def test_functions_that_block_overlap_and_are_given_up(release: threading.Event) -> None:
    meeting = threading.Barrier(2)
    fns: list[Fn] = [partial(meeting.wait, LONG), partial(meeting.wait, LONG), release.wait, lambda: "good"]

    async def main() -> list[CallResult]:
        with Caller(2) as caller:
            return [
                await caller.acall(i, fn, [(k, fns[k], limits[k]) for k in range(i + 1, 4)], timeout=limits[i])
                for i, fn in enumerate(fns)
            ]

    limits = [LONG, LONG, 0.05, LONG]
    one, two, hung, last = asyncio.run(main())
    assert {one.value, two.value} == {0, 1}
    assert type(hung.error) is CallTimeoutError
    assert last.value == "good"


def test_what_follows_a_call_is_done_before_its_owner_goes_on() -> None:
    """Or the scores of an early answer would be looked for before its judges are asked."""
    began, order = threading.Event(), list[str]()

    def after(key: Hashable, _: CallResult) -> None:
        if key == 1:
            began.set()
            time.sleep(0.1)
            order.append("judged")

    async def main() -> None:
        with Caller(2, after=after) as caller:
            await caller.acall(0, partial(began.wait, LONG), [(1, str)])
            await caller.acall(1, str)
            order.append("asked for")

    asyncio.run(main())
    assert order == ["judged", "asked for"]


def test_coroutines_of_functions_run_in_the_running_loop() -> None:
    asked: list[asyncio.AbstractEventLoop] = []

    async def answer() -> str:
        asked.append(asyncio.get_running_loop())
        if len(asked) == 1:
            raise ConnectionError
        return "good"

    def give() -> Any:
        return answer()

    async def main() -> CallResult:
        retry = RetryPolicy((ConnectionError,), backoff=0.01)
        with Caller(timeout=LONG, retry=retry) as caller:
            result = await caller.acall(1, give)
            assert asked == [asyncio.get_running_loop()] * 2
            return result

    assert asyncio.run(main()).value == "good"


def test_alone_and_unlimited_a_call_runs_in_its_owners_task() -> None:
    async def task() -> Any:
        return asyncio.current_task()

    async def main() -> None:
        caller = Caller(coroutines=True)
        assert (await caller.acall(1, task, [(2, task)])).value is asyncio.current_task()

    asyncio.run(main())


@pytest.mark.parametrize(("concurrency", "timeout"), [(1, None), (2, None), (2, 0.05)])
def test_a_function_that_does_not_await_is_called_in_the_loop(concurrency: int, timeout: float | None) -> None:
    calls: list[int] = []

    def plain() -> int:
        calls.append(threading.get_ident())
        if len(calls) == 1:
            raise ConnectionError
        return calls[-1]

    def blocking() -> None:
        time.sleep(0.1)

    async def main() -> None:
        retry = RetryPolicy((ConnectionError,), backoff=0)
        with Caller(concurrency, timeout=timeout, retry=retry, coroutines=True) as caller:
            result = await caller.acall(1, plain, timeout=LONG if timeout else None)
            assert (result.value, result.attempts, result.concurrency) == (threading.get_ident(), 2, 1)
            assert timed_out(await caller.acall(2, blocking)) is (timeout is not None)

    asyncio.run(main())


def test_a_call_asked_for_again_does_not_wait_behind_early_ones() -> None:
    order: list[str] = []

    def named(name: str) -> Fn:
        async def fn() -> None:
            await asyncio.sleep(0.001)
            order.append(name)

        return fn

    async def main() -> None:
        with Caller(2, lookahead=20, coroutines=True) as caller:
            early = [(i, named("early")) for i in range(20)]
            await caller.acall("x", named("x"), early)
            await caller.acall("again", named("again"), early)

    asyncio.run(main())
    assert order.index("again") <= 6


@pytest.mark.parametrize("concurrency", [1, 2])
def test_trio_calls_run_one_at_a_time_with_limits_and_retries(concurrency: int) -> None:
    trio = pytest.importorskip("trio", reason="trio is in the test group")
    asked: list[int] = []

    async def ask() -> str:
        asked.append(1)
        await trio.sleep(0.01)
        if len(asked) == 1:
            raise ConnectionError
        return "good"

    async def main() -> list[CallResult]:
        retry = RetryPolicy((ConnectionError,), backoff=0.01)
        with Caller(concurrency, retry=retry, coroutines=True) as caller:
            first = await caller.acall(1, ask, [(2, ask)])
            hung = await caller.acall(2, partial(trio.sleep, LONG), timeout=0.05)
            return [first, hung, await caller.acall(3, ask, timeout=LONG)]

    first, hung, last = trio.run(main)
    assert (first.value, first.attempts, first.concurrency, last.value) == ("good", 2, 1, "good")
    assert type(hung.error) is CallTimeoutError
    assert len(asked) == 3
