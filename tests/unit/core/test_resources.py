"""Processor time and memory around a call."""

from __future__ import annotations

import sys
import time

import pytest

from pytest_auepora.core.resources import WithResources, sampled
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MissingExtraError
from pytest_auepora.metrics.operational import CpuPercent, MemoryMb

psutil = pytest.importorskip("psutil", reason="psutil takes the samples")


class Busy:
    """A system that computes, holds memory and then answers."""

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        held = bytearray(b"x" * (64 << 20))
        end = time.process_time() + 0.15
        while time.process_time() < end:
            sum(range(1000))
        return SystemOutputs([], Response(str(len(held))))


def test_a_busy_system() -> None:
    before = psutil.Process().memory_info().rss / 2**20
    outputs = WithResources(Busy()).run(EvaluationSample("s", "q"))
    taken = outputs.extra["resources"]
    assert taken["cpu_percent"] > 1
    assert taken["memory_mb"] > before + 32
    sample = EvaluationSample("s", "q")
    assert CpuPercent().compute([sample], [outputs]).value == taken["cpu_percent"]
    assert MemoryMb().compute([sample], [outputs]).value == taken["memory_mb"]


def test_an_idle_block() -> None:
    used = time.process_time()
    with sampled() as taken:
        time.sleep(0.1)
    used = time.process_time() - used
    assert taken.seconds >= 0.1
    assert 0 <= taken.cpu_percent <= 100 * used / taken.seconds
    assert taken.memory_mb > 1


def test_a_block_that_raises_is_still_sampled() -> None:
    with pytest.raises(ZeroDivisionError), sampled() as taken:
        1 / 0  # noqa: B018
    assert taken.memory_mb > 1


def test_without_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(MissingExtraError, match=r"pytest-auepora\[resources\]"), sampled():
        pass
