"""Runs a limited number of calls at once in one event loop: coroutines as tasks, blocking functions in daemon threads.

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

_RETRY_AFTER = 0.1  # seconds before the next try, where the system refused a thread
_SIGN_OF_LIFE = 0.5  # seconds that a loop has at least to answer, on a busy machine

Inbox = SimpleQueue["tuple[Call, Callable[[], None]] | None"]
"""The work of a thread: a call, and what reports its end; None ends the thread."""


class Executor:
    """At most *size* calls at once in *loop*, in the order they were submitted.

    A call holds its place from its start until it is over or given up, whether in a thread or in the loop.  One that is
    urgent takes none: its owner waits, perhaps within a time limit that the calls of others are not to use up.

    Args:
        loop: a running loop of others.
        size: how many calls may run at once.
        grace: seconds that a cancelled call has to clean up.
        blocks: whether functions may block, and are called in threads.
    """

    ours = False
    """Whether the loop is ours: nobody else ends it, and its interrupts are not for the owner of a call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, size: int, grace: float, *, blocks: bool) -> None:
        self.loop = loop
        self.closed = False
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

    def submit(self, calls: list[Call], *, first: bool = False) -> None:
        """Run *calls* as soon as there is room; with *first* before those that were submitted earlier."""
        self.post(self._add, calls, first)

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
        self.closed = True
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

    def _add(self, calls: list[Call], first: bool) -> None:
        if first:
            self._queue.extendleft(reversed(calls))
        else:
            self._queue.extend(calls)
        self._start_queued()

    def _expect(self, call: Call) -> None:
        if call in self.running:
            self._watch(call)
        elif call.state == "queued":
            if call in self._queue:
                self._queue.remove(call)
            self._queue.appendleft(call)
            self._start_queued()

    def _cancel(self, calls: list[Call]) -> None:
        for call in calls:
            if (task := self.running.get(call)) is not None:
                task.cancel()

    def _abandon(self, call: Call) -> None:
        call.abandon()
        if (task := self.running.get(call)) is not None:
            task.cancel()
        self._free_place(call)
        self._start_queued()

    def _start_queued(self) -> None:
        while self._queue and not self.closed:
            if not self._queue[0].urgent and sum(not call.urgent for call in self.running) >= self._size:
                return
            call = self._queue.popleft()
            if call.state != "queued":
                continue
            if not self._blocks or call.awaitable is not None:
                self.running[call] = task = call.context.run(self.loop.create_task, self._run(call))
                task.add_done_callback(partial(self._on_task_done, call))
            elif not self._start_in_thread(call):
                self._queue.appendleft(call)
                return

    def _free_place(self, call: Call) -> None:
        self.running.pop(call, None)
        if (timer := self._timers.pop(call, None)) is not None:
            timer.cancel()

    def _watch(self, call: Call) -> None:
        """See that *call* ends when its limit has passed: a thread is left behind, a coroutine may clean up."""
        if call.late or call not in self.running:
            return
        if (timer := self._timers.pop(call, None)) is not None:
            timer.cancel()
        if (seconds_left := call.seconds_left()) is None:
            return
        if not call.expire():
            self._timers[call] = self.loop.call_later(max(seconds_left, 0.001), self._watch, call)
        elif (task := self.running[call]) is None:
            self._abandon(call)
        else:
            task.cancel()
            self._timers[call] = self.loop.call_later(self._grace, self._abandon, call)

    # -- calls as tasks

    async def _run(self, call: Call) -> None:
        if self.closed or not call.claim():  # claimed here, not before: the next loop takes what has not begun
            return
        awaitable, call.awaitable = call.awaitable, None
        self._watch(call)
        try:
            await call.arun(() if self.ours else (KeyboardInterrupt,), awaitable=awaitable)
        except Exception as exc:  # of a retry policy
            call.abandon(exc)
        finally:
            call.abandon()

    def _on_task_done(self, call: Call, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # or asyncio says that nobody looked at it
        elif not self.closed:
            call.take_back()  # cancelled before its first step
        if self.running.get(call) is not task:
            return
        self._free_place(call)
        if self.ours or not (task.cancelled() or isinstance(call.result.error, asyncio.CancelledError)):
            self._start_queued()  # but not where somebody ends the loop, which cancels everything

    # -- calls in threads

    def _start_in_thread(self, call: Call) -> bool:
        """Return False where there is no thread yet."""
        if not self._idle:
            try:
                inbox = Inbox()
                _start_thread("auepora-call", _work_through, inbox)
            except RuntimeError as exc:  # the system has none left: fewer will do
                if None in self.running.values():
                    return False
                if self._refused is not call:
                    self._refused = call
                    self.loop.call_later(_RETRY_AFTER, self._start_queued)
                    return False
                call.abandon(exc)
                return True
            self._inboxes.append(inbox)
            self._idle.append(inbox)
        if call.claim():
            self.running[call] = None
            self._watch(call)
            inbox = self._idle.pop()
            inbox.put((call, partial(self.post, self._on_thread_idle, inbox, call)))
        return True

    def _on_thread_idle(self, inbox: Inbox, call: Call) -> None:
        self._idle.append(inbox)
        if self.running.get(call, self) is None:  # it was not abandoned
            if call.state == "queued":  # it gave something to await, and keeps its place
                self._queue.appendleft(call)
            self._free_place(call)
        self._start_queued()


class OwnLoop(Executor):
    """The same in a loop of our own, in a daemon thread, so that clients bound to a loop survive from call to call.

    It ends when it is closed, or is collected.

    Raises:
        RuntimeError: the system has no thread left for it.
    """

    ours = True

    def __init__(self, size: int, grace: float, *, blocks: bool) -> None:
        super().__init__(asyncio.new_event_loop(), size, grace, blocks=blocks)
        self._end.detach()
        try:
            self._thread = _start_thread_or_retry("auepora-loop", _run_loop, self.loop)
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

    def is_stuck(self, tolerance: float) -> bool:
        """Whether a call that was given up, or is overdue by *tolerance* seconds, blocks the loop."""
        if not any(call.abandoned or call.is_overdue(tolerance) for call in list(self.running)):
            return False
        answered = threading.Event()
        self.post(answered.set)
        return not answered.wait(max(self._grace, _SIGN_OF_LIFE))

    def leave_behind(self) -> list[Call]:
        """Leave the blocked loop behind; return the calls that are caught in it."""
        self.close(wait=False)
        return [call for call, task in list(self.running.items()) if task is not None and call.state == "running"]


def _start_thread(name: str, target: Callable[..., None], *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    return thread


def _work_through(inbox: Inbox) -> None:
    while (job := inbox.get()) is not None:
        _run_call(*job)
        del job  # lets the executor be collected while its threads wait


def _run_call(call: Call, report: Callable[[], None]) -> None:
    try:
        if (awaitable := call.context.run(call.run)) is not None:
            call.hand_over(awaitable)
    except BaseException as exc:  # of a retry policy
        call.abandon(exc)
    report()


def _end_threads(inboxes: list[Inbox]) -> None:
    for inbox in inboxes:
        inbox.put(None)


def _start_thread_or_retry(name: str, target: Callable[..., None], *args: Any) -> threading.Thread:
    try:
        return _start_thread(name, target, *args)
    except RuntimeError:
        time.sleep(_RETRY_AFTER)
        return _start_thread(name, target, *args)


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
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
