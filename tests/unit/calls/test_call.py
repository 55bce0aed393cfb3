"""Calls in threads that are tried again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_auepora.base.retry import RetryPolicy
from pytest_auepora.calls.caller import Caller

from .asking import LONG, timed_out

pytestmark = pytest.mark.usefixtures("nothing_stays")


class Busy(Exception):
    pass


def failing(times: int, error: BaseException | None = None) -> Callable[[], str]:
    left = [times]

    def fn() -> str:
        if left[0]:
            left[0] -= 1
            raise error or Busy("wait a bit")
        return "answer"

    return fn


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 2}])
def test_named_exceptions_are_tried_again_and_counted(options: dict[str, Any]) -> None:
    with Caller(**options, retry=RetryPolicy((Busy,), attempts=3, backoff=0.2)) as caller:
        start = time.perf_counter()
        result = caller.call(1, failing(1), [(2, failing(3))])
        assert (result.value, result.attempts, result.retry_reasons) == ("answer", 2, ["Busy: wait a bit"])
        waited = time.perf_counter() - start - result.seconds
        assert waited > 0.19, "waiting between attempts is not the call's time"
        worn = caller.call(2, failing(3))
        assert isinstance(worn.error, Busy)
        assert (worn.attempts, len(worn.retry_reasons)) == (3, 2)
        other = caller.call(3, failing(1, ValueError("mine")))
        assert isinstance(other.error, ValueError)
        assert other.attempts == 1


class Mute(Exception):
    def __str__(self) -> str:
        raise KeyError("message")


class Closed(Exception):
    @property
    def response(self) -> None:
        raise RuntimeError("no response was received")


@pytest.mark.parametrize("options", [{}, {"timeout": LONG}, {"concurrency": 2}])
@pytest.mark.parametrize(
    ("error", "said"), [(Mute(), "Mute: <exception str() failed>"), (Closed("shut"), "Closed: shut")]
)
def test_an_exception_that_cannot_be_read_is_tried_again_as_any(
    options: dict[str, Any], error: Exception, said: str
) -> None:
    with Caller(**options, retry=RetryPolicy((type(error),), attempts=2, backoff=0.01)) as caller:
        better = caller.call(1, failing(1, error), [(2, failing(2, error))])
        assert (better.value, better.retry_reasons) == ("answer", [said])
        assert caller.call(2, failing(2, error)).error is error


class Unsure(RetryPolicy):
    """What cannot say whether to try again."""

    def pause(self, error: BaseException, attempt: int) -> float | None:
        raise LookupError("no such error")


def test_a_policy_that_fails_ends_the_call_with_its_own_error() -> None:
    with Caller(2, timeout=LONG, retry=Unsure((Busy,))) as caller:
        results = [caller.call(1, failing(1), [(2, failing(1))]), caller.call(2, failing(1))]
        assert [type(r.error) for r in results] == [LookupError] * 2
        assert caller.call(3, failing(0)).value == "answer"


def test_a_limit_is_for_each_attempt_and_final(release: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], list[int]()
    monkeypatch.setattr("pytest_auepora.calls.call.perf_counter", lambda: now[0])

    def fn() -> None:
        calls.append(1)
        now[0] += 8.0
        if len(calls) < 3:
            raise Busy
        now[0] += 8.0
        release.wait(LONG)

    with Caller(timeout=10.0, retry=RetryPolicy((Busy, "TimeoutError"), attempts=4, backoff=0.01)) as caller:
        result = caller.call(1, fn)
    assert timed_out(result)
    assert (result.attempts, len(calls)) == (3, 3)


def test_a_dropped_call_is_not_tried_again() -> None:
    began, tries = threading.Event(), []

    def fn() -> None:
        tries.append(threading.get_ident())
        began.set()
        raise Busy

    with Caller(2, grace=0.05, retry=RetryPolicy((Busy,), backoff=LONG, max_wait=LONG)) as caller:
        caller.call(0, lambda: began.wait(LONG), [(1, fn)])
    assert len(tries) == 1  # and nothing stays: the drop has woken its thread
