"""The example suite, each part of it made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from example_suite.corpus import build_corpus
from example_suite.simple_rag import (
    Breakage,
    Lexicon,
    build_rag,
)
from pytest_auepora.core.scoring import Score, aggregate, score_case
from pytest_auepora.core.types import Document, SystemOutputs
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenSuite
from pytest_auepora.metrics.registry import Registry

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "example_suite" / "python_reference.golden.yaml"


@cache
def corpus() -> Sequence[Document]:
    return tuple(build_corpus())


@cache
def lexicon() -> Lexicon:
    return Lexicon(corpus())


@cache
def suite() -> GoldenSuite:
    return load_golden(GOLDEN)


@cache
def outputs(breakage: Breakage) -> dict[str, SystemOutputs]:
    """What the system, broken or not, gives for every golden case that it does not fail on."""
    rag = build_rag(breakage, list(corpus()))
    out: dict[str, SystemOutputs] = {}
    for case in suite().cases:
        try:
            out[case.id] = rag.run(case.sample, top_k=case.top_k)
        except ConnectionError:
            assert breakage is Breakage.RAISE
    return out


@cache
def means(breakage: Breakage) -> dict[str, float]:
    """Return the aggregates over the cases that gave an answer."""
    registry = Registry()
    metrics = [registry.get(name) for name in suite().metrics]
    given = outputs(breakage)
    scores: dict[str, list[Score]] = {m.name: [] for m in metrics}
    for case in suite().cases:
        if case.id in given:
            for name, score in score_case(metrics, case.sample, given[case.id]).items():
                scores[name].append(score)
    found = {m.name: aggregate(m, scores[m.name]).value for m in metrics}
    return {name: value for name, value in found.items() if value is not None}
