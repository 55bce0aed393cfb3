"""Calls in threads: bounds, order, limits, what is carried to whom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.calls.caller import Caller
from pytest_auepora.errors import CallTimeoutError

from .asking import LONG, Gauge, ahead, run_all, timed_out

pytestmark = pytest.mark.usefixtures("nothing_stays")


# -- in the owner's thread


def test_alone_and_unlimited_a_call_runs_in_its_owners_thread() -> None:
    with Caller() as caller:
        started: list[int] = []
        result = caller.call("a", threading.get_ident, [("b", lambda: started.append(1))])
    assert (result.value, result.error, result.attempts, result.concurrency) == (threading.get_ident(), None, 1, 1)
    assert started == []


def test_a_lone_call_runs_in_its_owners_thread_too() -> None:
    with Caller(4) as caller:
        result = caller.call("a", threading.get_ident)
    assert (result.value, result.concurrency) == (threading.get_ident(), 1)


class Skipped(BaseException):
    """Like the outcome exceptions of test runners."""


@pytest.mark.parametrize("kind", [ValueError, SystemExit, Skipped])
@pytest.mark.parametrize("options", [{}, {"timeout": LONG}])
def test_whatever_a_call_raises_is_in_its_result(kind: type[BaseException], options: dict[str, Any]) -> None:
    def fn() -> None:
        raise kind("no")

    with Caller(**options) as caller:
        error = caller.call(1, fn).error
    assert type(error) is kind
    assert error.__traceback__ is not None
    assert error.__traceback__.tb_frame.f_code.co_name == "fn", "the traceback starts in the user's code"


def test_the_users_interrupt_is_not_a_result() -> None:
    def fn() -> None:
        raise KeyboardInterrupt

    with Caller() as caller, pytest.raises(KeyboardInterrupt):
        caller.call(1, fn)


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"timeout": 0}, {"timeout": float("nan")}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Caller(**wrong)


def test_seconds_are_those_inside_the_call() -> None:
    over: list[float] = []
    held, told = threading.Event(), threading.Event()

    def tell() -> None:  # in the thread that was the slow call's, so that this one has ended
        over.append(time.perf_counter())
        told.set()

    def slow() -> None:
        time.sleep(0.1)

    with Caller(2) as caller:
        start = time.perf_counter()
        caller.call(0, lambda: None, [(1, lambda: held.wait(LONG)), (2, slow), (3, tell)])
        assert told.wait(LONG)
        time.sleep(0.2)  # the owner is slow to ask: nobody's latency
        seconds = caller.call(2, slow).seconds
        held.set()
    assert 0.1 <= seconds <= over[0] - start


# -- bounds


def test_as_many_run_at_once_as_allowed_and_no_more() -> None:
    gauge = Gauge()
    together = threading.Barrier(4)  # opens only when four are inside at once
    with Caller(4) as caller:
        results = run_all(caller, [gauge.call(i, lambda: together.wait(LONG) and None) for i in range(12)])
    assert [r.value for r in results] == list(range(12))
    assert gauge.most == 4
    assert {r.concurrency for r in results} == {4}


def test_threads_are_added_when_those_there_are_too_few() -> None:
    together = threading.Barrier(2)
    with Caller(2) as caller:
        caller.call(0, lambda: None, timeout=LONG)
        time.sleep(0.05)  # now one thread waits for work, and two calls come at once
        results = run_all(caller, [lambda: together.wait(LONG / 4)] * 2)
    assert [r.error for r in results] == [None, None]


@pytest.mark.parametrize(("lookahead", "most"), [(None, 16), (3, 3), (0, 0)])
def test_no_more_are_started_early_than_allowed(lookahead: int | None, most: int) -> None:
    gauge = Gauge()
    fns = [gauge.call(i) for i in range(40)]
    caller = Caller(2, lookahead=lookahead)
    caller.call(0, fns[0], ahead(fns, 1))
    caller.close()
    assert set(gauge.seen) <= set(range(most + 1))


def test_upcoming_is_read_no_further_than_needed() -> None:
    read: list[int] = []

    def upcoming() -> Iterator[tuple[int, Callable[[], Any]]]:
        for i in range(1, 1000):
            read.append(i)
            yield i, lambda: None

    with Caller(2, lookahead=5) as caller:
        caller.call(0, lambda: None, upcoming())
    assert read == [1, 2, 3, 4, 5]


def test_each_call_is_made_once_for_its_owner() -> None:
    gauge = Gauge()
    with Caller(8) as caller:
        results = run_all(caller, [gauge.call(i, lambda: time.sleep(0.001)) for i in range(100)])
    assert [r.value for r in results] == list(range(100))
    assert sorted(gauge.seen) == list(range(100))


@given(
    concurrency=st.integers(1, 5),
    lookahead=st.none() | st.integers(0, 9),
    plan=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), max_size=25),
)
def test_overlapping_changes_nothing_but_the_time(
    concurrency: int, lookahead: int | None, plan: list[tuple[bool, bool, bool]]
) -> None:
    """Whichever calls fail, are awaited, or are never asked for: the others get what a serial run would give."""

    def make(i: int, fails: bool, awaits: bool) -> Callable[[], Any]:
        async def coroutine() -> int:
            return plain()

        def plain() -> int:
            if fails:
                raise ValueError(i)
            return i

        return coroutine if awaits else plain

    fns = [make(i, fails, awaits) for i, (fails, awaits, _) in enumerate(plan)]
    with Caller(concurrency, lookahead=lookahead) as caller:
        for i, (fails, _, asked) in enumerate(plan):
            if asked:
                result = caller.call(i, fns[i], ahead(fns, i + 1))
                assert result.value == (None if fails else i)
                assert repr(result.error) == (f"ValueError({i})" if fails else "None")


def test_a_call_asked_for_again_does_not_wait_behind_early_ones() -> None:
    order: list[str] = []
    pass_on = threading.Semaphore(0)

    def late() -> None:
        order.append("early" if pass_on.acquire(timeout=LONG / 4) else "stuck")

    early = [(i, late) for i in range(10, 20)]

    def upcoming() -> Iterator[tuple[int, Callable[[], Any]]]:
        yield early[0]
        pass_on.release()  # one early call may end: the other is booked by now, and what follows is looked at
        yield from early[1:]

    with Caller(2, lookahead=10) as caller:
        caller.call("x", lambda: order.append("x"), early)
        caller.call("rerun", lambda: order.append("rerun"), upcoming())
        before = order[: order.index("rerun")]
        pass_on.release(len(early))
    assert before in (["x"], ["x", "early"]), "it is the next to run"


def test_what_nobody_asks_for_does_not_stop_the_others() -> None:
    gauge = Gauge()
    fns = [gauge.call(i) for i in range(60)]
    with Caller(2, lookahead=4) as caller:
        for i in range(0, 60, 2):  # every other item is skipped by its set-up
            assert caller.call(i, fns[i], ahead(fns, i + 1)).value == i
    assert gauge.seen.count(58) == 1


# -- limits


def test_a_hung_call_is_given_up_and_its_place_filled(release: threading.Event) -> None:
    with Caller(timeout=0.1) as caller:
        hung = caller.call(1, lambda: release.wait(LONG))
        fine = caller.call(2, lambda: "fine", timeout=LONG)
    assert timed_out(hung)
    assert isinstance(hung.error, CallTimeoutError)
    assert "0.1 s" in str(hung.error)
    assert hung.seconds >= 0.1
    assert fine.value == "fine"
    assert not timed_out(fine)


def test_hung_early_calls_do_not_starve_the_others(release: threading.Event) -> None:
    def hang() -> None:
        release.wait(LONG)

    with Caller(2) as caller:
        results = run_all(caller, [hang] * 6 + [lambda: "fine"] * 6, {hang: 0.1})
    assert [timed_out(r) for r in results] == [True] * 6 + [False] * 6
    assert [r.value for r in results[6:]] == ["fine"] * 6


def test_an_early_call_without_a_limit_has_the_callers(release: threading.Event) -> None:
    def hang() -> None:
        release.wait(LONG)

    with Caller(2, timeout=0.1) as caller:
        caller.call(0, lambda: None, [(1, hang, None), (2, hang, None)])
        fine = caller.call(3, lambda: "good", timeout=LONG)
        assert fine.value == "good", "nobody has asked for those that hold both places"
        hung = caller.call(1, hang)
    assert timed_out(hung)
    assert hung.seconds < LONG / 2


def test_a_limit_counts_from_the_calls_own_start(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("pytest_auepora.calls.call.perf_counter", lambda: now[0])

    def tick() -> None:
        now[0] += 4.0

    pair = threading.Barrier(2, tick)
    with Caller(2, timeout=10.0) as caller:  # the last pair waits longer than the limit before it starts
        results = run_all(caller, [lambda: pair.wait(LONG)] * 8)
    assert [(r.seconds, timed_out(r)) for r in results] == [(4.0, False)] * 8


def test_too_late_is_too_late_even_if_nobody_was_looking() -> None:
    over = threading.Event()

    def slow() -> str:
        time.sleep(0.1)
        over.set()
        return "late"

    with Caller(2, timeout=0.05) as caller:
        caller.call(0, lambda: None, [(1, slow)])
        assert over.wait(LONG)
        time.sleep(0.05)
        result = caller.call(1, slow)
    assert timed_out(result)
    assert result.value is None


def test_a_call_may_have_a_limit_of_its_own(release: threading.Event) -> None:
    with Caller() as caller:
        assert timed_out(caller.call(1, lambda: release.wait(LONG), timeout=0.05))
    with Caller(2) as caller:
        caller.call(0, lambda: None, [(1, lambda: release.wait(LONG), 0.05)])
        assert timed_out(caller.call(1, lambda: None, timeout=0.05))


def test_an_early_answer_is_held_against_its_owners_limit() -> None:
    with Caller(2) as caller:
        caller.call(0, lambda: time.sleep(0.1), [(1, lambda: time.sleep(0.1))])
        caller.call(2, lambda: None, [(3, lambda: None)])
        assert timed_out(caller.call(1, lambda: None, timeout=0.01))
