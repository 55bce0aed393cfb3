"""Calls that run beside their owner: where they run, how long they are waited for, what becomes of those given up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..errors import AueporaError
from .call import Call
from .loops import LoopThread

if TYPE_CHECKING:
    from .loop_workers import LoopWorkers
    from .threads import Workers

__all__ = ["Beside"]

_POLL = 0.2  # seconds between two looks: keeps Ctrl-C responsive wherever waiting cannot be interrupted
_STRANDED = "its event loop was left behind, blocked by another call (one that waits without awaiting)"


class Beside:
    """Threads and one loop, made when they are first needed.

    Args:
        concurrency: how many calls may run at once.
        grace: seconds that running calls are given to end when they are cancelled.
        coroutines: whether every function is an ``async def``, called in the loop itself.
    """

    def __init__(self, concurrency: int, grace: float, *, coroutines: bool) -> None:
        self._concurrency = concurrency
        self._grace = grace
        self._coroutines = coroutines
        self._loops = LoopThread(grace)
        self._workers: Workers | LoopWorkers | None = None
        self._started = 0

    @property
    def started(self) -> int:
        """How many calls were started in turn; those that were taken back while queued do not count."""
        return self._started + (self._workers.started if self._workers is not None else 0)

    @property
    def lane(self) -> Workers | LoopWorkers:
        """Where calls take turns."""
        if self._workers is None and self._coroutines:
            from .loop_workers import LoopWorkers

            self._workers = LoopWorkers(self._concurrency, self._loops, self._grace)
        elif self._workers is None:
            from .threads import Workers

            self._workers = Workers(self._concurrency, self._loops.submit)
        return self._workers

    def finish(self, call: Call, awaitable: Any) -> None:
        """Run *call*, whose function gave *awaitable*, to its end: at once, whatever else runs."""
        try:
            self._loops.submit(call, awaitable, lambda _: None)
            self.wait(call)
        except KeyboardInterrupt:
            self._loops.cancel([call])
            raise
        except BaseException:  # somebody ends the waiting, as pytest-timeout does
            self.forget([call])
            raise

    def wait(self, call: Call) -> None:
        """Wait until *call* is finished; meanwhile give up whatever exceeds its limit."""
        while True:
            left = None if call.in_loop else call.left()  # a loop has its own timer
            if call.finished.wait(_POLL if left is None else min(_POLL, max(left, 0.001))):
                return
            if self._workers is not None:
                if call.state == "queued":
                    self._workers.wake()
                for running in self._workers.running():
                    if running.expire(allowance=2 * self._grace + _POLL):
                        self._give_up(running)
            if self._loops.is_blocked():
                self._leave_loop()

    def forget(self, calls: list[Call]) -> None:
        """Give up *calls*: take back what is queued, cancel the rest, give it a moment, and then leave it behind."""
        running = [c for c in calls if not c.cancel() and not c.finished.is_set()]
        if any(c.in_loop for c in running):
            self._loops.cancel(running)
        if calls:
            self._loops.doubt()
        end = time.monotonic() + self._grace
        for call in running:
            if not call.finished.wait(max(0.0, end - time.monotonic())) and call.lose():
                self._give_up(call)

    def close(self) -> None:
        """End the threads and the loop.  A later call starts afresh."""
        self._started, self._workers, workers = self.started, None, self._workers
        if workers is not None:
            workers.close(self._grace)
        self._loops.close()

    def _give_up(self, call: Call) -> None:
        if call.in_loop and call.result.timed_out and self._loops.holds(call):
            self._leave_loop()  # its timer did not fire: something blocks the whole loop
        if self._workers is not None:
            self._workers.replace(call)

    def _leave_loop(self) -> None:
        """Leave the loop, which is blocked, behind, and end those calls in it that no limit ends."""
        for call in self._loops.leave():
            if call.left() is None:
                call.lose(AueporaError(_STRANDED))
        if self._workers is not None:
            self._workers.move_on()
