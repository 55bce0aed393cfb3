"""Calls in a loop that somebody else runs, when one is dropped, cancelled or interrupted."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pytest_auepora.calls.call import Call, CallResult, Fn
from pytest_auepora.calls.caller import Caller
from pytest_auepora.errors import AueporaError

from .asking import LONG

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


def hanging(cleaned: list[int]) -> Fn:
    """What ends when it is cancelled, and tells *cleaned* so."""

    async def hang() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            cleaned.append(1)

    return hang


async def good() -> str:
    await asyncio.sleep(0.01)
    return "good"


def test_what_was_started_in_another_loop_is_cancelled_there() -> None:
    cleaned: list[int] = []
    hang = hanging(cleaned)
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    try:
        with Caller(2, coroutines=True) as caller:
            first.run_until_complete(caller.acall(1, good, [(2, hang)]))
            second.run_until_complete(caller.acall(3, good, [(4, good)]))
            first.run_until_complete(asyncio.sleep(0.01))
            assert cleaned == [1]
            second.run_until_complete(caller.acall(4, good))
    finally:
        first.close()
        second.close()


def test_an_answer_that_nobody_waits_for_any_more_is_let_go(release: threading.Event) -> None:
    given: list[int] = []

    async def unwanted() -> None: ...

    def late() -> Any:
        release.wait()
        given.append(1)
        return unwanted()

    async def main() -> None:
        with Caller(2) as caller:
            await caller.acall(1, lambda: "good", [(2, late)])
            caller.drop()
            await asyncio.sleep(0.01)
            release.set()
            while not given:
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_an_end_while_submitting_leaves_no_call_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    detach, ended = Call.detach, list[int]()

    def ending(call: Call) -> None:
        if not ended and call.fn is not first:
            ended.append(1)
            raise TimeoutError  # as pytest-timeout does, at any place
        detach(call)

    async def first() -> str:
        return "good"

    async def main() -> CallResult:
        with Caller(2, coroutines=True) as caller:
            with pytest.raises(TimeoutError):
                await caller.acall(1, first, [(2, good)])
            return await asyncio.wait_for(caller.acall(2, good, [(3, good)]), LONG)

    monkeypatch.setattr(Call, "detach", ending)
    assert asyncio.run(main()).value == "good"
    assert ended


def test_a_loop_may_cancel_a_call_before_its_first_step() -> None:
    ran: list[int] = []

    async def main() -> None:
        owner = asyncio.current_task()

        async def never_started() -> None:
            ran.append(1)

        def cancel_it() -> None:
            for task in asyncio.all_tasks() - {owner, asyncio.current_task()}:
                task.cancel()

        with Caller(2, timeout=LONG, coroutines=True) as caller:
            await caller.acall(1, cancel_it, [(2, never_started)])
            await asyncio.sleep(0.01)
            assert type((await caller.acall(2, never_started)).error) is AueporaError

    asyncio.run(main())
    assert ran == []


def test_a_cancelled_owner_cancels_its_call() -> None:
    async def main() -> None:
        owner = asyncio.ensure_future(Caller(coroutines=True).acall(1, lambda: asyncio.sleep(LONG)))
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
        caller = Caller(2, coroutines=True)
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


def test_the_loop_may_be_entered_later_to_drop_what_is_in_it() -> None:
    """A plugin drops from a synchronous hook, between two runs of a session's loop."""
    cleaned: list[int] = []
    hang = hanging(cleaned)
    loop = asyncio.new_event_loop()
    try:
        caller = Caller(2, coroutines=True)
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
        caller = Caller(2, coroutines=True)

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
        await Caller(concurrency, coroutines=True).acall(1, interrupt, [(2, interrupt)])

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
