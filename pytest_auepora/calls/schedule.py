"""Which calls are under way: the one that is asked for, and as many of those that follow as may be started early."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from .call import Call

if TYPE_CHECKING:
    from ..core.retry import RetryPolicy

__all__ = ["Booking", "Fn", "Lane", "Upcoming"]

Fn = Callable[[], Any]
Upcoming = Iterable["tuple[Hashable, Fn] | tuple[Hashable, Fn, float | None]"]
"""What may be started early, in the order it will be asked for: key, function, and its own time limit if any."""


class Lane(Protocol):
    """Where calls are made, so many at once."""

    def submit(self, call: Call) -> None: ...
    def promote(self, call: Call) -> None: ...


class Booking:
    """Submits calls to a lane, and keeps those that nobody has asked for yet in a mapping of the lane's owner.

    To look through what is upcoming costs more than a call.  It is not done at each one while plenty are under way,
    and at a quarter of them where the answer is there already: it is the owner who is slow then, and not the calls.

    Args:
        concurrency: how many calls may run at once.
        lookahead: how many calls may be started before they are asked for.
        timeout: seconds for those without a limit of their own; None for no limit.
        retry: which exceptions to answer with another attempt.
        processes: how many book such calls at once.
    """

    def __init__(
        self, concurrency: int, lookahead: int, timeout: float | None, retry: RetryPolicy | None, processes: int = 1
    ) -> None:
        self._together = concurrency * processes
        self._alone = processes
        self._lookahead = lookahead
        self._timeout = timeout
        self._retry = retry
        self._at_latest = max(1, lookahead - 2 * concurrency)
        self._when_waiting = max(1, self._at_latest // 4)
        self._since_filled = 0

    def book(
        self, lane: Lane, ahead: dict[Hashable, Call], own: tuple[Hashable, Fn, float | None], upcoming: Upcoming
    ) -> Call:
        """Return the call named by *own*, started early or now, and start some of those *upcoming*."""
        key, fn, limit = own
        call = ahead.get(key)
        is_early = call is not None
        if call is None:
            call = self.submit(lane, ahead, key, fn, limit)
        else:
            call.limit(limit)
        if call.state == "queued":
            lane.promote(call)
        self._since_filled += 1
        if is_early and self._since_filled < (self._at_latest if call.finished.is_set() else self._when_waiting):
            return call
        self._since_filled = 0
        for next_key, next_fn, *its_own in islice(upcoming, self._lookahead):
            if next_key not in ahead:
                its_limit = its_own[0] if its_own and its_own[0] is not None else self._timeout
                self.submit(lane, ahead, next_key, next_fn, its_limit)
        if not is_early and len(ahead) == 1:
            call.result.concurrency = self._alone
        return call

    def submit(self, lane: Lane, ahead: dict[Hashable, Call], key: Hashable, fn: Fn, limit: float | None) -> Call:
        """Start *fn* in the lane, as soon as there is room."""
        ahead[key] = call = Call(fn, limit, self._retry, self._together)
        call.detach()
        lane.submit(call)
        return call
