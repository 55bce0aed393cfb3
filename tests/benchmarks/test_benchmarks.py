"""Timings with pytest-benchmark, to be compared between two states of the code (``--benchmark-compare``)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.io.golden import load_golden
from pytest_auepora.metrics.porter import porter_stem
from pytest_auepora.metrics.registry import Registry

from .library_rows import text_pairs
from .measuring import ProcessError, process
from .projects import golden

pytest.importorskip("pytest_benchmark", reason="timed by pytest-benchmark")


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


def test_stemming(benchmark: Any) -> None:
    words = sorted({word for pair in text_pairs(20) for text in pair for word in text.split()})
    stems = benchmark.pedantic(lambda: list(map(porter_stem, words)), rounds=5, warmup_rounds=1)
    assert len(stems) == len(words)


def test_the_memory_of_a_process_is_not_that_of_the_one_which_measures_it(tmp_path: Path) -> None:
    ours = bytearray(200 * 2**20)
    ours[:: 2**12] = bytes(len(ours[:: 2**12]))  # every page of it is there
    assert 1 < process(tmp_path, "-c", "pass").memory < 100
    assert process(tmp_path, "-c", "bytearray(150 * 2**20)").memory > 150
    del ours


def test_a_process_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="ended with 3"):
        process(tmp_path, "-c", "raise SystemExit(3)")
