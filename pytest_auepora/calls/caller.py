"""Calls of a RAG system: one bounded, timed, cancellable call, and many at once.

A `Caller` is asked for one call after the other, and told which ones are coming; it starts those early, at most
``concurrency`` running and ``lookahead`` started, and hands each result to its owner when it is asked for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from .beside import Beside
from .call import Call, CallResult
from .capture import handed_over
from .here import acall_here, call_here, running_trio
from .loop_lane import LoopLane
from .schedule import Booking, Fn, Upcoming

if TYPE_CHECKING:
    from ..core.retry import RetryPolicy

__all__ = ["Caller"]

_START = 0.003  # seconds for threads to begin, each of which needs the interpreter: what comes later can wait


class Caller:
    """Makes calls, early where it may.

    With a concurrency of 1 and no time limit a call runs in its owner's own thread (or task), as if nobody stood
    between; a call with nothing to overlap does so as well.  Otherwise it runs in a daemon thread, or, if its
    function returns an awaitable, in one event loop that lives in a thread of its own.  ``acall`` stays in the
    loop it is called in.

    A call that exceeds its time limit gives a `CallTimeoutError`: a coroutine is cancelled, a thread is left
    behind and replaced.  The limit counts from the start of each attempt; running into it is final.

    Not for use by several owners at once.

    Args:
        concurrency: how many calls may run at once.
        processes: in how many processes such calls are made at once, this one among them: the system has to serve them
            all, and ``concurrency`` of a result counts them all.
        lookahead: how many calls may be started before they are asked for; 8 x concurrency by default, for uneven
            latencies, and always 0 when the concurrency is 1.
        timeout: seconds an attempt may take; None for no limit.
        retry: which exceptions to answer with another attempt.
        grace: seconds that running calls are given to end when they are cancelled.
        coroutines: whether every function is an ``async def``: what runs beside its owner is then called in the loop
            itself, and no thread stands between.
        blocks: whether a function may block instead of giving an awaitable: `acall` then calls it in a thread, unless
            it runs alone and without a limit.
        meanwhile: called once: in the owner's thread, where that would just wait for the first answer from elsewhere;
            by `acall`, whose loop stands still over it, before the first call.

    Raises:
        ValueError: a number out of range.
    """

    def __init__(
        self,
        concurrency: int = 1,
        *,
        processes: int = 1,
        lookahead: int | None = None,
        timeout: float | None = None,
        retry: RetryPolicy | None = None,
        grace: float = 1.0,
        coroutines: bool = False,
        blocks: bool = False,
        meanwhile: Callable[[], Any] | None = None,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be at least 1, not {concurrency}")
        if processes < 1:
            raise ValueError(f"processes must be at least 1, not {processes}")
        if lookahead is not None and lookahead < 0:
            raise ValueError(f"lookahead must not be negative: {lookahead}")
        if not grace >= 0:
            raise ValueError(f"grace must not be negative: {grace}")
        self.concurrency = concurrency
        self.processes = processes
        self.lookahead = 0 if concurrency == 1 else 8 * concurrency if lookahead is None else lookahead
        self.timeout = _checked(timeout)
        self.retry = retry
        self.grace = grace
        self.coroutines = coroutines
        self.blocks = blocks
        self._meanwhile = meanwhile
        self._booking = Booking(concurrency, self.lookahead, self.timeout, retry, processes)
        self._ahead: dict[Hashable, Call] = {}
        self._beside = Beside(concurrency, grace, coroutines=coroutines)
        self._lane: LoopLane | None = None
        self._started = 0
        self._loops_change = False

    @property
    def started(self) -> int:
        """How many calls were started so far; those that were taken back while queued do not count."""
        return self._started + self._beside.started + (self._lane.started if self._lane is not None else 0)

    def call(self, key: Hashable, fn: Fn, upcoming: Upcoming = (), *, timeout: float | None = None) -> CallResult:
        """Return what *fn* gives: a value, or what an awaitable that it returns gives.

        What it printed and logged beside its owner is printed and logged before this returns.

        Args:
            key: the name of this call, under which it may have been started early.
            fn: the call.
            upcoming: the calls that will be asked for next, in this order, free to be started now.
            timeout: seconds, instead of the caller's own limit.

        Raises:
            KeyboardInterrupt: in the owner's thread.  Whatever *fn* raises is in the result.
        """
        limit = self.timeout if timeout is None else _checked(timeout)
        upcoming, alone = self._alone(key, self._ahead, upcoming, limit)
        if alone:
            return call_here(self._own_call(fn), self._beside.finish)
        call: Call | None = None
        try:
            call = self._booking.book(self._beside.lane, self._ahead, (key, fn, limit), upcoming)
            if self._meanwhile is not None and not call.finished.wait(_START):
                self._use_time()
            self._beside.wait(call)
        except KeyboardInterrupt:
            raise
        except BaseException:  # somebody ends the waiting, as pytest-timeout does: the place of the call is wanted
            if call is None:  # ended while calls are being submitted: which of them were is not certain
                self.drop()
            else:
                self._beside.forget([self._ahead.pop(key, call)])
            raise
        self._ahead.pop(key, None)
        return handed_over(call)

    async def acall(
        self, key: Hashable, fn: Fn, upcoming: Upcoming = (), *, timeout: float | None = None
    ) -> CallResult:
        """Do the same in the running asyncio loop, which is somebody else's; under trio one call at a time.

        What was started early in another loop is forgotten; once that has happened nothing is started early here.
        Unless the caller `blocks`, a *fn* that does so blocks the loop.
        """
        limit = self.timeout if timeout is None else _checked(timeout)
        if (self.concurrency == 1 and limit is None) or running_trio() is not None:
            return await acall_here(self._own_call(fn, limit))
        self._use_time()
        lane = self._lane_here()
        upcoming, alone = self._alone(key, lane.ahead, () if self._loops_change else upcoming, limit)
        if alone:
            return await acall_here(self._own_call(fn))
        try:
            call = self._booking.book(lane, lane.ahead, (key, fn, limit), upcoming)
        except BaseException:  # as in `call`
            lane.drop()
            raise
        try:
            await lane.wait(call)
        finally:
            lane.ahead.pop(key, None)
        return handed_over(call)

    def map(self, fns: Iterable[Fn], timeouts: Iterable[float | None] = repeat(None)) -> Iterator[CallResult]:
        """Yield the result of each of *fns*, in order, in constant memory: *fns* is read as results are taken.

        Each may have a limit of its own among *timeouts*: seconds, or None for the caller's.
        """
        calls = zip(fns, timeouts)  # noqa: B905 - there may be more limits than functions
        if not self.lookahead:
            for fn, limit in calls:
                yield self.call(object(), fn, timeout=limit)
            return
        window: deque[object] = deque()
        try:
            for fn, limit in calls:
                window.append(key := object())
                own = self.timeout if limit is None else _checked(limit)
                self._booking.submit(self._beside.lane, self._ahead, key, fn, own)
                if len(window) > self.lookahead:
                    yield self._take(window)
            while window:
                yield self._take(window)
        finally:
            self.forget(set(window).__contains__)

    def forget(self, is_mine: Callable[[Hashable], bool]) -> None:
        """Give up those calls that were started early whose key *is_mine*: nobody will ask for them."""
        self._beside.forget([self._ahead.pop(key) for key in [*self._ahead] if is_mine(key)])
        if self._lane is not None:
            self._lane.cancel([self._lane.ahead.pop(key) for key in [*self._lane.ahead] if is_mine(key)])

    def drop(self) -> None:
        """Forget what was started early, because what it would use is about to go.

        Queued calls are taken back, coroutines cancelled, threads given a moment and then left behind.
        """
        calls = list(self._ahead.values())
        self._ahead.clear()
        self._beside.forget(calls)
        if self._lane is not None:
            self._lane.drop()

    def close(self) -> None:
        """Drop everything, end the threads and the loop.  A later call starts afresh."""
        self.drop()
        if self._lane is not None:
            self._started += self._lane.started
            self._lane = None
        self._beside.close()

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- starting

    def _lane_here(self) -> LoopLane:
        import asyncio

        if self._lane is None or self._lane.loop is not asyncio.get_running_loop():
            if self._lane is not None:
                self._started += self._lane.started
                self._loops_change |= bool(self._lane.ahead)
                self._lane.drop()
            self._lane = LoopLane(self.concurrency, self.grace, blocks=self.blocks)
        return self._lane

    def _alone(
        self, key: Hashable, ahead: dict[Hashable, Call], upcoming: Upcoming, limit: float | None
    ) -> tuple[Upcoming, bool]:
        """Whether the call needs neither a limit nor company; *upcoming* may have been looked at."""
        if limit is not None or key in ahead:
            return upcoming, False
        rest = iter(upcoming) if self.lookahead else iter(())
        first = next(rest, None)
        return (chain([first], rest), False) if first is not None else ((), True)

    # -- waiting and giving up

    def _use_time(self) -> None:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()

    def _take(self, window: deque[object]) -> CallResult:
        call = self._ahead[window[0]]
        self._beside.wait(call)
        del self._ahead[window.popleft()]
        return handed_over(call)

    def _own_call(self, fn: Fn, limit: float | None = None) -> Call:
        self._started += 1
        return Call(fn, limit, self.retry, self.processes)


def _checked(timeout: float | None) -> float | None:
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be positive, not {timeout}")
    return timeout
