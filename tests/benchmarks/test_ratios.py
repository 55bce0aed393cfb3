"""Speed that must not be lost: generous bounds on ratios that a busy machine leaves alone, a few seconds in all."""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from pathlib import Path
from pstats import Stats
from random import Random
from statistics import median
from typing import Any

import pytest
import yaml

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.io.source import Source
from pytest_auepora.io.yaml.nodes import load_yaml
from pytest_auepora.metrics.registry import Registry

from .golden_loading import golden_text
from .library_rows import opening, scoring, text_pairs
from .measuring import timed

pytestmark = pytest.mark.slow


def faster(ours: Callable[[], float], theirs: Callable[[], float], rounds: int = 3) -> float:
    """Return how many times faster ours is, measured in turns."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return median(b for _, b in pairs) / median(a for a, _ in pairs)


def test_rouge_is_at_least_three_times_as_fast_as_rouge_score() -> None:
    reason = "the peer of ROUGE is rouge-score"
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason=reason).RougeScorer(
        ["rouge1", "rouge2", "rougeL"], use_stemmer=True
    )
    pairs = text_pairs(60)
    ours = scoring(("rouge1", "rouge2", "rougeL"), pairs)
    assert faster(ours, lambda: timed(lambda: [scorer.score(*pair) for pair in pairs])) >= 3


def test_six_retrieval_metrics_cost_little_more_than_one() -> None:
    """One pass over a ranking serves them all: six may cost four times as much as one, not six times."""
    from pytest_auepora.core.types import Document, Response, RetrievedDocument, SystemOutputs

    from .library_rows import RETRIEVAL, rankings

    samples, ranked = rankings(400)
    outputs = [
        SystemOutputs([RetrievedDocument(Document(i), s, k) for k, (i, s) in enumerate(r, 1)], Response(""))
        for r in ranked
    ]
    metrics = [Registry().get(name) for name in RETRIEVAL]

    def cost(n: int) -> float:
        for one in outputs:
            one.memo.clear()
        return timed(lambda: [metric.compute(samples, outputs) for metric in metrics[:n]])

    assert 1 / faster(lambda: cost(6), lambda: cost(1), rounds=5) <= 4.5


def test_a_plain_case_pays_nothing_for_turns_leaks_and_usage(tmp_path: Path) -> None:
    """Of the functions that it calls, one in a hundred at most looks whether there is any of these."""
    golden = tmp_path / "plain.golden.yaml"
    case = "  - {{id: c{0}, query: number {0}?, relevant_docs: [d1, d7], reference_answer: Within 30 days.}}\n"
    golden.write_text("metrics: [recall@5, mrr@5, token_f1]\ncases:\n" + "".join(map(case.format, range(100))))
    profile = Profile()
    profile.runcall(evaluate, golden, _answer)
    calls: dict[tuple[str, int, str], Any] = vars(Stats(profile))["stats"]
    theirs = sum(counted[0] for (path, *_), counted in calls.items() if Path(path).stem in _FOR_OTHERS)
    assert 0 < theirs <= sum(counted[0] for counted in calls.values()) / 100


_FOR_OTHERS = ("conversation", "leaks", "model_calls", "reported_usage", "streams", "system_usage", "turns")
"""Modules of what a plain case has not."""


def _answer(_query: str, top_k: int) -> tuple[str, list[str]]:
    return "Within 30 days of purchase.", [f"d{i}" for i in range(top_k)]


def test_the_verdict_on_an_unchanged_run_is_cheap() -> None:
    from pytest_auepora.regression.statistics.family import Member, judge_family

    same = [Member(f"m{m}", {f"c{i}": 0.0 for i in range(500)}) for m in range(20)]
    moved = [Member(f"m{m}", {f"c{i}": (-0.1, 0.1)[i % 2] for i in range(500)}) for m in range(20)]
    assert faster(lambda: timed(lambda: judge_family(same, {})), lambda: timed(lambda: judge_family(moved, {}))) >= 2


def test_the_verdict_costs_a_twentieth_of_single_sign_flips() -> None:
    from pytest_auepora.regression.statistics.family import Member, judge_family

    rng = Random(0)
    gains = [[rng.choice([-1.0, 0.0, 0.0, 0.25, 1.0]) for _ in range(500)] for _ in range(20)]
    metrics = [Member(f"m{m}", {f"c{i}": gain for i, gain in enumerate(gains[m])}) for m in range(20)]

    def one_by_one() -> None:
        for _ in range(100):
            signs = [rng.choice((-1.0, 1.0)) for _ in range(500)]
            min(sum(sign * gain for sign, gain in zip(signs, column, strict=True)) for column in gains)

    drawn = 10_000  # what the verdict draws, near enough
    ratio = faster(lambda: timed(lambda: judge_family(metrics, {})), lambda: timed(one_by_one))
    assert ratio * drawn / 100 >= 20


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")
def test_golden_files_are_read_faster_than_by_pyyaml() -> None:
    source = Source("x", golden_text(500))
    load_yaml(source)  # imports
    ours, pyyaml = (
        lambda: timed(lambda: load_yaml(source)),
        lambda: timed(lambda: yaml.load(source.text, yaml.CSafeLoader)),
    )
    assert 1 / faster(ours, pyyaml, rounds=9) < 0.9


def test_a_stored_run_opens_for_little_more_than_its_json() -> None:
    row = opening(500)
    row.ours()
    assert 1 / faster(row.ours, row.other) <= 4.5, "rows, texts and the run before are read when they are shown"
