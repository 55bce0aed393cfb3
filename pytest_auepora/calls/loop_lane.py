"""Calls that are awaited in a loop that somebody else runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from .call import Call
from .loops import finish_in_loop

if TYPE_CHECKING:
    import asyncio

__all__ = ["LoopLane"]


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
