"""One call: queued, running, over; and its result.

A call that runs beside its owner (in a thread or task of ours) runs in a copy of the owner's context, so that
context variables set by fixtures are seen, and keeps what it prints and logs until the owner gets the result.
"""

from __future__ import annotations

import contextvars
import inspect
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal

from ..base.retry import RetryPolicy, reason_of
from ..errors import AueporaError, CallTimeoutError
from .capture import CURRENT, CallOutput

Fn = Callable[[], Any]
Passing = tuple[type[BaseException], ...]
_GIVEN_UP = "the call was given up before its answer was asked for"


@dataclass(eq=False, repr=False)
class CallResult:
    """The result of one call.

    Attributes:
        value: what was returned, None if there is an error.
        error: what was raised, also ``SystemExit`` and the like, or a `CallTimeoutError`.
        seconds: duration of the last attempt alone, inside the call: no queueing, no waiting between attempts.
        attempts: how often the function was called.
        has_retry_policy: whether it could be tried again: one attempt then means that no other was needed.
        retry_reasons: one line for every attempt that was repeated.
        concurrency: how many calls could be running at the time, in all processes; 1 if nothing ran beside it.
    """

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    attempts: int = 0
    has_retry_policy: bool = False
    retry_reasons: list[str] = field(default_factory=list)
    concurrency: int = 1


