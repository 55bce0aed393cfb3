"""Traces written by the real instrumentation of each framework, read back without loss."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from pytest_auepora.drafting.spans import read_spans
from pytest_auepora.drafting.traces import calls_of
from tests.unit.drafting.trace_files import check_spoken

from .chats import INSTRUMENTORS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "framework", [framework for framework, instrumentation in INSTRUMENTORS if instrumentation == "openinference"]
)
def test_traces_of_a_conversation_are_read_back(framework: str, tmp_path: Path) -> None:
    pytest.importorskip(framework.replace("langchain", "langchain_core").replace("llamaindex", "llama_index"))
    instrumentation = INSTRUMENTORS[framework, "openinference"].partition(":")[0]
    if find_spec("openinference") is None or find_spec(instrumentation) is None:
        pytest.skip(f"{instrumentation} is not installed")
    command = [
        sys.executable,
        "-m",
        "tests.adapters.traced.chats",
        framework,
        "openinference",
    ]  # it changes the framework
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    spans = tmp_path / "spans.jsonl"
    spans.write_text(done.stdout, encoding="utf-8")
    check_spoken(calls_of(read_spans(spans)))
