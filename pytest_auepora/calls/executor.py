"""Runs calls in one event loop, so many at once: coroutines as its tasks, functions that may block in daemon threads.

`concurrent.futures` joins its threads when the interpreter exits, so Ctrl-C would wait for the slowest call; a
daemon thread that hangs is left behind, and a new one takes its place.

Queue, places and idle threads are changed in the loop alone, so nothing is locked: owners post what they want done.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any
from weakref import finalize

from .call import Call

_AGAIN = 0.1  # seconds after which a thread is wanted again that the system would not give
_SIGN = 0.5  # seconds that a loop has at least to give a sign of life, on a machine with much else to do

Inbox = SimpleQueue["tuple[Call, Callable[[], None]] | None"]
"""What a thread is to do: a call, and what it says then; None ends it."""


class Executor:
    """At most *size* calls at once in *loop*, in the order they were submitted.

    A call holds its place from its start until it is over or given up, whether in a thread or in the loop.

    Args:
        loop: a running loop of somebody else's.
        size: how many calls may run at once.
        grace: seconds that a cancelled call has to clean up.
        blocks: whether functions may block, and are called in threads.
    """

    ours = False
    """Whether the loop is ours: then nobody else ends it, and an interrupt in it is not for its owner."""

    def __init__(self, loop: asyncio.AbstractEventLoop, size: int, grace: float, *, blocks: bool) -> None:
        self.loop = loop
        self.left = False
        self.running: dict[Call, asyncio.Task[None] | None] = {}  # None of those in a thread
        self._size, self._grace, self._blocks = size, grace, blocks
        self._queue: deque[Call] = deque()
        self._timers: dict[Call, asyncio.TimerHandle] = {}
        self._refused: Call | None = None  # the one for which there was no thread
        self._idle: list[Inbox] = []
        self._inboxes: list[Inbox] = []
        self._end: finalize[..., Executor] = finalize(self, _end_threads, self._inboxes)
        self._end.atexit = False  # the interpreter ends its threads anyway

    # -- for the owner, in any thread

    def submit(self, calls: list[Call]) -> None:
        """Run *calls* as soon as there is room."""
        self.post(self._add, calls)

    def expect(self, call: Call) -> None:
        """Let *call* be the next to start, and hold it to its present limit: its owner waits for it."""
        self.post(self._expect, call)

    def cancel(self, calls: list[Call]) -> None:
        """Cancel what runs of *calls* in the loop; threads cannot be cancelled."""
        self.post(self._cancel, calls)

    def abandon(self, call: Call) -> None:
        """Give the place of *call*, which was given up, to another."""
        self.post(self._abandon, call)

    def post(self, action: Callable[..., Any], *args: Any) -> None:
        """Have *action* called in the loop, if that is not closed."""
        try:
            self.loop.call_soon_threadsafe(action, *args)
        except RuntimeError:  # it is closed, and what was in it is over
            return

    def close(self) -> None:
        """Start nothing more, and let idle threads end."""
        self.left = True
        self._end()

    # -- in the loop

    async def arrival(self, call: Call) -> None:
        """Return when *call* is over, and what its ``on_finish`` does is done."""
        arrived = self.loop.create_future()

        def arrive() -> None:
            if not arrived.done():
                arrived.set_result(None)

        if call.add_waiter(partial(self.post, arrive) if self._blocks else arrive):  # a thread may end it
            await arrived

    def _add(self, calls: list[Call]) -> None:
        self._queue.extend(calls)
        self._pump()

    def _expect(self, call: Call) -> None:
        if call in self.running:
            self._watch(call)
        elif call.state == "queued":
            if call in self._queue:
                self._queue.remove(call)
            self._queue.appendleft(call)
            self._pump()

    def _cancel(self, calls: list[Call]) -> None:
        for call in calls:
            if (task := self.running.get(call)) is not None:
                task.cancel()

    def _abandon(self, call: Call) -> None:
        call.abandon()
        if (task := self.running.get(call)) is not None:
            task.cancel()
        self._free(call)
        self._pump()

    def _pump(self) -> None:
        while self._queue and len(self.running) < self._size and not self.left:
            call = self._queue.popleft()
            if call.state != "queued":
                continue
            if not self._blocks or call.awaitable is not None:
                self.running[call] = task = call.context.run(self.loop.create_task, self._run(call))
                task.add_done_callback(partial(self._ended, call))
            elif not self._start_in_thread(call):
                self._queue.appendleft(call)
                return

    def _free(self, call: Call) -> None:
        self.running.pop(call, None)
        if (timer := self._timers.pop(call, None)) is not None:
            timer.cancel()

    def _watch(self, call: Call) -> None:
        """See that *call* ends when its limit has passed: a thread is left behind, a coroutine may clean up."""
        if call.late or call not in self.running:
            return
        if (timer := self._timers.pop(call, None)) is not None:
            timer.cancel()
        if (left := call.left()) is None:
            return
        if not call.expire():
            self._timers[call] = self.loop.call_later(max(left, 0.001), self._watch, call)
        elif (task := self.running[call]) is None:
            self._abandon(call)
        else:
            task.cancel()
            self._timers[call] = self.loop.call_later(self._grace, self._abandon, call)

    # -- calls as tasks

    async def _run(self, call: Call) -> None:
        if self.left or not call.claim():  # not before this first step: the next loop takes what a blocked one has not
            return
        awaitable, call.awaitable = call.awaitable, None
        self._watch(call)
        try:
            await call.arun(() if self.ours else (KeyboardInterrupt,), awaitable=awaitable)
        except Exception as exc:  # of a retry policy
            call.abandon(exc)
        finally:
            call.abandon()

    def _ended(self, call: Call, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # or asyncio says that nobody looked at it
        elif not self.left:
            call.take_back()  # cancelled before its first step
        if self.running.get(call) is not task:
            return
        self._free(call)
        if self.ours or not (task.cancelled() or isinstance(call.result.error, asyncio.CancelledError)):
            self._pump()  # but not where somebody ends the loop, which cancels everything

    # -- calls in threads

    def _start_in_thread(self, call: Call) -> bool:
        """Return False where there is no thread yet."""
        if not self._idle:
            try:
                inbox = Inbox()
                _start_thread("auepora-call", _work, inbox)
            except RuntimeError as exc:  # the system has none left: fewer will do
                if None in self.running.values():
                    return False
                if self._refused is not call:
                    self._refused = call
                    self.loop.call_later(_AGAIN, self._pump)
                    return False
                call.abandon(exc)
                return True
            self._inboxes.append(inbox)
            self._idle.append(inbox)
        if call.claim():
            self.running[call] = None
            self._watch(call)
            inbox = self._idle.pop()
            inbox.put((call, partial(self.post, self._returned, inbox, call)))
        return True

    def _returned(self, inbox: Inbox, call: Call) -> None:
        self._idle.append(inbox)
        if self.running.get(call, self) is None:  # it was not abandoned
            if call.state == "queued":  # it gave something to await, and keeps its place
                self._queue.appendleft(call)
            self._free(call)
        self._pump()


class OwnLoop(Executor):
    """The same in a loop of our own, in a daemon thread, so that clients bound to a loop survive from call to call.

    It ends when it is closed, or with the last one who knows it.

    Raises:
        RuntimeError: the system has no thread left for it.
    """

    ours = True

    def __init__(self, size: int, grace: float, *, blocks: bool) -> None:
        super().__init__(asyncio.new_event_loop(), size, grace, blocks=blocks)
        self._end.detach()
        try:
            self._thread = _started_again("auepora-loop", _serve, self.loop)
        except RuntimeError:
            self.loop.close()
            raise
        self._end = finalize(self, _end_loop, self.loop, self._inboxes, grace)
        self._end.atexit = False

    def close(self, *, wait: bool = True) -> None:
        """Cancel everything and end the loop; one that is blocked need not be waited for."""
        super().close()
        if wait:
            self._thread.join(2 * self._grace)

    def is_stuck(self, patience: float) -> bool:
        """Whether a call that was given up, or is overdue by *patience* seconds, keeps the loop from doing anything."""
        if not any(call.abandoned or call.is_overdue(patience) for call in list(self.running)):
            return False
        sign = threading.Event()
        self.post(sign.set)
        return not sign.wait(max(self._grace, _SIGN))

    def leave(self) -> list[Call]:
        """Leave the loop, which is blocked, behind; return the calls that are caught in it."""
        self.close(wait=False)
        return [call for call, task in list(self.running.items()) if task is not None and call.state == "running"]


def _start_thread(name: str, target: Callable[..., None], *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    return thread


def _work(inbox: Inbox) -> None:
    while (job := inbox.get()) is not None:
        _make(*job)
        del job  # who has the threads can go while they wait


def _make(call: Call, back: Callable[[], None]) -> None:
    try:
        if (awaitable := call.context.run(call.run)) is not None:
            call.hand_over(awaitable)
    except BaseException as exc:  # of a retry policy
        call.abandon(exc)
    back()


def _end_threads(inboxes: list[Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)


def _started_again(name: str, target: Callable[..., None], *args: Any) -> threading.Thread:
    try:
        return _start_thread(name, target, *args)
    except RuntimeError:
        time.sleep(_AGAIN)
        return _start_thread(name, target, *args)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        while True:
            try:
                return loop.run_forever()
            except (KeyboardInterrupt, SystemExit):  # of a task that a call started: not for this thread
                continue
    finally:
        loop.close()


def _end_loop(loop: asyncio.AbstractEventLoop, inboxes: list[Inbox], grace: float) -> None:
    async def wind_up() -> None:
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=grace)
        await asyncio.wait_for(loop.shutdown_asyncgens(), grace)

    def begin() -> None:
        _end_threads(inboxes)  # in the loop, which starts them
        ending = loop.create_task(wind_up())
        ending.add_done_callback(lambda _: loop.stop())

    loop.call_soon_threadsafe(begin)
