"""Reading much at once, without the collector walking what grows."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Keep the collector from walking, again and again, a growing heap in which nothing is garbage.

    Without it, reading a golden file of 10,000 cases is over its budget, and so is opening a stored run of as many.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
