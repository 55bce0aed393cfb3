"""Timings with pytest-benchmark, to be compared between two states of the code (``--benchmark-compare``)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.metrics.registry import Registry

from . import parallel_rows, table
from .library_rows import text_pairs
from .measuring import NO_PLUGIN, ProcessError, Row, process, pytest_process
from .projects import BUSY, COMPUTING, golden, parametrized

pytest.importorskip("pytest_benchmark", reason="timed by pytest-benchmark")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["rougeL", "token_f1", "exact_match", "sentence_bleu"])
def test_scoring_texts(benchmark: Any, name: str) -> None:
    metric, pairs = Registry().get(name), text_pairs(50)
    samples = [EvaluationSample(str(i), "q", reference_answer=Response(r)) for i, (r, _) in enumerate(pairs)]
    outputs = [SystemOutputs([], Response(answer)) for _, answer in pairs]
    result = benchmark.pedantic(metric.compute, (samples, outputs), rounds=5, warmup_rounds=1)
    assert 0 <= result.value <= 100


def test_loading_golden_cases(benchmark: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = golden(Path(folder), 200) / "bench.golden.yaml"
        suite = benchmark.pedantic(load_golden, (path,), rounds=5, warmup_rounds=1)
    assert len(suite.cases) == 200


def test_pytest_xdist_alone_is_measured_with_equal_work(tmp_path: Path) -> None:
    titles = [make.__doc__ for make in parallel_rows.rows(tmp_path, quick=True)]
    assert titles[:2] == [
        "-n 2, 200 calls that compute for 20 ms",
        "of that, pytest-xdist alone: as many tests of its own",
    ]
    floor = parametrized(tmp_path / "floor", 3, body=COMPUTING)
    assert COMPUTING in BUSY
    assert COMPUTING in (floor / "test_floor.py").read_text(encoding="utf-8")
    pytest_process(floor, *NO_PLUGIN)


def test_memory_is_that_of_the_measured_process_alone(tmp_path: Path) -> None:
    ours = bytearray(200 * 2**20)
    ours[:: 2**12] = bytes(len(ours[:: 2**12]))  # every page of it is there
    assert 1 < process(tmp_path, "-c", "pass").memory < 100
    assert process(tmp_path, "-c", "bytearray(150 * 2**20)").memory > 150
    del ours


def test_a_process_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="ended with 3"):
        process(tmp_path, "-c", "raise SystemExit(3)")


def test_a_word_in_no_title_is_told_with_the_titles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def make() -> Row:
        """idle: nothing"""
        raise AssertionError("it was not asked for")

    monkeypatch.setattr(table, "rows", lambda *_, **__: iter([make]))
    assert table.main(["--only", "ilde", "ruoge"]) == 2
    assert capsys.readouterr().err == "no row has 'ilde' or 'ruoge' in its title; there are:\n  idle: nothing\n"
    with pytest.raises(SystemExit):
        table.main(["--repeat", "0"])
