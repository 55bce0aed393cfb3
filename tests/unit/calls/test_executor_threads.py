"""Calls where the system has no further thread, for a while or for good."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pytest_auepora.calls.caller import Caller

from .asking import LONG, run_all

pytestmark = pytest.mark.usefixtures("nothing_unawaited", "nothing_stays")


class Refusal:
    """Refuses to start threads of ours, so often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self.refused: list[str] = []
        start = threading.Thread.start

        def refusing(thread: threading.Thread) -> None:
            if thread.name.startswith("auepora-") and self.times:
                self.times -= 1
                self.refused.append(thread.name)
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refusing)


@pytest.fixture
def refusal(monkeypatch: pytest.MonkeyPatch) -> Refusal:
    return Refusal(monkeypatch)


async def good() -> str:
    return "good"


def fetch() -> Any:
    return good()


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_call_begins_once_a_thread_can_be_had(refusal: Refusal, concurrency: int) -> None:
    refusal.times = 1
    with Caller(concurrency, timeout=LONG) as caller:
        assert [r.value for r in run_all(caller, [lambda: "good"] * 5)] == ["good"] * 5
    assert refusal.refused == ["auepora-loop"]


@pytest.mark.parametrize("options", [{"timeout": LONG}, {"concurrency": 2, "coroutines": True}])
def test_without_threads_each_call_says_so_and_a_later_one_runs(refusal: Refusal, options: dict[str, Any]) -> None:
    refusal.times = 10**6
    with Caller(**options) as caller:
        for key in range(2):
            with pytest.raises(RuntimeError, match="can't start new thread"):
                caller.call(key, good, [(key + 10, good)])
        refusal.times = 0
        assert caller.call(2, good, [(12, good)]).value == "good"


def test_fewer_threads_than_wanted_will_do(refusal: Refusal) -> None:
    with Caller(3, timeout=LONG) as caller:
        assert caller.call("first", lambda: "good").value == "good"
        refusal.times = 10**6
        assert [r.value for r in run_all(caller, [lambda: "good"] * 5)] == ["good"] * 5
    assert refusal.refused


def test_a_call_in_the_owners_thread_says_there_is_no_loop(refusal: Refusal) -> None:
    refusal.times = 10**6
    with Caller() as caller:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            caller.call(0, fetch)
        refusal.times = 0
        assert caller.call(1, fetch).value == "good"


def test_a_loop_that_can_have_no_thread_says_so_in_the_call(refusal: Refusal) -> None:
    async def main() -> list[Any]:
        with Caller(timeout=LONG) as caller:
            refusal.times = 10**6
            none = await caller.acall(0, lambda: "good")
            refusal.times = 1
            return [none, await caller.acall(1, lambda: "good")]

    none, fine = asyncio.run(main())
    assert str(none.error) == "can't start new thread"
    assert fine.value == "good"
