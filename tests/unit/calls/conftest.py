"""Shared by the tests of calls."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator

import pytest

from .asking import LONG, Alarm


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as a terminal has it; a process that a shell put into the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    """What ends the waiting of the main thread, where the system has such a signal."""
    if not hasattr(signal, "SIGALRM"):
        pytest.skip("no such signal there")
    with Alarm() as alarm:
        yield alarm


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """What hanging calls of a test wait for; set when it is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def nothing_stays(release: threading.Event) -> Iterator[None]:
    """No thread is left behind."""
    before = set(threading.enumerate())
    yield
    release.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(LONG)
        assert not thread.is_alive(), thread


@pytest.fixture(scope="module")
def garbage_is_new() -> None:
    """Let collections of garbage walk what the tests of one file make: what stood before is large."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def nothing_unawaited(garbage_is_new: None) -> Iterator[None]:
    """No coroutine is left that nobody awaited: pytest makes errors of those when they are collected."""
    yield
    gc.collect()