class Call:
    """One call and its state: one thread at a time runs it; anybody may end it, and the first to do so wins.

    Attributes:
        timeout: seconds an attempt may take; None for no limit.
        state: "queued", "running" or "over".
        abandoned: it was given up while it ran; what it prints from then on is dropped.
        late: an attempt exceeded the limit.
        urgent: it starts at once, though all places are taken.
        awaitable: what the function returned, while the call is queued for a loop that awaits it.
        output: what it prints and logs, where it runs beside its owner.
        on_finish: called when it is over, in whichever thread ends it, before whoever waits for it goes on.
    """

    def __init__(
        self, fn: Fn, timeout: float | None = None, retry: RetryPolicy | None = None, concurrency: int = 1
    ) -> None:
        self.fn, self.timeout, self.retry = fn, timeout, retry
        self.result = CallResult(concurrency=concurrency, has_retry_policy=retry is not None)
        self.state: Literal["queued", "running", "over"] = "queued"
        self.abandoned = self.late = self.urgent = False
        self.awaitable: Any = None
        self.on_finish: Callable[[], None] | None = None
        self.output: CallOutput | None = None
        self._waiters: list[Fn] | None = []  # None once they were called
        self._began: float | None = None  # when the running attempt began; None between attempts
        self._spent = 0.0  # seconds of the last attempt
        self._lock = threading.Lock()
        self._gate = threading.Lock()  # no Event: an interrupt inside Event.set leaves its inner lock taken for ever
        self._gate.acquire()

    def detach(self) -> None:
        """Make ready to run beside the owner: in a context of its own, which keeps what is printed and logged."""
        self.context, self.output = contextvars.copy_context(), CallOutput()
        self.context.run(CURRENT.set, self.output)

    # -- for the thread or task that runs it

    def claim(self) -> bool:
        """Start running, unless it runs already or is over."""
        with self._lock:
            if self.state != "queued":
                return False
            self.state = "running"
            return True

    def run(self, passing: Passing = ()) -> Any:
        """Run it in this thread: to its end, or until an attempt gives something to await, which is returned.

        Exceptions that are *passing* are the owner's, and raised.
        """
        while True:
            value, error = self.attempt(passing)
            if inspect.isawaitable(value):
                return value
            pause = self.end_attempt(value, error)
            if pause is None or self.wait(pause):
                return None

    async def arun(self, passing: Passing, cancelled: Passing = (), awaitable: Any = None) -> None:
        """Run it to its end in the running loop, from *awaitable* on if an attempt gave that; limited under trio only.

        Exceptions that are *passing* are the owner's, and raised; so are those *cancelled*, of what is awaited.
        """
        import asyncio

        trio = running_trio()
        while True:
            value, error = (awaitable, None) if awaitable is not None else self.attempt(passing)
            awaitable = None
            if inspect.isawaitable(value):
                if trio is None or self.timeout is None:
                    value, error = await self.outcome(value, passing + cancelled)
                else:
                    with trio.move_on_after(max(self.timeout - self._spent, 0.0)) as scope:
                        value, error = await self.outcome(value, passing + cancelled)
                    if scope.cancelled_caught:
                        self.late, self.result.seconds = True, self._spent
            pause = self.end_attempt(value, error)
            if pause is None:
                return
            await (trio or asyncio).sleep(pause)

    def attempt(self, passing: Passing = ()) -> tuple[Any, BaseException | None]:
        """Call the function in this thread; return its value or exception."""
        self.result.attempts += 1
        self._began = perf_counter()
        try:
            return self.fn(), None
        except passing:
            raise
        except BaseException as exc:
            return None, _without_this_frame(exc)
        finally:
            self._stop_clock()

    async def outcome(self, awaitable: Awaitable[Any], passing: Passing = ()) -> tuple[Any, BaseException | None]:
        """Await what an attempt returned; the time in between is not the call's."""
        self._began = perf_counter() - self._spent
        try:
            return await awaitable, None
        except passing:
            raise
        except BaseException as exc:
            return None, _without_this_frame(exc)
        finally:
            self._stop_clock()

    def end_attempt(self, value: Any, error: BaseException | None) -> float | None:
        """Note the end of an attempt; return the seconds to wait before the next one, None when there is none."""
        if self.state == "over":
            return None
        if not self.late:
            self.result.seconds = self._spent
        if self.late or (self.timeout is not None and self._spent > self.timeout):
            self.late = True
            self._end(None, self._timeout_error())
        elif error is not None and self.retry and (pause := self.retry.pause(error, self.result.attempts)) is not None:
            self.result.retry_reasons.append(reason_of(error))
            return pause
        else:
            self._end(value, error)
        return None

    def hand_over(self, awaitable: Any) -> None:
        """Queue it for a loop that awaits what an attempt gave."""
        with self._lock:
            if self.state != "over":
                self.awaitable, self.state = awaitable, "queued"
                return
        _close_unawaited(awaitable)

    # -- for any thread

    def wait(self, seconds: float) -> bool:
        """Wait until it is over; return whether it is."""
        if is_over := self._gate.acquire(timeout=max(0.0, seconds)):
            self._gate.release()  # for the next one who waits
        return is_over

    def add_waiter(self, go_on: Fn) -> bool:
        """Have *go_on* called, in whichever thread ends the call, when it is over; return whether there is to wait."""
        with self._lock:
            if self._waiters is None:
                return False
            self._waiters.append(go_on)
            return True

    def seconds_left(self) -> float | None:
        """Return the seconds that the running attempt still has, the next one's between two; None without a limit."""
        began, timeout = self._began, self.timeout
        return timeout if timeout is None or began is None else began + timeout - perf_counter()

    def is_overdue(self, by: float = 0.0) -> bool:
        """Whether the running attempt has exceeded its limit by that many seconds."""
        return self.state == "running" and (seconds_left := self.seconds_left()) is not None and seconds_left <= -by

    def expire(self) -> bool:
        """Mark it late if it is overdue: its result can only be a `CallTimeoutError` then."""
        with self._lock:
            if self.late or not self.is_overdue():
                return False
            self.late = self.abandoned = True
            self._mute()
            self.result.seconds = perf_counter() - (self._began or 0.0)
            return True

    def take_back(self) -> bool:
        """End it if it is queued; return whether it was."""
        return self._end(None, AueporaError(_GIVEN_UP), queued_only=True)

    def abandon(self, error: BaseException | None = None) -> None:
        """End it though it may run: as timed out, with *error*, or because nobody will ask for it."""
        self._end(None, self._timeout_error() if self.late else error or AueporaError(_GIVEN_UP), abandoned=True)

    def deliver(self, timeout: float | None) -> CallResult:
        """Return the result to its owner, and print and log here what the call did.

        The owner's time limit holds, though the call may have been started early under another.
        """
        result = self.result
        if timeout is not None and result.seconds > timeout and not self.late:
            self.timeout = timeout
            result.value, result.error = None, self._timeout_error()
        if self.output is not None:
            try:
                self.output.hand_over()
            except Exception as exc:  # a handler raises for a faulty log call, as pytest's does
                if result.error is None:
                    result.value, result.error = None, exc
        return result

    def _end(
        self, value: Any, error: BaseException | None, *, abandoned: bool = False, queued_only: bool = False
    ) -> bool:
        with self._lock:
            if self.state == "over" or (queued_only and self.state != "queued"):
                return False
            if abandoned:
                self.abandoned = True
                self._mute()
            self.result.value, self.result.error = value, error
            self.state, awaitable, self.awaitable = "over", self.awaitable, None
        if awaitable is not None:
            _close_unawaited(awaitable)
        try:
            if self.on_finish is not None:
                self.on_finish()
        finally:
            self._gate.release()
            with self._lock:
                waiters, self._waiters = self._waiters or (), None
            for go_on in waiters:
                go_on()
        return True

    def _mute(self) -> None:
        if self.output is not None:
            self.output.mode = "drop"

    def _stop_clock(self) -> None:
        if self._began is not None:
            self._spent, self._began = perf_counter() - self._began, None

    def _timeout_error(self) -> CallTimeoutError:
        return CallTimeoutError(f"no answer within {self.timeout:g} s")


def running_trio() -> Any | None:
    """Return trio where the current task is one of its own, None in a loop of asyncio."""
    if (trio := sys.modules.get("trio")) is None:
        return None
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return None
    return trio


def _without_this_frame(exc: BaseException) -> BaseException:
    """Return *exc* with its traceback starting in the user's code."""
    return exc.with_traceback(exc.__traceback__.tb_next if exc.__traceback__ else None)


def _close_unawaited(awaitable: Any) -> None:
    """Close a coroutine that nobody will await, which Python would otherwise warn about."""
    if inspect.iscoroutine(awaitable) and inspect.getcoroutinestate(awaitable) == inspect.CORO_CREATED:
        awaitable.close()
