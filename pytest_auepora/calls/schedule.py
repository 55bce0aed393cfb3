"""Which calls are under way: the one that is asked for, and as many of those that follow as may be started early."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from .call import Call, Fn

if TYPE_CHECKING:
    from ..core.retry import RetryPolicy

Upcoming = Iterable["tuple[Hashable, Fn] | tuple[Hashable, Fn, float | None]"]
"""What may be started early, in the order it will be asked for: key, function, and its own time limit if any."""


class _Runner(Protocol):
    """What runs calls: an `Executor`."""

    def submit(self, calls: list[Call]) -> None: ...
    def expect(self, call: Call) -> None: ...


class Schedule:
    """Submits calls, and keeps those that were started early until their owner asks for them.

    To look through what is upcoming costs more than a call, so it is done once for several.

    Args:
        concurrency: how many calls may run at once.
        lookahead: how many calls may be started before they are asked for.
        timeout: seconds for those without a limit of their own; None for no limit.
        retry: which exceptions to answer with another attempt.
        processes: how many processes make such calls at once.
        after: called with the name of a call that ran beside its owner and the call, in whichever thread ends it.
    """

    def __init__(
        self,
        concurrency: int,
        lookahead: int,
        timeout: float | None,
        retry: RetryPolicy | None,
        *,
        processes: int = 1,
        after: Callable[[Hashable, Call], None] | None = None,
    ) -> None:
        self.ahead: dict[Hashable, Call] = {}
        self._together, self._alone = concurrency * processes, processes
        self._lookahead, self._timeout, self._retry = lookahead, timeout, retry
        self._every = max(1, (lookahead - concurrency) // 4)
        self._since_filled = 0
        self._after = after

    def book(self, runner: _Runner, key: Hashable, fn: Fn, limit: float | None, upcoming: Upcoming) -> Call:
        """Return the call named *key*, started early or now, and start some of those *upcoming*."""
        early = self.ahead.get(key)
        if early is None:
            runner.expect(call := self.make(key, fn, limit))  # before what is upcoming is read, which takes time
        else:
            call, is_limited = early, early.timeout != limit
            call.timeout = limit
            if call.state == "queued" or (is_limited and call.state == "running"):
                runner.expect(call)
        self._since_filled += 1
        if early is None or self._since_filled >= self._every:
            self._since_filled = 0
            new = [
                self.make(key, fn, its[0] if its and its[0] is not None else self._timeout)
                for key, fn, *its in islice(upcoming, self._lookahead)
                if key not in self.ahead
            ]
            if new:
                runner.submit(new)
        if early is None and len(self.ahead) == 1:
            call.result.concurrency = self._alone
        return call

    def make(self, key: Hashable, fn: Fn, limit: float | None) -> Call:
        """Return a call that runs beside its owner, known by *key*."""
        self.ahead[key] = call = Call(fn, limit, self._retry, self._together)
        call.detach()
        if self._after is not None:
            call.on_finish = partial(self._after, key, call)
        return call
