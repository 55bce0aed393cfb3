"""An event loop of our own, in a thread of its own, for calls whose owner runs none."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import finalize

from .call import Call
from .executor import AGAIN, Executor, Inbox, end_threads, start_thread

_SIGN = 0.5  # seconds that a loop has at least to give a sign of life, on a machine with much else to do


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
        if not any(call.lost or call.is_overdue(patience) for call in list(self.running)):
            return False
        sign = threading.Event()
        self.post(sign.set)
        return not sign.wait(max(self._grace, _SIGN))

    def leave(self) -> list[Call]:
        """Leave the loop, which is blocked, behind; return the calls that are caught in it."""
        self.close(wait=False)
        return [call for call, task in list(self.running.items()) if task is not None and call.state == "running"]


def _started_again(name: str, target: Callable[..., None], *args: Any) -> threading.Thread:
    try:
        return start_thread(name, target, *args)
    except RuntimeError:
        time.sleep(AGAIN)
        return start_thread(name, target, *args)


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
        end_threads(inboxes)  # in the loop, which starts them
        ending = loop.create_task(wind_up())
        ending.add_done_callback(lambda _: loop.stop())

    loop.call_soon_threadsafe(begin)
