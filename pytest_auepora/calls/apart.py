"""One attempt of a call in a thread of its own, awaited in a loop that it would block."""

from __future__ import annotations

import asyncio
import threading
from time import perf_counter
from typing import Any

from .call import Call, attempt_here, close_unawaited

__all__ = ["attempt_apart"]

Attempt = tuple[Any, "BaseException | None", bool]
"""What `attempt_here` gives."""


async def attempt_apart(call: Call) -> tuple[Attempt, float]:
    """Return what one attempt gave, and when it ended: the loop may have stood still since.

    Where the attempt runs out of time the call is given up, and so is the thread: it is left behind.
    """
    loop = asyncio.get_running_loop()
    made: asyncio.Future[tuple[Attempt, float]] = loop.create_future()

    def arrive(found: tuple[Attempt, float]) -> None:
        if made.done():
            close_unawaited(found[0][0])
        else:
            made.set_result(found)

    def attempt() -> None:
        found = attempt_here(call, carry_interrupts=True), perf_counter()
        try:
            loop.call_soon_threadsafe(arrive, found)
        except RuntimeError:  # the loop is closed
            close_unawaited(found[0][0])

    context = call.context.copy()
    threading.Thread(target=context.run, args=(attempt,), name="auepora-call", daemon=True).start()
    try:
        while not made.done() and not call.expire():
            left = call.timeout if call.began is None else call.left()
            await asyncio.wait({made}, timeout=None if left is None else max(left, 0.001))
        return made.result() if made.done() else ((None, None, False), perf_counter())
    finally:
        made.cancel()
