"""Which exceptions are tried again, and after how long."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import pytest

from pytest_auepora.base.retry import RetryPolicy, reason_of


class RateLimitError(Exception):
    pass


class Daily(RateLimitError):
    pass


Daily.__module__ = "vendor.limits"


class Response:
    def __init__(self, headers: Any) -> None:
        self.headers = headers


def error(retry_after: Any = None, headers: Any = None, own_headers: Any = None) -> RateLimitError:
    exc: Any = RateLimitError("busy")
    if retry_after is not None:
        exc.retry_after = retry_after
    if headers is not None:
        exc.response = Response(headers)
    if own_headers is not None:
        exc.headers = own_headers
    return exc  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("named", "matches"),
    [
        (RateLimitError, True),
        ("RateLimitError", True),
        ("Daily", True),
        ("vendor.Daily", True),
        ("vendor.limits.Daily", True),
        ("vend.Daily", False),
        ("vendor.RateLimitError", False),
        ("Exception", True),
        ("builtins.Exception", True),
        (ValueError, False),
        ("LimitError", False),
    ],
)
def test_classes_are_named_by_class_by_name_or_by_package(named: type[BaseException] | str, matches: bool) -> None:
    assert RetryPolicy((named,)).matches(Daily()) is matches


def test_only_exceptions_are_ever_tried_again() -> None:
    policy = RetryPolicy((BaseException,))
    assert policy.matches(ValueError())
    assert not policy.matches(KeyboardInterrupt())
    assert not policy.matches(SystemExit())


def test_waits_double_up_to_the_longest() -> None:
    policy = RetryPolicy((RateLimitError,), attempts=6, backoff=1, max_wait=6)
    assert [policy.pause(error(), n) for n in range(1, 7)] == [1, 2, 4, 6, 6, None]
    assert policy.pause(ValueError(), 1) is None
    assert RetryPolicy((RateLimitError,), attempts=10**6).pause(error(), 5000) == 30, "no overflow"


@pytest.mark.parametrize(
    ("exc", "wait"),
    [
        (error(retry_after=7), 7),
        (error(retry_after="7.5"), 7.5),
        (error(retry_after=0), 0),
        (error(headers={"Retry-After": "3"}), 3),
        (error(headers={"retry-after": "3"}), 3),
        (error(headers={"retry-after-ms": "1500", "retry-after": "2"}), 1.5),
        (error(own_headers={"Retry-After": 4}), 4),
        (error(retry_after=9, headers={"Retry-After": "3"}), 9),
        (error(headers={"Retry-After": "999"}), 30),
        (error(headers={"Retry-After": "soon"}), 0.5),
        (error(retry_after=float("nan")), 0.5),
        (error(retry_after=-1), 0.5),
        (error(headers={}), 0.5),
        (error(headers=7), 0.5),
        (error(headers={"Retry-After": formatdate(time.time() - 60, usegmt=True)}), 0),
    ],
)
def test_what_the_server_asks_for_is_honoured(exc: RateLimitError, wait: float) -> None:
    assert RetryPolicy((RateLimitError,)).pause(exc, 1) == wait


def test_a_date_is_a_time_to_wait_for() -> None:
    wait = RetryPolicy((RateLimitError,)).pause(error(headers={"Retry-After": formatdate(time.time() + 20)}), 1)
    assert wait is not None
    assert 10 < wait <= 20


def test_what_wraps_an_error_asks_for_what_its_cause_does() -> None:
    class Wrapped(Exception):
        """As of a framework, whose users can name nothing else."""

    policy = RetryPolicy(("Wrapped",))
    wrapped = Wrapped("component 'generator' failed")
    wrapped.__cause__ = error(headers={"Retry-After": "7"})
    assert policy.pause(wrapped, 1) == 7
    wrapped.retry_after = 3  # type: ignore[attr-defined]
    assert policy.pause(wrapped, 1) == 3, "its own word goes first"
    circle = Wrapped()
    circle.__cause__ = circle
    assert policy.pause(circle, 1) == 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"exceptions": (3,)},
        {"exceptions": ("Rate limit",)},
        {"exceptions": ("",)},
        {"exceptions": (int,)},
        {"exceptions": (ValueError,), "attempts": 0},
        {"exceptions": (ValueError,), "backoff": -1},
        {"exceptions": (ValueError,), "max_wait": float("nan")},
    ],
)
def test_policies_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="retry"):
        RetryPolicy(**wrong)


def test_one_name_alone_is_one_name() -> None:
    assert RetryPolicy("TimeoutError").exceptions == ("TimeoutError",)  # type: ignore[arg-type]


def test_reasons_are_short_and_on_one_line() -> None:
    assert reason_of(ValueError("first\nsecond")) == "ValueError: first"
    assert reason_of(ValueError()) == "ValueError"
    assert len(reason_of(ValueError("x" * 999))) == 120


def test_what_cannot_be_read_of_an_exception_is_not_in_the_way() -> None:
    class Broken(RateLimitError):
        retry_after = 10**400

        def __str__(self) -> str:
            raise KeyError("message")

        @property
        def headers(self) -> Any:
            raise KeyError("headers")

    assert RetryPolicy((RateLimitError,)).pause(Broken(), 1) == 0.5
    assert reason_of(Broken()) == "Broken: <exception str() failed>"


def test_a_group_of_named_exceptions_is_as_one_of_them() -> None:
    class Group(Exception):  # as ExceptionGroup, which Python 3.10 does not have
        def __init__(self, *errors: Exception) -> None:
            self.exceptions = errors

    one, other = error(retry_after=2), error(retry_after=7)
    policy = RetryPolicy((RateLimitError,), backoff=1)
    assert policy.pause(Group(one, Group(other)), 1) == 7
    assert policy.pause(Group(one, ValueError("by mistake")), 1) is None
    assert RetryPolicy(("Group",), backoff=1).matches(Group(one, ValueError("by mistake")))
