"""Calls that are awaited, in each way there is: all are held to the same."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pytest_auepora.base.retry import RetryPolicy
from pytest_auepora.calls.call import CallResult, Fn
from pytest_auepora.calls.caller import Caller
from pytest_auepora.errors import CallTimeoutError

from .asking import LONG, arun_all, run_all, timed_out

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


class Drive:
    """Runs calls in each way there is, so that all can be held to the same."""

    def __init__(self, inside: bool, coroutines: bool) -> None:
        self.inside, self.coroutines = inside, coroutines

    def __call__(self, fns: list[Fn], limits: dict[Fn, float] | None = None, **options: Any) -> list[CallResult]:
        if not self.inside:
            with Caller(coroutines=self.coroutines, **options) as caller:
                return run_all(caller, fns, limits)

        async def main() -> list[CallResult]:
            with Caller(coroutines=True, **options) as caller:
                return await arun_all(caller, fns, limits)

        return asyncio.run(main())


@pytest.fixture(params=["own loop by way of threads", "own loop", "running loop"])
def drive(request: pytest.FixtureRequest) -> Drive:
    return Drive(request.param == "running loop", request.param == "own loop")


class Meeting:
    """Opens when *size* coroutines are in it at once."""

    def __init__(self, size: int) -> None:
        self.size, self.now, self.most = size, 0, 0
        self.full: asyncio.Event | None = None

    async def attend(self) -> int:
        self.full = self.full or asyncio.Event()
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == self.size:
            self.full.set()
        await asyncio.wait_for(self.full.wait(), LONG)
        await asyncio.sleep(0)
        self.now -= 1
        return self.most


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 3}, {"concurrency": 3, "timeout": LONG}])
def test_what_a_coroutine_returns_or_raises_is_in_the_result(drive: Drive, options: dict[str, Any]) -> None:
    async def good() -> str:
        await asyncio.sleep(0)
        return "good"

    async def bad() -> None:
        await asyncio.sleep(0)
        raise ValueError("bad")

    async def leaving() -> None:
        raise SystemExit(3)

    results = drive([good, bad, leaving, good], **options)
    assert [r.value for r in results] == ["good", None, None, "good"]
    assert [type(r.error) for r in results] == [type(None), ValueError, SystemExit, type(None)]
    traceback = results[1].error.__traceback__ if results[1].error else None
    assert traceback is not None
    assert traceback.tb_frame.f_code.co_name == "bad", "the traceback starts in the user's code"


def test_as_many_run_at_once_as_allowed_and_no_more(drive: Drive) -> None:
    meeting = Meeting(4)
    results = drive([meeting.attend] * 12, concurrency=4)
    assert [r.error for r in results] == [None] * 12
    assert meeting.most == 4
    assert {r.concurrency for r in results} == {4}


def test_all_coroutines_share_one_loop(drive: Drive) -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert len({r.value for r in drive([loop] * 10, concurrency=3)}) == 1


def test_a_function_that_returns_an_awaitable_is_awaited(drive: Drive) -> None:
    class Later:
        def __await__(self) -> Any:
            yield from asyncio.sleep(0).__await__()
            return "later"

    assert [r.value for r in drive([Later, Later, lambda: "now"], concurrency=2)] == ["later", "later", "now"]


def test_a_coroutine_over_its_limit_is_cancelled_and_cleans_up(drive: Drive) -> None:
    cleaned: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            await asyncio.sleep(0)
            cleaned.append("cleaned")

    async def good() -> list[str]:
        return list(cleaned)

    hung, fine = drive([hang, good], {hang: 0.1}, timeout=LONG, grace=LONG)
    assert isinstance(hung.error, CallTimeoutError)
    assert timed_out(hung)
    assert 0.1 <= hung.seconds < LONG / 2
    assert fine.value == ["cleaned"]


def test_a_coroutine_that_refuses_to_end_holds_nobody_up(drive: Drive) -> None:
    over = threading.Event()

    async def stubborn() -> None:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    async def good() -> str:
        return "good"

    async def stop() -> None:
        over.set()
        await asyncio.sleep(0.05)

    limits = {stubborn: 0.1}
    hung, fine, _ = drive([stubborn, good, stop], limits, timeout=LONG, concurrency=2, grace=0.1, lookahead=1)
    assert timed_out(hung)
    assert fine.value == "good"


@pytest.mark.parametrize("coroutines", [False, True])
def test_a_coroutine_that_blocks_its_loop_is_left_with_it(coroutines: bool) -> None:
    release = threading.Event()

    async def block() -> None:
        release.wait(LONG)

    async def good() -> str:
        return "good"

    with Caller(timeout=LONG, grace=0.1, coroutines=coroutines) as caller:
        hung, fine = caller.call(1, block, timeout=0.1), caller.call(2, good)
        release.set()
    assert timed_out(hung)
    assert fine.value == "good"


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 2}])
def test_named_exceptions_are_tried_again_and_counted(drive: Drive, options: dict[str, Any]) -> None:
    def failing(times: int) -> Callable[[], Coroutine[Any, Any, str]]:
        left = [times]

        async def fn() -> str:
            await asyncio.sleep(0)
            if left[0]:
                left[0] -= 1
                raise ConnectionError("gone")
            return "answer"

        return fn

    retry = RetryPolicy(("ConnectionError",), attempts=2, backoff=0.2)
    start = time.perf_counter()
    (once,) = drive([failing(1)], retry=retry, **options)
    waited = time.perf_counter() - start - once.seconds
    (worn,) = drive([failing(2)], retry=retry, **options)
    assert (once.value, once.attempts, once.retry_reasons) == ("answer", 2, ["ConnectionError: gone"])
    assert waited > 0.19, "waiting between attempts is not the call's time"
    assert isinstance(worn.error, ConnectionError)
    assert worn.attempts == 2


def test_context_variables_of_the_owner_are_seen(drive: Drive) -> None:
    tenant = contextvars.ContextVar("tenant", default="nobody")

    async def ask() -> str:
        return tenant.get()

    token = tenant.set("me")
    try:
        assert [r.value for r in drive([ask] * 3, concurrency=2)] == ["me"] * 3
    finally:
        tenant.reset(token)
