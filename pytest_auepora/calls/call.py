"""One call: queued, running, then done, cancelled or lost; and what it gave.

A call that runs beside its owner (in a thread or task of ours) runs in a copy of the owner's context, so that
context variables set by fixtures are seen, and keeps what it prints and logs until the owner takes it.
"""

from __future__ import annotations

import contextvars
import inspect
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from ..errors import AueporaError, CallTimeoutError
from .latch import Latch

if TYPE_CHECKING:
    from ..core.retry import RetryPolicy

__all__ = [
    "Call",
    "CallResult",
    "attempt_here",
    "capturing_call",
    "close_unawaited",
    "without_this_frame",
]


@dataclass(eq=False, repr=False)
class CallResult:
    """What one call gave.

    Attributes:
        value: what was returned, None if there is an error.
        error: what was raised, also ``SystemExit`` and the like, or a `CallTimeoutError`.
        seconds: duration of the last attempt alone, inside the call: no queueing, no waiting between attempts.
        attempts: how often the function was called.
        counted: whether there was anybody to repeat it, so that one attempt means that no other was needed.
        retry_reasons: one line for every attempt that was repeated.
        concurrency: how many calls could be running at the time, in all processes; 1 if nothing ran beside it.
        timed_out: it took longer than allowed.
    """

    value: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    attempts: int = 0
    counted: bool = False
    retry_reasons: list[str] = field(default_factory=list)
    concurrency: int = 1
    timed_out: bool = False


_CAPTURING: contextvars.ContextVar[Call | None] = contextvars.ContextVar("auepora_capturing_call", default=None)


def capturing_call() -> Call | None:
    """Return the running call if it keeps its output, or None where output goes straight through."""
    call = _CAPTURING.get()
    return None if call is None or call.is_over else call


State = Literal["queued", "running", "done", "cancelled", "lost"]


