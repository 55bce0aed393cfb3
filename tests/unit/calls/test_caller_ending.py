"""The end of calls in threads: dropped, closed, interrupted, and the interpreter over."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator

import pytest

from pytest_auepora.calls.call import Fn
from pytest_auepora.calls.caller import Caller

from .asking import LONG, Alarm, Gauge, run_all

pytestmark = pytest.mark.usefixtures("nothing_stays")


def test_dropped_calls_do_not_start_and_are_asked_anew(release: threading.Event) -> None:
    gauge = Gauge()
    first = gauge.call(0)
    blockers = [(i, gauge.call(i, lambda: release.wait(LONG) and None)) for i in (1, 2)]
    queued = [(i, gauge.call(i)) for i in range(3, 10)]
    with Caller(2, grace=0.05) as caller:
        caller.call(0, first, [*blockers, *queued])
        caller.drop()
        seen = set(gauge.seen)
        assert seen <= {0, 1, 2}
        assert caller.call(5, gauge.call(5), [(6, gauge.call(6))]).value == 5, "the places of dropped calls are free"


def test_drop_lets_running_calls_end(release: threading.Event) -> None:
    began, ended = threading.Event(), threading.Event()

    def early() -> None:
        began.set()
        release.wait(0.1)
        ended.set()

    with Caller(2, grace=LONG) as caller:
        caller.call(0, lambda: began.wait(LONG), [(1, early)])
        caller.drop()
        assert ended.is_set()


def test_a_closed_caller_can_start_afresh() -> None:
    caller = Caller(2)
    for _ in range(2):
        assert [r.value for r in run_all(caller, [lambda: 1, lambda: 2])] == [1, 2]
        caller.close()
    caller.close()


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C to one process there")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_reaches_an_owner_that_waits(release: threading.Event) -> None:
    began = threading.Event()

    def hang() -> None:
        began.set()
        release.wait(LONG)

    def interrupt() -> None:
        began.wait(LONG)
        os.kill(os.getpid(), signal.SIGINT)

    caller = Caller(2, timeout=LONG, grace=0.05)
    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        caller.call(1, hang)
    start = time.perf_counter()
    caller.close()
    assert time.perf_counter() - start < LONG / 4, "closing does not wait for the hung call"
    helper.join()


@pytest.mark.parametrize("coroutines", [False, True])
@pytest.mark.parametrize("how", ["waiting", "booking", "map"])
def test_a_calls_place_is_free_when_the_waiting_is_ended(
    release: threading.Event, alarm: Alarm, coroutines: bool, how: str
) -> None:
    ended: list[int] = []

    def hang() -> None:
        alarm.ring()
        release.wait(LONG)
        ended.append(1)

    async def hang_awaiting() -> None:
        alarm.ring()
        await asyncio.sleep(LONG)
        ended.append(1)

    async def good() -> str:
        return "good"

    def upcoming(key: int) -> Iterator[tuple[int, Fn]]:
        yield key + 10, good
        while how == "booking":  # until the signal comes: the call runs, those that follow are still being looked at
            time.sleep(0.01)

    with Caller(2, grace=0.05, coroutines=coroutines) as caller:
        for key in range(2):
            ask = hang_awaiting if coroutines else hang
            with pytest.raises(Alarm.Rung):
                next(caller.map([ask, good])) if how == "map" else caller.call(key, ask, upcoming(key))
        assert caller.call(2, good, timeout=LONG).value == "good"
        assert not ended


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_hung_call_does_not_keep_the_interpreter_alive() -> None:
    done = run_python("""
        import threading
        from pytest_auepora.calls.caller import Caller
        with Caller(2, timeout=0.05, grace=0.05) as caller:
            caller.call(0, threading.Event().wait, [(1, threading.Event().wait)])
        print("over")
    """)
    assert (done.stdout, done.stderr, done.returncode) == ("over\n", "", 0)


def test_asyncio_is_imported_when_it_is_needed() -> None:
    done = run_python("""
        import sys
        from pytest_auepora.calls.caller import Caller
        with Caller(2) as caller:
            caller.call(0, int)
            print("asyncio" in sys.modules)
            caller.call(1, int, [(2, int)])
            print("asyncio" in sys.modules, "concurrent.futures.thread" in sys.modules)
    """)
    assert (done.stdout, done.stderr) == ("False\nTrue False\n", "")
