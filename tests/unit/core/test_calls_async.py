"""Calls that are awaited: in the caller's own loop, and in a loop that somebody else runs."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import pytest

from pytest_auepora.core.calls import Caller, CallResult, active_call
from pytest_auepora.core.retry import RetryPolicy
from pytest_auepora.errors import CallTimeoutError

LONG = 20.0

Fn = Callable[[], Any]


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No thread, no loop, no coroutine that nobody awaited (pytest makes errors of those when they are collected)."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(LONG)
        assert not thread.is_alive(), thread
    gc.collect()


def run_all(caller: Caller, fns: list[Fn]) -> list[CallResult]:
    return [caller.call(i, fn, ((j, fns[j]) for j in range(i + 1, len(fns)))) for i, fn in enumerate(fns)]


async def arun_all(caller: Caller, fns: list[Fn]) -> list[CallResult]:
    return [await caller.acall(i, fn, ((j, fns[j]) for j in range(i + 1, len(fns)))) for i, fn in enumerate(fns)]


class Drive:
    """Runs calls in each way there is, so that all can be held to the same."""

    def __init__(self, inside: bool, coroutines: bool) -> None:
        self.inside, self.coroutines = inside, coroutines

    def __call__(self, fns: list[Fn], **options: Any) -> list[CallResult]:
        if not self.inside:
            with Caller(coroutines=self.coroutines, **options) as caller:
                return run_all(caller, fns)

        async def main() -> list[CallResult]:
            with Caller(**options) as caller:
                return await arun_all(caller, fns)

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

    hung, fine = drive([hang, good], timeout=0.1)
    assert isinstance(hung.error, CallTimeoutError)
    assert hung.timed_out
    assert 0.1 <= hung.seconds < LONG / 2
    assert fine.value == ["cleaned"]


def test_a_coroutine_that_refuses_to_be_cancelled_holds_nobody_up(drive: Drive) -> None:
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

    hung, fine, _ = drive([stubborn, good, stop], timeout=0.1, concurrency=2, grace=0.1, lookahead=1)
    assert hung.timed_out
    assert fine.value == "good"


@pytest.mark.parametrize("coroutines", [False, True])
def test_a_coroutine_that_blocks_its_loop_is_left_behind_with_it(coroutines: bool) -> None:
    release = threading.Event()

    async def block() -> None:
        release.wait(LONG)

    async def good() -> str:
        return "good"

    with Caller(timeout=0.1, grace=0.1, coroutines=coroutines) as caller:
        hung, fine = caller.call(1, block), caller.call(2, good)
        release.set()
    assert hung.timed_out
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


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 2}])
def test_the_active_call_is_known_inside_it_only(drive: Drive, options: dict[str, Any]) -> None:
    async def ask() -> CallResult | None:
        await asyncio.sleep(0)
        return active_call()

    results = drive([ask] * 3, **options)
    assert all(r.value is r for r in results)
    assert active_call() is None


# -- the caller's own loop


@pytest.mark.parametrize("coroutines", [False, True])
def test_the_loop_survives_from_call_to_call_and_ends_with_the_caller(coroutines: bool) -> None:
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


# -- functions that are known to be coroutines


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


def test_what_a_blocked_loop_had_not_begun_is_done_by_the_next_and_once() -> None:
    blocking, asked = Blocking(), list[str]()

    async def good() -> asyncio.AbstractEventLoop:
        asked.append("good")
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    with Caller(2, grace=0.1, coroutines=True) as caller:
        assert caller.call(0, blocking.first, [(1, blocking.block, 0.2), (2, good), (3, good)]).error is None
        assert caller.call(1, blocking.block, timeout=0.2).timed_out
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
    assert [r.timed_out for r in results] == [True, True, False, False]
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


def test_a_function_given_up_in_its_thread_may_still_return_a_coroutine() -> None:
    release, over = threading.Event(), threading.Event()

    async def nobody_awaits_me() -> None:
        pass

    def slow_to_return_it() -> Any:
        release.wait(LONG)
        over.set()
        return nobody_awaits_me()

    with Caller(timeout=0.05) as caller:
        assert caller.call(1, slow_to_return_it).timed_out
        release.set()
        assert over.wait(LONG)


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C to one process there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_reaches_an_owner_that_waits_and_cancels_what_it_waits_for() -> None:
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


# -- a loop of somebody else


def test_what_was_started_in_another_loop_is_forgotten() -> None:
    caller = Caller(2)
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
    assert caller.started == len(loops)
    caller.close()


def test_what_was_started_in_another_loop_is_cancelled_there() -> None:
    cleaned: list[int] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            cleaned.append(1)

    async def good() -> None:
        await asyncio.sleep(0.01)

    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    try:
        with Caller(2) as caller:
            first.run_until_complete(caller.acall(1, good, [(2, hang)]))
            second.run_until_complete(caller.acall(3, good, [(4, good)]))
            first.run_until_complete(asyncio.sleep(0.01))
            assert cleaned == [1]
            second.run_until_complete(caller.acall(4, good))
            assert caller.started == 4
    finally:
        first.close()
        second.close()


def test_a_loop_may_cancel_a_call_before_its_first_step() -> None:
    async def main() -> None:
        async def never_started() -> None:
            pass

        caller = Caller(2, timeout=LONG)
        await caller.acall(1, lambda: None, [(2, never_started)])
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0.01)
        caller.close()

    asyncio.run(main())


def test_when_the_owner_is_cancelled_so_is_its_call_in_its_own_task() -> None:
    async def main() -> None:
        owner = asyncio.ensure_future(Caller().acall(1, lambda: asyncio.sleep(LONG)))
        await asyncio.sleep(0.01)
        owner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await owner

    asyncio.run(main())


def test_when_the_owner_is_cancelled_so_is_its_call() -> None:
    cancelled: list[bool] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main() -> None:
        caller = Caller(2)
        owner = asyncio.ensure_future(caller.acall(1, hang, [(2, hang)]))
        await asyncio.sleep(0.05)
        owner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await owner
        caller.drop()
        await asyncio.sleep(0.01)
        assert len(asyncio.all_tasks()) == 1, "nothing of ours is left in somebody else's loop"

    asyncio.run(main())
    assert cancelled == [True, True]


def test_alone_and_unlimited_a_call_runs_in_its_owners_task() -> None:
    async def task() -> Any:
        return asyncio.current_task()

    async def main() -> None:
        caller = Caller()
        assert (await caller.acall(1, task, [(2, task)])).value is asyncio.current_task()
        assert caller.started == 1

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
        with Caller(concurrency, timeout=timeout, retry=retry) as caller:
            result = await caller.acall(1, plain, timeout=LONG if timeout else None)
            assert (result.value, result.attempts, result.concurrency) == (threading.get_ident(), 2, 1)
            assert (await caller.acall(2, blocking)).timed_out is (timeout is not None)

    asyncio.run(main())


def test_a_call_asked_for_again_does_not_wait_behind_early_ones() -> None:
    order: list[str] = []

    def named(name: str) -> Fn:
        async def fn() -> None:
            await asyncio.sleep(0.001)
            order.append(name)

        return fn

    async def main() -> None:
        with Caller(2, lookahead=20) as caller:
            early = [(i, named("early")) for i in range(20)]
            await caller.acall("x", named("x"), early)
            await caller.acall("again", named("again"), early)

    asyncio.run(main())
    assert order.index("again") <= 6


def test_the_loop_may_be_entered_later_to_drop_what_is_in_it() -> None:
    """A plugin drops from a synchronous hook, between two runs of a session's loop."""
    cleaned: list[int] = []

    async def hang() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            cleaned.append(1)

    async def good() -> str:
        await asyncio.sleep(0.01)
        return "good"

    loop = asyncio.new_event_loop()
    try:
        caller = Caller(2)
        assert loop.run_until_complete(caller.acall(0, good, [(1, hang)])).value == "good"
        caller.drop()
        loop.run_until_complete(asyncio.sleep(0.01))
        assert cleaned == [1]
        assert not asyncio.all_tasks(loop)
    finally:
        loop.close()
    caller.close()


