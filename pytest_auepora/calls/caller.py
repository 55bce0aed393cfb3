"""Calls of a RAG system: one bounded, timed, cancellable call, and many at once.

A `Caller` is asked for one call after the other, with those that come next; it starts these early, at most
``concurrency`` running and ``lookahead`` started, and hands each result to its owner when it is asked for it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from functools import partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING

from ..base.retry import RetryPolicy
from ..errors import AueporaError
from .call import Call, CallResult, Fn, running_trio

if TYPE_CHECKING:
    from .executor import Executor, OwnLoop

Upcoming = Iterable["tuple[Hashable, Fn] | tuple[Hashable, Fn, float | None]"]
"""What may be started early, in the order it will be asked for: key, function, and its own time limit if any."""

_POLL = 0.2  # seconds between two looks: keeps Ctrl-C responsive wherever waiting cannot be interrupted
_STRANDED = "its event loop was left behind, blocked by another call (one that waits without awaiting)"


class Caller:
    """Makes calls, early where it may.

    A call without a time limit runs in its owner's thread (or task) if no other call may run beside it.  Otherwise it
    runs in a daemon thread; an awaitable that it returns is awaited in one event loop, which has a thread of its own.
    ``acall`` stays in the loop it is called in.

    A call that exceeds its time limit gives a `CallTimeoutError`: a coroutine is cancelled, a thread is left
    behind and replaced.  The limit counts from the start of each attempt; running into it is final.

    Not for use by several owners at once.

    Args:
        concurrency: how many calls may run at once.
        processes: how many processes make such calls at once; ``concurrency`` of a result counts those of all.
        lookahead: how many calls may be started before they are asked for; 8 x concurrency by default, for uneven
            latencies, and always 0 when the concurrency is 1.
        timeout: seconds an attempt may take; None for no limit.
        retry: which exceptions to answer with another attempt.
        grace: seconds that running calls are given to end when they are cancelled.
        coroutines: whether every function is an ``async def``, which is called in the loop; any other may block, and is
            called in a thread, unless it runs alone without a limit.
        after: called with the name of each call that ran beside its owner and its result, in whichever thread ends it.

    Raises:
        ValueError: the concurrency is less than 1, or the timeout is not positive.
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
        after: Callable[[Hashable, CallResult], None] | None = None,
    ) -> None:
        if not concurrency >= 1:
            raise ValueError(f"concurrency must be at least 1, not {concurrency}")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout must be positive, not {timeout}")
        self.concurrency, self.processes = concurrency, processes
        self.lookahead = 0 if concurrency == 1 else 8 * concurrency if lookahead is None else lookahead
        self.timeout, self.retry, self.grace = timeout, retry, grace
        self.coroutines = coroutines
        self._after = after
        self.ahead: dict[Hashable, Call] = {}
        """The calls that were started and not asked for yet."""
        self._asked_since_scan = 0  # calls asked for since the upcoming ones were last read
        self._executor: Executor | None = None
        self._loops_change = False
        self._abandoned: list[Call] = []  # they hold their places until their owner has forgotten them

    def call(
        self, key: Hashable, fn: Fn, upcoming: Upcoming = (), timeout: float | None = None, urgent: bool = False
    ) -> CallResult:
        """Return the result of *fn*, or of the awaitable that it returns.

        *key* names the call, which may have been started early.  Of those *upcoming*, which will be asked for next in
        this order, some are started now.  *timeout* is in seconds, instead of the caller's own limit.  What *fn*
        printed and logged beside its owner is printed and logged before this returns.  An *urgent* call waits for none
        that was started early: it starts at once, beside ``concurrency`` others, and those behind it come next.

        Raises:
            KeyboardInterrupt: in the owner's thread.  Whatever *fn* raises is in the result.
            RuntimeError: the system has no thread for the event loop.
        """
        limit = self.timeout if timeout is None else timeout
        if self._abandoned:
            self._free_places()
        upcoming, alone = self._check_alone(key, upcoming, limit)
        call: Call | None = None
        try:
            if alone:
                call = Call(fn, None, self.retry, self.processes)
                if (awaitable := call.run((KeyboardInterrupt,))) is None:
                    return call.deliver(limit)
                call.detach()
                call.hand_over(awaitable)
                self._own_loop().expect(call)
            else:
                call = self._find_or_start(self._own_loop(), key, fn, limit, upcoming, urgent=urgent)
            self._wait(call)
        except BaseException:  # Ctrl-C, or pytest-timeout ends the waiting: free the place
            self._give_up_call(key, call)
            raise
        self.ahead.pop(key, None)
        return call.deliver(limit)

    def prepare(self, key: Hashable, fn: Fn) -> None:
        """Make a call now, in this thread, that its owner will ask for; what it prints waits for that."""
        if key not in self.ahead:
            call = self._make_call(key, fn, None)
            call.claim()
            if (awaitable := call.context.run(call.run, (KeyboardInterrupt,))) is not None:
                call.hand_over(awaitable)

    async def acall(
        self, key: Hashable, fn: Fn, upcoming: Upcoming = (), timeout: float | None = None, urgent: bool = False
    ) -> CallResult:
        """Do the same in the running asyncio loop, which belongs to others; under trio one call at a time.

        What was started early in another loop is forgotten; once that has happened nothing is started early here.
        A *fn* that blocks, where all should be `coroutines`, blocks the loop.
        """
        limit = self.timeout if timeout is None else timeout
        if (self.concurrency == 1 and limit is None) or running_trio() is not None:
            return await self._call_here(fn, limit)
        executor = self._running_loop()
        upcoming, alone = self._check_alone(key, () if self._loops_change else upcoming, limit)
        if alone:
            return await self._call_here(fn, limit)
        call: Call | None = None
        try:
            call = self._find_or_start(executor, key, fn, limit, upcoming, urgent=urgent)
            await executor.arrival(call)
        except BaseException:
            self._give_up_call(key, call)
            self._free_places()
            raise
        self.ahead.pop(key, None)
        return call.deliver(limit)

    def map(
        self, fns: Iterable[Fn], timeouts: Iterable[float | None] = repeat(None)
    ) -> Generator[CallResult, None, None]:
        """Yield the result of each of *fns*, in order, in constant memory: *fns* is read as results are taken.

        Each may have a limit of its own among *timeouts*: seconds, or None for the caller's.
        """
        calls = ((object(), *entry) for entry in zip(fns, timeouts))  # noqa: B905 - there may be more limits than functions
        read_ahead: deque[tuple[object, Fn, float | None]] = deque()

        def upcoming() -> Iterator[tuple[object, Fn, float | None]]:
            yield from [*read_ahead]
            for entry in calls:
                read_ahead.append(entry)
                yield entry

        try:
            while (entry := read_ahead.popleft() if read_ahead else next(calls, None)) is not None:
                key, fn, limit = entry
                yield self.call(key, fn, upcoming(), limit)
        finally:
            self.forget({key for key, *_ in read_ahead}.__contains__)

    def forget(self, is_mine: Callable[[Hashable], bool]) -> None:
        """Give up those calls that were started early whose key *is_mine*: nobody will ask for them."""
        self._give_up_calls([self.ahead.pop(key) for key in [*self.ahead] if is_mine(key)])
        self._free_places()

    def drop(self) -> None:
        """Forget what was started early, because what it would use is about to go.

        Queued calls are taken back, coroutines cancelled, threads given a moment and then left behind.
        """
        self.forget(lambda _: True)

    def close(self) -> None:
        """Drop everything, end the threads and the loop.  A later call starts afresh."""
        self.drop()
        self._executor, executor = None, self._executor
        if executor is not None:
            executor.close()

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what is started early

    def _find_or_start(
        self, runner: Executor, key: Hashable, fn: Fn, limit: float | None, upcoming: Upcoming, *, urgent: bool
    ) -> Call:
        """Return the call named *key*, started early or now, and start some of those *upcoming*.

        Reading the upcoming calls costs more than a call, so it is done once for several.
        """
        if (early := self.ahead.get(key)) is None:
            call = self._make_call(key, fn, limit)
            call.urgent = urgent
            runner.expect(call)  # first, as reading the upcoming calls takes time
        else:
            call, has_other_limit = early, early.timeout != limit
            call.timeout = limit
            call.urgent |= urgent and call.state == "queued"
            if call.state == "queued" or (has_other_limit and call.state == "running"):
                runner.expect(call)
        self._asked_since_scan += 1
        if early is None or self._asked_since_scan >= (self.lookahead - self.concurrency) // 4:
            self._asked_since_scan = 0
            started = [
                self._make_call(key, fn, limits[0] if limits and limits[0] is not None else self.timeout)
                for key, fn, *limits in islice(upcoming, self.lookahead)
                if key not in self.ahead
            ]
            if started:
                runner.submit(started, first=urgent)
        if early is None and len(self.ahead) == 1:
            call.result.concurrency = self.processes
        return call

    def _make_call(self, key: Hashable, fn: Fn, limit: float | None) -> Call:
        """Return a call that runs beside its owner, known by *key*."""
        self.ahead[key] = call = Call(fn, limit, self.retry, self.concurrency * self.processes)
        call.detach()
        if self._after is not None:
            call.on_finish = partial(self._after, key, call.result)
        return call

    # -- where calls run

    def _own_loop(self) -> OwnLoop:
        from .executor import OwnLoop

        if not isinstance(self._executor, OwnLoop):
            own_loop = OwnLoop(self.concurrency, self.grace, blocks=not self.coroutines)
            if self._executor is not None:
                self.close()
            self._executor = own_loop
        return self._executor

    def _running_loop(self) -> Executor:
        import asyncio

        from .executor import Executor

        loop = asyncio.get_running_loop()
        if self._executor is None or self._executor.loop is not loop:
            self._loops_change |= bool(self.ahead)
            self.close()
            self._executor = Executor(loop, self.concurrency, self.grace, blocks=not self.coroutines)
        return self._executor

    def _check_alone(self, key: Hashable, upcoming: Upcoming, limit: float | None) -> tuple[Upcoming, bool]:
        """Return *upcoming*, unread, and whether the call has neither a limit nor others to overlap."""
        if limit is not None or key in self.ahead or (self.ahead and self.concurrency > 1):
            return upcoming, False
        rest = iter(upcoming if self.lookahead else ())
        return (chain([first], rest), False) if (first := next(rest, None)) is not None else ((), True)

    async def _call_here(self, fn: Fn, limit: float | None) -> CallResult:
        import asyncio

        cancelled = asyncio.CancelledError if (trio := running_trio()) is None else trio.Cancelled
        call = Call(fn, limit, self.retry, self.processes)
        call.claim()
        await call.arun((KeyboardInterrupt,), (cancelled,))
        return call.deliver(limit)

    # -- waiting and giving up

    def _wait(self, call: Call) -> None:
        tolerance = 2 * self.grace + _POLL  # the loop's own timers act first
        while not call.wait(_POLL):
            own_loop = self._own_loop()
            if call.state == "queued":
                own_loop.expect(call)  # a thread may have left it for a loop that was left behind
            if own_loop.is_stuck(tolerance):
                self._leave_behind(own_loop)
            elif call.is_overdue(tolerance):  # in a loop that was left behind before
                call.expire()
                call.abandon()

    def _leave_behind(self, own_loop: OwnLoop) -> None:
        """Leave the blocked loop behind; its queued calls go to the next."""
        self._executor = None
        for call in own_loop.leave_behind():
            call.expire()
            if call.late or call.timeout is None:
                call.abandon(AueporaError(_STRANDED))
        self._own_loop().submit([call for call in self.ahead.values() if call.state == "queued"])

    def _give_up_call(self, key: Hashable, call: Call | None) -> None:
        if call is None:  # interrupted while submitting: nobody knows which calls were submitted
            self.drop()
        else:
            self.ahead.pop(key, None)
            self._give_up_calls([call])

    def _free_places(self) -> None:
        calls, self._abandoned = self._abandoned, []
        if self._executor is not None:
            for call in calls:
                self._executor.abandon(call)

    def _give_up_calls(self, calls: list[Call]) -> None:
        """Cancel *calls*: queued ones at once, running ones after a moment in our own loop."""
        running = [call for call in calls if not call.take_back() and call.state == "running"]
        if (executor := self._executor) is not None and running:
            executor.cancel(running)
        deadline = time.monotonic() + self.grace
        for call in running:
            call.retry = None
            if executor is None or not executor.ours or not call.wait(deadline - time.monotonic()):
                call.abandon()
                self._abandoned.append(call)