class Call:
    """One call and its state.  The runner moves it on; anybody may `cancel` or `lose` it; one of them wins."""

    __slots__ = (
        "_lock",
        "began",
        "context",
        "finished",
        "fn",
        "in_loop",
        "last_record",
        "on_finish",
        "output",
        "records",
        "result",
        "retry",
        "spent",
        "state",
        "taken",
        "timeout",
    )

    def __init__(
        self,
        fn: Callable[[], Any],
        timeout: float | None = None,
        retry: RetryPolicy | None = None,
        concurrency: int = 1,
    ) -> None:
        self.fn = fn
        self.timeout = timeout
        self.retry = retry
        self.result = CallResult(concurrency=concurrency, counted=retry is not None)
        self.state: State = "queued"
        self.began: float | None = None  # when the running attempt began; None between attempts
        self.in_loop = False
        self.spent = 0.0  # by the running attempt before it entered the loop
        self.taken = False
        self.finished = Latch()
        self.on_finish: Callable[[], None] | None = None
        self.output: list[tuple[str, str]] = []  # stdout or stderr, and the text
        self.records: list[logging.LogRecord] = []
        self.last_record: logging.LogRecord | None = None
        self._lock = threading.Lock()

    def detach(self) -> None:
        """Make ready to run beside the owner: in a context of its own, which keeps what is printed and logged."""
        self.context = contextvars.copy_context()
        self.context.run(_CAPTURING.set, self)

    @property
    def is_over(self) -> bool:
        """Whether output made in its context is nobody's any more.  A lost call keeps swallowing its own."""
        return self.taken and self.state != "lost"

    def keep(self, stream: str, text: str) -> None:
        """Take in what the call printed."""
        if self.state != "lost":
            self.output.append((stream, text))

    def keep_record(self, record: logging.LogRecord) -> None:
        """Take in what the call logged."""
        if self.state != "lost":
            self.records.append(record)

    # -- moved on by whoever runs it

    def claim(self) -> bool:
        """Start running, unless it was cancelled."""
        with self._lock:
            if self.state != "queued":
                return False
            self.state = "running"
            return True

    def begin(self) -> None:
        """Start an attempt."""
        self.result.attempts += 1
        self.began = perf_counter()

    def enter_loop(self) -> bool:
        """Hand the attempt from a thread to a loop, unless the call was given up."""
        with self._lock:
            self.in_loop = self.state == "running"
            self.spent = perf_counter() - self.began if self.began is not None else 0.0
            return self.in_loop

    def arrive(self) -> bool:
        """Go on in the loop; the way there is not the call's time.  False if it was given up on the way."""
        with self._lock:
            if self.state == "running":
                self.began = perf_counter() - self.spent
            return self.state == "running"

    def settle(
        self, value: Any, error: BaseException | None, *, ended: float | None = None, late: bool = False
    ) -> float | None:
        """Book the end of an attempt.

        Returns:
            Seconds to wait before the next attempt; None when there is none.
        """
        ended = perf_counter() if ended is None else ended
        with self._lock:
            if self.state != "running" or self.began is None:
                return None
            seconds, self.began = ended - self.began, None
            self.result.seconds = seconds
            if late or (self.timeout is not None and seconds > self.timeout):
                self._too_late()
            elif error is not None and (pause := self._pause(error)) is not None:
                return pause
            else:
                self.result.value, self.result.error = value, error
            self.state = "done"
        self._finish()
        return None

    def _pause(self, error: BaseException) -> float | None:
        pause = self.retry.pause(error, self.result.attempts) if self.retry else None
        if pause is not None:
            from ..core.retry import reason_of

            self.result.retry_reasons.append(reason_of(error))
        return pause

    def _too_late(self) -> None:
        self.result.timed_out = True
        self.result.error = CallTimeoutError(f"no answer within {self.timeout:g} s")

    def _finish(self) -> None:
        self.finished.set()
        if self.on_finish is not None:
            self.on_finish()

    # -- by anybody

    def cancel(self) -> bool:
        """Take it back while it is queued."""
        with self._lock:
            if self.state != "queued":
                return False
            self.state = "cancelled"
        self._finish()
        return True

    def limit(self, timeout: float | None) -> None:
        """Take the owner's own time limit; what was answered too late for it is too late."""
        with self._lock:
            self.timeout = timeout
            if self.state == "done" and timeout is not None and self.result.seconds > timeout:
                self.result.value = None
                self._too_late()

    def left(self) -> float | None:
        """Return the seconds the running attempt still has, negative when overdue; None if there is no limit."""
        began, timeout = self.began, self.timeout
        return None if began is None or timeout is None else began + timeout - perf_counter()

    def expire(self, allowance: float = 0.0) -> bool:
        """Give it up if the running attempt is overdue; a loop's own timer gets *allowance* seconds to act first."""
        with self._lock:
            left = self.left()
            if self.state != "running" or left is None or left + (allowance if self.in_loop else 0.0) > 0:
                return False
            self.state = "lost"
            self.result.seconds = self.timeout - left if self.timeout is not None else 0.0
            self._too_late()
        self._finish()
        return True

    def lose(self, error: BaseException | None = None) -> bool:
        """Give it up although it is running, for *error* or because nobody will ask for its answer."""
        with self._lock:
            if self.state != "running":
                return False
            self.state = "lost"
            self.result.error = error or AueporaError("the call was given up before its answer was asked for")
        self._finish()
        return True

    def take(self) -> CallResult:
        """Return the result to its owner; output made later is not the call's any more."""
        self.taken = True
        return self.result


def attempt_here(call: Call, *, carry_interrupts: bool) -> tuple[Any, BaseException | None, bool]:
    """Make one attempt in this thread.

    Returns:
        The value, the exception, and whether the value is an awaitable that somebody has to await.
        ``KeyboardInterrupt`` is raised unless *carry_interrupts*: in the main thread it is the user's.
    """
    call.begin()
    try:
        value = call.fn()
        return value, None, inspect.isawaitable(value)
    except BaseException as exc:
        if isinstance(exc, KeyboardInterrupt) and not carry_interrupts:
            raise
        return None, without_this_frame(exc), False


def without_this_frame(exc: BaseException) -> BaseException:
    """Return *exc* with its traceback starting in the caller's code."""
    return exc.with_traceback(exc.__traceback__.tb_next if exc.__traceback__ else None)


def close_unawaited(awaitable: Any) -> None:
    """Close a coroutine that nobody will await, which Python would otherwise warn about."""
    if inspect.iscoroutine(awaitable) and inspect.getcoroutinestate(awaitable) == inspect.CORO_CREATED:
        awaitable.close()
