"""Many calls, without an owner for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from pytest_auepora.calls.caller import Caller

from .asking import LONG, Gauge, timed_out

pytestmark = pytest.mark.usefixtures("nothing_stays")


def test_map_yields_in_order_and_overlaps() -> None:
    gauge = Gauge()
    together = threading.Barrier(3)
    with Caller(3) as caller:
        fns = (gauge.call(i, lambda: together.wait(LONG) and None) for i in range(9))
        assert [r.value for r in caller.map(fns)] == list(range(9))
    assert gauge.most == 3


@pytest.mark.parametrize(("concurrency", "lookahead"), [(1, None), (2, 4), (3, None)])
def test_map_reads_no_further_than_its_window(concurrency: int, lookahead: int | None) -> None:
    read: list[int] = []

    def source() -> Iterator[Callable[[], int]]:
        for i in range(1000):
            read.append(i)
            yield lambda i=i: i  # type: ignore[misc]

    with Caller(concurrency, lookahead=lookahead) as caller:
        for taken, result in enumerate(caller.map(source())):
            assert result.value == taken
            assert len(read) <= taken + 1 + caller.lookahead
    assert len(read) == 1000


def test_a_map_left_early_starts_nothing_more() -> None:
    gauge = Gauge()
    with Caller(2, lookahead=4) as caller:
        results = caller.map(gauge.call(i) for i in range(1000))
        assert next(results).value == 0
        results.close()
        count = len(gauge.seen)
        assert count <= 6
        assert caller.call("next", lambda: "fine", [("more", lambda: 0)]).value == "fine"
        assert len(gauge.seen) == count


def test_errors_stand_in_their_place_in_a_map() -> None:
    def bad() -> None:
        raise LookupError

    with Caller(2) as caller:
        good, wrong, again = caller.map([lambda: 1, bad, lambda: 2])
    assert (good.value, again.value) == (1, 2)
    assert isinstance(wrong.error, LookupError)


def test_each_call_of_a_map_may_have_a_limit_of_its_own(release: threading.Event) -> None:
    def slow() -> str:
        release.wait(0.3)
        return "slow"

    with Caller(2, timeout=0.1, grace=0.05) as caller:
        first, second = caller.map([slow, slow], [LONG, None])
        assert (first.value, timed_out(first), timed_out(second)) == ("slow", False, True)
    with Caller(timeout=LONG, grace=0.05) as alone:
        assert [timed_out(r) for r in alone.map([slow, slow], [0.05, None])] == [True, False]
