"""Calls that are awaited, and the loop of our own for those whose owner runs none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import finalize

from .call import Call, attempt_here, close_unawaited, without_this_frame
from .latch import Latch

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

__all__ = ["LoopThread", "OwnLoop", "finish_in_loop"]

_SIGN = 0.5  # seconds that a loop has at least to give a sign of life, on a machine with much else to do


async def finish_in_loop(
    call: Call, awaitable: Any = None, *, grace: float, carry_interrupts: bool, blocks: bool = False
) -> None:
    """Run *call* to its end in the running loop; its first attempt may have been made, giving *awaitable*.

    Where its function *blocks*, it is called in a thread, and only what it may give to be awaited is awaited here.
    """
    import asyncio

    if awaitable is not None and not call.arrive():
        return  # given up on the way
    while True:
        value, error, is_awaitable = awaitable, None, awaitable is not None
        ended, late = None, False
        if not is_awaitable and blocks:
            from .apart import attempt_apart

            (value, error, is_awaitable), ended = await attempt_apart(call)
        elif not is_awaitable:
            value, error, is_awaitable = attempt_here(call, carry_interrupts=carry_interrupts)
        if is_awaitable:
            value, error, ended, late = await _outcome(value, call, grace, carry_interrupts)
        pause = call.settle(value, error, ended=ended, late=late)
        if pause is None:
            return
        awaitable = None
        await asyncio.sleep(pause)


async def _outcome(
    awaitable: Any, call: Call, grace: float, carry_interrupts: bool
) -> tuple[Any, BaseException | None, float | None, bool]:
    """Await within the time left: the value, the exception, when it ended, and whether that was too late."""
    left = call.left()
    if left is None:
        return *(await _caught(awaitable, carry_interrupts)), None, False
    import asyncio

    inner = asyncio.ensure_future(_caught(awaitable, carry_interrupts))
    inner.add_done_callback(lambda _: close_unawaited(awaitable))
    try:
        await asyncio.wait({inner}, timeout=max(left, 0.001))
        ended = perf_counter()
        if inner.done():
            return *inner.result(), ended, False
    finally:
        if not inner.done():
            inner.cancel()
            await asyncio.wait({inner}, timeout=grace)
    return None, None, ended, True


async def _caught(awaitable: Awaitable[Any], carry_interrupts: bool) -> tuple[Any, BaseException | None]:
    """Await without raising: ``SystemExit`` inside a task would stop the whole loop."""
    try:
        return await awaitable, None
    except BaseException as exc:
        if isinstance(exc, KeyboardInterrupt) and not carry_interrupts:
            raise
        return None, without_this_frame(exc)


class LoopThread:
    """One event loop in one daemon thread, so that clients bound to a loop survive from call to call.

    It ends when it is closed, or with the last one who could have something called in it.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._lock = threading.Lock()
        self._own: OwnLoop | None = None

    def submit(self, call: Call, awaitable: Any, done: Callable[[Call], Any]) -> None:
        """Finish *call*, whose function gave *awaitable*; ``done(call)`` follows in any case.

        Raises:
            RuntimeError: no thread can be started for the loop.
        """
        with self._lock:
            try:
                own = self._made()
            except BaseException:
                close_unawaited(awaitable)
                raise
            own.arriving[call] = awaitable, done
            own.soon(own.start, call, awaitable, done, context=call.context)

    def soon(self, action: Callable[[OwnLoop], None]) -> None:
        """Have ``action(loop)`` called in the loop."""
        with self._lock:
            own = self._made()
            own.soon(action, own)

    def _made(self) -> OwnLoop:
        if self._own is None:
            self._own = OwnLoop(self._grace, self)
        return self._own

    def lives(self, own: OwnLoop | None) -> bool:
        """Whether *own* is the loop that new calls run in."""
        return own is not None and own is self._own

    def cancel(self, calls: list[Call]) -> None:
        """Cancel what runs of *calls*."""
        with self._lock:
            if self._own is not None:
                self._own.soon(self._own.cancel, calls)

    def holds(self, call: Call) -> bool:
        """Whether *call* is in the loop that new calls run in, or on the way to it."""
        return self._own is not None and (call in self._own.tasks or call in self._own.arriving)

    def doubt(self) -> None:
        """Ask the loop for a sign of life, because a call was given up; `is_blocked` tells if none comes."""
        with self._lock:
            if (own := self._own) is not None and (own.sign is None or own.sign.is_set()):
                own.sign, own.doubted = Latch(), perf_counter()
                own.soon(own.sign.set)

    def is_blocked(self) -> bool:
        """Whether the loop has given no sign for longer than it takes a call to end that is cancelled."""
        if (own := self._own) is None or own.sign is None:
            return False
        if not own.sign.is_set():
            return perf_counter() > own.doubted + max(self._grace, _SIGN)
        if any(call.state == "lost" for call in list(own.tasks)):  # what is still in there may block it yet
            self.doubt()
        return False

    def leave(self) -> list[Call]:
        """Leave the loop, which is blocked, behind; what it has not begun goes to the next.

        Returns:
            The calls that are in it.
        """
        if (own := self._own) is None:
            return []
        self.close(wait=False)
        moved = {call: arriving for call in list(own.arriving) if (arriving := own.take(call)) is not None}
        for call, arriving in moved.items():
            call.arrive()  # in no loop yet, but its time on the way to that one does not count
            self._send_on(call, *arriving)
        return [call for call in list(own.tasks) if call not in moved]

    def _send_on(self, call: Call, awaitable: Any, done: Callable[[Call], Any]) -> None:
        try:
            self.submit(call, awaitable, done)
        except RuntimeError as exc:
            call.lose(exc)
            done(call)

    def close(self, *, wait: bool = True) -> None:
        """Cancel everything and end the loop.  The next call gets a new one; a blocked loop is left behind."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.end()
            if wait:
                own.thread.join(2 * self._grace)


def _new_loop() -> asyncio.AbstractEventLoop:
    """Return the kind of loop that the program wants; the usual one with a selector of ours."""
    import asyncio

    loop = asyncio.new_event_loop()
    if type(loop) is not asyncio.SelectorEventLoop:
        return loop
    from .sparing_selector import SparingSelector

    loop.close()
    return asyncio.SelectorEventLoop(SparingSelector())


class OwnLoop:
    """A running loop, its thread and the tasks of its calls; those that `arriving` has are not begun.

    ``soon``, ``end`` and ``take`` are for other threads; every other method but ``__init__`` runs in the loop.
    """

    def __init__(self, grace: float, owner: LoopThread) -> None:
        self.grace = grace
        self.loop = _new_loop()
        self.soon = self.loop.call_soon_threadsafe
        self.end = finalize(owner, self.soon, self.shut_down)
        self.end.atexit = False  # the interpreter ends its thread anyway
        self.arriving: dict[Call, tuple[Any, Callable[[Call], Any]]] = {}
        self.begun: set[Call] = set()
        self.tasks: dict[Call, asyncio.Task[None]] = {}
        self.sign: Latch | None = None  # of life: None if there was no doubt of it
        self.doubted = 0.0
        self.thread = threading.Thread(target=self.serve, name="auepora-loop", daemon=True)
        try:
            self.thread.start()
        except RuntimeError:  # the system has none left
            self.end.detach()
            self.loop.close()
            raise

    def serve(self) -> None:
        try:
            while True:
                try:
                    self.loop.run_forever()
                except (KeyboardInterrupt, SystemExit):  # of a task that a call started: not for this thread
                    continue
                break
        finally:
            self.loop.close()

    def take(self, call: Call) -> tuple[Any, Callable[[Call], Any]] | None:
        """Return what is to be done for *call*, once: to whoever goes on with it, here or in another loop."""
        return self.arriving.pop(call, None)

    def start(self, call: Call, awaitable: Any, done: Callable[[Call], Any]) -> None:
        self.tasks[call] = task = self.loop.create_task(self.run(call, awaitable))
        task.add_done_callback(partial(self.ended, call, awaitable, done))

    async def run(self, call: Call, awaitable: Any) -> None:
        if self.take(call) is not None:  # not before this first step: another loop can take what a blocked one has
            self.begun.add(call)
            await finish_in_loop(call, awaitable, grace=self.grace, carry_interrupts=True)

    def ended(self, call: Call, awaitable: Any, done: Callable[[Call], Any], task: asyncio.Task[None]) -> None:
        self.tasks.pop(call, None)
        if call in self.begun:
            self.begun.discard(call)
        elif self.take(call) is None:
            return  # another loop goes on with it
        close_unawaited(awaitable)  # cancelled or given up before its first step
        call.lose(None if task.cancelled() else task.exception())
        done(call)

    def cancel(self, calls: list[Call]) -> None:
        for call in calls:
            if (task := self.tasks.get(call)) is not None:
                task.cancel()

    def shut_down(self) -> None:
        self.closing = self.loop.create_task(self.wind_up())

    async def wind_up(self) -> None:
        import asyncio

        try:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            if others:
                await asyncio.wait(others, timeout=self.grace)
            await asyncio.wait_for(self.loop.shutdown_asyncgens(), self.grace)
        finally:
            self.loop.stop()
