"""Calls that are awaited: in one loop of our own, or in a loop that somebody else runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any
from weakref import finalize

from .one_call import Call, attempt_here, close_unawaited, without_this_frame

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

__all__ = ["LoopLane", "LoopThread", "OwnLoop", "finish_in_loop"]


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
            own.tasks[call] = None
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

    def abandon(self, call: Call) -> None:
        """Leave the loop of *call*, which is blocked, behind; not one that has taken its place since."""
        if self._own is not None and call in self._own.tasks:
            self.close(wait=False)

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
    """A running loop, its thread and its tasks (None: on the way).

    ``soon`` and ``end`` are for other threads; every method but ``__init__`` runs in the loop.
    """

    def __init__(self, grace: float, owner: LoopThread) -> None:
        self.grace = grace
        self.loop = _new_loop()
        self.soon = self.loop.call_soon_threadsafe
        self.end = finalize(owner, self.soon, self.shut_down)
        self.end.atexit = False  # the interpreter ends its thread anyway
        self.tasks: dict[Call, asyncio.Task[None] | None] = {}
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

    def start(self, call: Call, awaitable: Any, done: Callable[[Call], Any]) -> None:
        task = self.loop.create_task(finish_in_loop(call, awaitable, grace=self.grace, carry_interrupts=True))
        self.tasks[call] = task
        task.add_done_callback(partial(self.ended, call, awaitable, done))

    def ended(self, call: Call, awaitable: Any, done: Callable[[Call], Any], task: asyncio.Task[None]) -> None:
        self.tasks.pop(call, None)
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


class LoopLane:
    """At most *size* calls at once in the running loop, which is somebody else's.

    Functions that *blocks* says may block are called in threads, so that they overlap and can be given up.
    """

    def __init__(self, size: int, grace: float, *, blocks: bool = False) -> None:
        import asyncio

        self.loop = asyncio.get_running_loop()
        self.ahead: dict[Hashable, Call] = {}
        self.started = 0
        self._size = size
        self._grace = grace
        self._blocks = blocks
        self._queue: deque[Call] = deque()
        self._running: dict[Call, asyncio.Task[None]] = {}

    def submit(self, call: Call) -> None:
        """Queue *call* behind the others."""
        self._queue.append(call)
        self._pump()

    def promote(self, call: Call) -> None:
        """Let *call* be the next to start: somebody is waiting for it."""
        if call in self._queue:
            self._queue.remove(call)
            self._queue.appendleft(call)

    async def wait(self, call: Call) -> None:
        """Wait until *call* is finished; when the waiting is cancelled, so is the call."""
        if call.finished.is_set():
            return
        arrived = self.loop.create_future()
        call.on_finish = lambda: None if arrived.done() else arrived.set_result(None)
        try:
            await arrived
        except BaseException:
            self.cancel([call])
            raise

    def cancel(self, calls: Iterable[Call]) -> None:
        """Cancel *calls*; works from outside the loop too, which then does it when it next runs."""
        for call in calls:
            task = self._running.get(call)
            if not call.cancel() and task is not None and not self.loop.is_closed():
                task.cancel()

    def drop(self) -> None:
        """Cancel what was started early."""
        self.cancel(self.ahead.values())
        self.ahead.clear()

    def _pump(self) -> None:
        while self._queue and len(self._running) < self._size:
            call = self._queue.popleft()
            if call.claim():
                self.started += 1
                work = finish_in_loop(call, grace=self._grace, carry_interrupts=False, blocks=self._blocks)
                self._running[call] = task = call.context.run(self.loop.create_task, work)
                task.add_done_callback(partial(self._ended, call))

    def _ended(self, call: Call, task: asyncio.Task[None]) -> None:
        self._running.pop(call, None)
        call.lose(None if task.cancelled() else task.exception())
        self._pump()
