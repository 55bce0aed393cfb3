"""How many calls at a time, and how far ahead, under which options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.adapters.systems import System
from pytest_auepora.base.progress import Progress
from pytest_auepora.base.retry import RetryPolicy
from pytest_auepora.pytest_plugin.lookahead import Callers, JudgeLookahead


class Config(SimpleNamespace):
    """As much of pytest's as is asked."""

    def getoption(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


def callers(
    concurrency: int | None = None, seed: int | None = None, *, timeout: float | None = None,
    retry: RetryPolicy | None = None, maxfail: int = 0, workers: int = 0,
) -> Callers:  # fmt: skip
    """Return what a process makes calls with: a worker of so many, or the only one."""
    given: dict[str, Any] = {"workerinput": {"workerid": "gw0", "workercount": workers}} if workers else {}
    options: Any = SimpleNamespace(concurrency=concurrency, seed=seed, timeout=timeout, retry=retry)
    config: Any = Config(maxfail=maxfail, **given)
    return Callers(config, options, JudgeLookahead(None, Progress("judged scores", show=False)))


async def ask(*_: Any) -> str:
    return "yes"


SYSTEMS = {
    "sync": System("sync", False, lambda *_: "yes"),
    "async": System("async", True, ask),
}


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("sync", {}, (1, 0)),  # its client may not be thread-safe
        ("async", {}, (8, 64)),
        ("sync", {"concurrency": 3}, (3, 24)),
        ("async", {"concurrency": 3}, (3, 24)),
        ("async", {"concurrency": 1}, (1, 0)),
        # a run that stops has paid in vain for what it asked ahead
        ("sync", {"maxfail": 1}, (1, 0)),
        ("sync", {"maxfail": 1, "concurrency": 3}, (3, 3)),
        ("sync", {"maxfail": 2, "concurrency": 3}, (3, 3)),
        ("async", {"maxfail": 1}, (8, 8)),
        ("async", {"maxfail": 1, "concurrency": 1}, (1, 0)),
        # calls side by side would draw from the same generators
        ("sync", {"seed": 7, "concurrency": 3}, (1, 0)),
        ("async", {"seed": 0}, (1, 0)),
        ("async", {"seed": 7, "maxfail": 1}, (1, 0)),
        # a worker does not know which of the cases will be its own
        ("sync", {"workers": 2}, (1, 0)),
        ("async", {"workers": 2}, (1, 0)),
        ("async", {"workers": 1, "concurrency": 3}, (1, 0)),
        ("sync", {"workers": 2, "concurrency": 3, "maxfail": 1}, (1, 0)),
    ],
)
def test_calls_at_a_time_and_started_early(kind: str, options: dict[str, Any], expected: tuple[int, int]) -> None:
    made = callers(**options)
    caller = made.caller_for(SYSTEMS[kind])
    assert (caller.concurrency, caller.lookahead) == expected


@pytest.mark.parametrize(("workers", "processes"), [(0, 1), (1, 1), (4, 4)])
def test_the_other_workers_call_as_well(workers: int, processes: int) -> None:
    with callers(workers=workers).caller_for(SYSTEMS["sync"]) as caller:
        assert caller.processes == processes
        assert caller.call("a", lambda: None).concurrency == processes


@pytest.mark.parametrize(("kind", "coroutines"), [("sync", False), ("async", True)])
def test_what_is_known_of_the_system(kind: str, coroutines: bool) -> None:
    assert callers().caller_for(SYSTEMS[kind]).coroutines is coroutines


def test_time_limit_and_retries_are_those_of_the_options() -> None:
    retry = RetryPolicy(("OSError",))
    caller = callers(timeout=2.5, retry=retry).caller_for(SYSTEMS["sync"])
    assert (caller.timeout, caller.retry) == (2.5, retry)


def test_systems_of_a_kind_share_their_caller() -> None:
    made = callers()
    first = made.caller_for(SYSTEMS["sync"])
    assert made.caller_for(SYSTEMS["sync"]) is first
    assert made.caller_for(SYSTEMS["async"]) is not first
    assert made.caller_for(SYSTEMS["sync"]) is first
    made.close()
    assert made.caller_for(SYSTEMS["sync"]) is not first


def test_calls_are_ahead_until_they_are_asked_for_or_dropped() -> None:
    made = callers(concurrency=2)
    caller = made.caller_for(SYSTEMS["sync"])
    assert not made.ahead
    caller.call("a", lambda: None, [("b", lambda: None), ("c", lambda: None)])
    assert made.ahead
    caller.call("b", lambda: None)
    assert made.ahead
    made.drop()
    assert not made.ahead
    made.close()
