"""A call in its owner's own thread or task, as if nobody stood between."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from .call import Call, CallResult, attempt_here, without_this_frame
from .capture import handed_over

__all__ = ["acall_here", "call_here", "running_trio"]

_CANCELLATIONS = ("CancelledError", "Cancelled")  # asyncio's, trio's: of the owner's own task


def call_here(call: Call, await_elsewhere: Callable[[Call, Any], None]) -> CallResult:
    """Run *call* in this thread.  If its function returns an awaitable, ``await_elsewhere`` finishes the call.

    Raises:
        KeyboardInterrupt: the user's.
    """
    call.claim()
    while True:
        value, error, is_awaitable = attempt_here(call, carry_interrupts=False)
        if is_awaitable:
            call.detach()
            call.enter_loop()
            await_elsewhere(call, value)
            return handed_over(call)
        pause = call.settle(value, error)
        if pause is None:
            return call.take()
        time.sleep(pause)


def running_trio() -> Any | None:
    """Return trio where the current task is one of its own, None in a loop of asyncio."""
    if (trio := sys.modules.get("trio")) is None:
        return None
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return None
    return trio


async def acall_here(call: Call) -> CallResult:
    """Run *call* in this task; a time limit holds for what is awaited under trio.

    Raises:
        KeyboardInterrupt, CancelledError: they are the owner's.
    """
    call.claim()
    trio = running_trio()
    while True:
        value, error, is_awaitable = attempt_here(call, carry_interrupts=False)
        late = False
        if is_awaitable:
            try:
                if trio is None or (left := call.left()) is None:
                    value = await value
                else:
                    with trio.move_on_after(max(left, 0.0)) as limit:
                        value = await value
                    late = limit.cancelled_caught
            except BaseException as exc:
                if isinstance(exc, KeyboardInterrupt) or type(exc).__name__ in _CANCELLATIONS:
                    raise
                value, error = None, without_this_frame(exc)
        pause = call.settle(value, error, late=late)
        if pause is None:
            return call.take()
        if trio is not None:
            await trio.sleep(pause)
            continue
        import asyncio

        await asyncio.sleep(pause)
