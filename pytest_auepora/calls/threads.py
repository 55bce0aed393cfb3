"""Bounded daemon threads for calls.

`concurrent.futures` joins its threads when the interpreter exits, so Ctrl-C would wait for the slowest call; a
daemon thread that hangs is simply left behind, and a new one takes its place.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from .call import Call, attempt_here, close_unawaited

__all__ = ["Workers"]

HandOver = Callable[[Call, Any, Callable[[Call], Any]], None]


class Workers:
    """At most *size* calls at once, in the order they were submitted.

    A call counts from its start until it is finished or given up, wherever it runs: when its function returns
    an awaitable, ``hand_over(call, awaitable, done)`` takes it to a loop, the thread takes the next call, and
    ``done(call)`` frees the place.  Threads are started as they are needed, and while one can be had.
    """

    def __init__(self, size: int, hand_over: HandOver) -> None:
        self.started = 0
        self._size = size
        self._hand_over = hand_over
        self._lock = threading.RLock()  # taken by itself: an interrupt inside Condition.__exit__ would keep it
        self._changed = threading.Condition(self._lock)
        self._queue: deque[Call] = deque()
        self._running: dict[Call, threading.Thread] = {}
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._closed = False

    def submit(self, call: Call) -> None:
        """Queue *call* behind the others."""
        with self._lock:
            self._queue.append(call)
            self._wake()

    def wake(self) -> None:
        """See that a call that could start does: when one was queued, no further thread could be had.

        Raises:
            RuntimeError: there is no thread at all, and none can be started.
        """
        with self._lock:
            refused = self._wake()
            if refused is not None and not self._threads:
                raise refused

    def promote(self, call: Call) -> None:
        """Let *call* be the next to start: somebody is waiting for it."""
        with self._lock:
            if call in self._queue:
                self._queue.remove(call)
                self._queue.appendleft(call)

    def running(self) -> list[Call]:
        """Return the calls that hold a place."""
        with self._lock:
            return list(self._running)

    def release(self, call: Call) -> bool:
        """Free the place of *call*; False if it was freed before."""
        with self._lock:
            held = self._running.pop(call, None) is not None
            self._wake()
            return held

    def replace(self, call: Call) -> None:
        """Free the place of a call that was given up, and leave its thread behind if it is still in there."""
        with self._lock:
            thread = self._running.pop(call, None)
            if thread is not None and not call.in_loop:
                self._threads.discard(thread)
            self._wake()

    def move_on(self) -> None:
        """Free the places of calls that are over in a loop that was left behind."""
        for call in self.running():
            if call.in_loop and call.state != "running":
                self.release(call)

    def close(self, grace: float) -> None:
        """Let the threads end, and wait a moment for them."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            threads = [t for t in self._threads if t not in self._running.values()]
            self._changed.notify_all()
        end = time.monotonic() + grace
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _wake(self) -> RuntimeError | None:
        """Have a thread take the next call, if there is room; return why none can be started."""
        if self._closed or not self._queue or len(self._running) >= self._size:
            return None
        if self._idle:
            self._idle -= 1  # by the one who wakes, or two calls in a row would count on the same thread
            self._changed.notify()
        elif len(self._threads) < self._size:
            thread = threading.Thread(target=self._work, name="auepora-call", daemon=True)
            try:
                self._threads.add(thread)
                thread.start()
            except BaseException as exc:
                self._threads.discard(thread)
                if isinstance(exc, RuntimeError):  # the system has none left
                    return exc
                raise
        return None

    def _work(self) -> None:
        while (call := self._take()) is not None:
            try:
                awaitable = call.context.run(_attempts, call)
                if awaitable is not None:
                    self._hand_over(call, awaitable, self.release)
                    continue
            except BaseException as exc:  # of a retry policy, or because there is no loop: nobody else can end it
                call.lose(exc)
            if not self.release(call):
                return  # given up meanwhile: another thread has this one's place

    def _take(self) -> Call | None:
        me = threading.current_thread()
        with self._lock:
            while not self._closed and me in self._threads:
                if self._queue and len(self._running) < self._size:
                    call = self._queue.popleft()
                    if call.claim():
                        self._running[call] = me
                        self.started += 1
                        return call
                    continue
                self._idle += 1
                self._changed.wait()
            self._threads.discard(me)
            return None


def _attempts(call: Call) -> Any:
    """Run *call* to its end; return the awaitable if its function gave one, else None."""
    while True:
        value, error, is_awaitable = attempt_here(call, carry_interrupts=True)
        if is_awaitable:
            if call.enter_loop():
                return value
            close_unawaited(value)
            return None
        pause = call.settle(value, error)
        if pause is None or call.finished.wait(pause):
            return None
