"""A flag that is set once."""

from __future__ import annotations

import threading
import time

from pytest_auepora.calls.latch import Latch

LONG = 20.0


def test_it_is_closed_until_it_is_set() -> None:
    latch = Latch()
    assert not latch.is_set()
    assert not latch.wait(0.001)
    assert not latch.wait(-1)
    latch.set()
    assert latch.is_set()
    assert latch.wait(0)


def test_everybody_who_waits_gets_through() -> None:
    latch = Latch()
    through: list[bool] = []
    threads = [threading.Thread(target=lambda: through.append(latch.wait(4 * LONG)), daemon=True) for _ in range(5)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)  # they are all waiting
    latch.set()
    for thread in threads:
        thread.join(LONG)
    assert through == [True] * 5