def test_anyio_cancel_scopes_reach_a_call() -> None:
    anyio = pytest.importorskip("anyio", reason="anyio is in the test group")

    async def main() -> None:
        caller = Caller(2)

        async def hang() -> None:
            await anyio.sleep(LONG)

        with anyio.move_on_after(0.05) as scope:
            await caller.acall(1, hang, [(2, hang)])
        assert scope.cancelled_caught
        caller.close()

    anyio.run(main)


@pytest.mark.parametrize("concurrency", [1, 2])
def test_the_users_interrupt_is_not_a_result(concurrency: int) -> None:
    async def interrupt() -> None:
        raise KeyboardInterrupt

    async def main() -> None:
        await Caller(concurrency).acall(1, interrupt, [(2, interrupt)])

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())


def test_in_the_loop_of_the_owner_the_time_is_taken_before_the_first_call() -> None:
    order: list[str] = []

    async def call(name: str) -> str:
        order.append(name)
        return name

    async def owner() -> None:
        caller = Caller(2, meanwhile=lambda: order.append("meanwhile"))
        fns = [partial(call, "a"), partial(call, "b")]
        for i, fn in enumerate(fns):
            await caller.acall(i, fn, [(k, fns[k]) for k in range(i + 1, len(fns))])

    asyncio.run(owner())
    assert order == ["meanwhile", "a", "b"]
