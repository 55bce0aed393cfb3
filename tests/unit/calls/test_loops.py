"""The loop of our own: it ends when it is closed, and with the one who had it."""

from __future__ import annotations

import gc
import threading

from pytest_auepora.calls.caller import Caller

from .asking import LONG


async def _thread() -> threading.Thread:
    return threading.current_thread()


def test_a_loop_ends_with_who_had_it() -> None:
    """As that of a metric with an async function, which nobody closes."""
    caller = Caller()
    threads = [caller.call("once", _thread).value, caller.call("again", _thread).value]
    assert threads[0] is threads[1]
    assert threads[0].is_alive()
    del caller
    gc.collect()
    threads[0].join(LONG)
    assert not threads[0].is_alive()


def test_a_loop_that_was_closed_does_not_end_the_next_one() -> None:
    caller = Caller()
    first = caller.call("before", _thread).value
    caller.close()
    assert not first.is_alive()
    then = caller.call("then", _thread).value
    gc.collect()
    assert caller.call("after", _thread).value is then
    assert then.is_alive()
    caller.close()
    assert not then.is_alive()
