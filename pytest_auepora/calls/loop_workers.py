"""Bounded coroutines in a loop of our own, for functions that are known to be ``async def``.

Such a function does nothing when it is called, so no thread has to call it: a call that ends starts the next one in
the loop itself.  Each thread less that a call passes through is a wait less for the interpreter's lock, which the
owner's thread, busy with the answers, gives up every 5 ms only.
"""

from __future__ import annotations

from collections import deque

from .call import Call
from .loops import LoopThread, OwnLoop, finish_in_loop

__all__ = ["LoopWorkers"]


class LoopWorkers:
    """At most *size* calls at once, in the order they were submitted.

    Calls are started, and places freed, in the thread of the loop.  Nothing is locked: its owner adds a call before
    it looks for a free place, the loop frees a place before it looks for a call, so one of them sees the other.
    """

    def __init__(self, size: int, loops: LoopThread, grace: float) -> None:
        self.started = 0
        self._size = size
        self._loops = loops
        self._grace = grace
        self._queue: deque[Call] = deque()
        self._running: dict[Call, OwnLoop] = {}
        self._woken = False

    def submit(self, call: Call) -> None:
        """Queue *call* behind the others."""
        self._queue.append(call)
        self.wake()

    def promote(self, call: Call) -> None:
        """Let *call* be the next to start: somebody is waiting for it."""
        try:
            self._queue.remove(call)
        except ValueError:
            return  # it has a place already
        self._queue.appendleft(call)
        self.wake()

    def wake(self) -> None:
        """See that a call that could start does.

        Raises:
            RuntimeError: there is no loop, and no thread can be started for one.
        """
        if self._woken or not self._queue or len(self._running) >= self._size:
            return
        try:
            self._woken = True  # once, for all that is submitted until the loop gets there
            self._loops.soon(self._pump)
        except BaseException:  # or an interrupt of the owner's
            self._woken = False
            raise

    def running(self) -> list[Call]:
        """Return the calls that hold a place."""
        return list(self._running)

    def replace(self, call: Call) -> None:
        """Free the place of a call that was given up."""
        self._running.pop(call, None)
        self.wake()

    def move_on(self) -> None:
        """Begin in the next loop what one that was left behind has not begun, and free the places of what is over."""
        self._woken = False  # but for a loop that never gets there
        ended = [call for call in list(self._running) if call.state != "running"]
        for call in ended:
            self._running.pop(call, None)
        self._queue.extendleft(call for call in reversed(ended) if call.state == "queued")
        self.wake()

    def close(self, grace: float) -> None:  # noqa: ARG002 - whoever has the loop ends it
        """Start no more calls."""
        self._queue.clear()

    # -- in the loop

    def _pump(self, own: OwnLoop) -> None:
        if not self._loops.lives(own):
            return
        self._woken = False
        while self._queue and len(self._running) < self._size:
            call = self._queue.popleft()
            self._running[call] = own
            own.tasks[call] = call.context.run(own.loop.create_task, self._run(call, own))

    async def _run(self, call: Call, own: OwnLoop) -> None:
        try:
            if call.claim():  # not before this first step: another loop can take what a blocked one did not begin
                self.started += 1
                call.in_loop = True
                await finish_in_loop(call, grace=self._grace, carry_interrupts=True)
        except BaseException as exc:  # in a task of its own there is nobody to raise it to
            import asyncio

            call.lose(None if isinstance(exc, asyncio.CancelledError) else exc)
        finally:
            own.tasks.pop(call, None)
            if self._running.get(call) is own:
                del self._running[call]
            if self._loops.lives(own):
                self._pump(own)
            else:
                self.wake()
