"""Processor time and memory around a call."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from pytest_auepora.core.telemetry import WithResources, sampled, with_orchestration
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MissingExtraError
from pytest_auepora.metrics.additional import MeanLatency
from pytest_auepora.metrics.operational import CpuPercent, MemoryMb, Retries
from pytest_auepora.metrics.privacy import SecureFieldBypass

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


OUTPUTS = SystemOutputs([], Response("a"), {"end_to_end": 9.0, "own": 1.0}, {"note": "kept"})
RECORD = {
    "request_id": "r-1",
    "adapter": "web",
    "surface": "chat",
    "timings": {"parse_ms": 5, "retrieval_ms": 120, "synthesis_ms": 400.5, "total_ms": 530, "rerank_ms": 4, "n": 3},
    "retry": {"attempts": 2, "last_reason": "429"},
    "privacy": {"mode": "bypass", "redacted": 0, "blocked": False},
    "unknown": 1,
}


def test_every_field() -> None:
    made = with_orchestration(OUTPUTS, RECORD)
    assert made.timings == {
        "end_to_end": 0.53, "own": 1.0, "parse": 0.005, "retrieval": 0.12, "synthesis": 0.4005,
        "generation": 0.4005, "rerank": 0.004,
    }  # fmt: skip
    assert made.extra == {
        "note": "kept", "request_id": "r-1", "adapter": "web", "surface": "chat",
        "retry": RECORD["retry"], "privacy": RECORD["privacy"],
    }  # fmt: skip
    assert OUTPUTS.timings == {"end_to_end": 9.0, "own": 1.0}
    assert made.memo == {}


def test_metrics_read_it() -> None:
    made = with_orchestration(OUTPUTS, RECORD)
    sample = EvaluationSample("s", "q", labels={"secure_field": True})
    values = [m.compute([sample], [made]).value for m in (MeanLatency(), Retries(), SecureFieldBypass())]
    assert values == [0.53, 1.0, 1.0]


@pytest.mark.parametrize("record", [{}, {"timings": None}, {"timings": {"total_ms": None}, "retry": None}])
def test_what_is_missing_changes_nothing(record: dict[str, Any]) -> None:
    assert with_orchestration(OUTPUTS, record) == OUTPUTS


@pytest.mark.parametrize("timings", [[1], {"total_ms": "fast"}, {"total_ms": True}])
def test_timings_that_are_none(timings: Any) -> None:
    with pytest.raises(TypeError, match="timings"):
        with_orchestration(OUTPUTS, {"timings": timings})
