"""Processor time and memory around a call."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.core.telemetry import sample_resources, seconds_by_name
from pytest_auepora.errors import MissingExtraError

psutil = pytest.importorskip("psutil", reason="psutil takes the samples")


def busy(query: str) -> str:
    """Compute, hold memory and then answer."""
    held = bytearray(b"x" * (64 << 20))
    end = time.process_time() + 0.15
    while time.process_time() < end:
        sum(range(1000))
    return str(len(held))


async def busy_later(query: str) -> str:
    return busy(query)


@pytest.mark.parametrize("system", [busy, busy_later])
def test_a_suite_that_lists_them_is_sampled(tmp_path: Path, system: Any) -> None:
    golden = tmp_path / "a.golden.yaml"
    golden.write_text("metrics: [cpu_percent, memory_mb]\ncases: [{id: a, query: q}]\n", encoding="utf-8")
    before = psutil.Process().memory_info().rss / 2**20
    done = evaluate(golden, system)
    assert float(done["cpu_percent"]) > 1
    assert float(done["memory_mb"]) > before + 32


def test_a_suite_that_does_not_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    golden = tmp_path / "a.golden.yaml"
    golden.write_text("metrics: [token_f1]\ncases: [{id: a, query: q}]\n", encoding="utf-8")
    assert evaluate(golden, lambda query: "a").run.cases["a"].state == "passed"
    golden.write_text("metrics: [memory_mb]\ncases: [{id: a, query: q}]\n", encoding="utf-8")
    assert "pytest-auepora[resources]" in evaluate(golden, lambda query: "a").run.cases["a"].error


def test_an_idle_block() -> None:
    used = time.process_time()
    with sample_resources() as taken:
        time.sleep(0.1)
    used = time.process_time() - used
    assert 0 <= taken["cpu_percent"] <= 100 * used / 0.1
    assert taken["memory_mb"] > 1


def test_a_block_that_raises_is_still_sampled() -> None:
    with pytest.raises(ZeroDivisionError), sample_resources() as taken:
        1 / 0  # noqa: B018
    assert taken["memory_mb"] > 1


def test_without_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(MissingExtraError, match=r"pytest-auepora\[resources\]"), sample_resources():
        pass


def test_milliseconds_become_seconds() -> None:
    assert seconds_by_name("total_ms", 530) == {"end_to_end": 0.53}
    assert seconds_by_name("synthesis_ms", 400) == {"synthesis": 0.4, "generation": 0.4}
    assert seconds_by_name("rerank_ms", 4) == {"rerank": 0.004}
    assert seconds_by_name("retrieval", 4) == {"retrieval": 4}
