"""What is looked through, and when: calls of no lane that runs them, finished by hand."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from pytest_auepora.calls.call import Call
from pytest_auepora.calls.schedule import Booking, Fn


class Still:
    """A lane in which nothing ever runs."""

    def submit(self, call: Call) -> None: ...
    def promote(self, call: Call) -> None: ...


class Owner:
    """Asks for calls 0, 1, 2 and so on, and knows how far it was looked ahead for each."""

    def __init__(self, concurrency: int, lookahead: int) -> None:
        self.booking = Booking(concurrency, lookahead, None, None)
        self.ahead: dict[Hashable, Call] = {}
        self.asked = 0

    @property
    def started(self) -> tuple[int, int]:
        """The first and the last call that was started and not asked for yet."""
        keys = [key for key in self.ahead if isinstance(key, int)]
        return min(keys), max(keys)

    def ask(self, *, answered: bool) -> int:
        """Ask for the next call, whose answer is there or not, and return how many of those behind it were read."""
        read = 0

        def upcoming(after: int) -> Iterator[tuple[int, Fn]]:
            nonlocal read
            for i in range(after + 1, 1000):
                read += 1
                yield i, lambda: None

        if answered and self.asked in self.ahead:
            self.ahead[self.asked].cancel()
        key, self.asked = self.asked, self.asked + 1
        self.booking.book(Still(), self.ahead, (key, lambda: None, None), upcoming(key))
        del self.ahead[key]
        return read


def test_an_owner_who_is_slower_than_the_calls_looks_ahead_once_few_are_left() -> None:
    owner = Owner(2, 20)
    assert [owner.ask(answered=True) for _ in range(34)] == [20, *[0] * 15, 20, *[0] * 15, 20, 0]
    assert owner.started == (34, 52)


def test_an_owner_who_waits_looks_ahead_at_a_quarter_of_it() -> None:
    owner = Owner(2, 20)
    assert [owner.ask(answered=False) for _ in range(9)] == [20, 0, 0, 0, 20, 0, 0, 0, 20]


def test_an_owner_who_begins_to_wait_looks_ahead_at_once() -> None:
    owner = Owner(2, 20)
    assert [owner.ask(answered=True) for _ in range(10)] == [20, *[0] * 9]
    assert owner.ask(answered=False) == 20
    assert owner.started == (11, 30)


def test_a_short_look_ahead_is_filled_at_every_call() -> None:
    owner = Owner(4, 4)
    assert [owner.ask(answered=True) for _ in range(5)] == [4] * 5
