"""Real systems that are broken are seen as often as `mutate` says they are.

What `mutate` says holds over baselines, since it does not know how lucky the accepted answers of one are: so few runs
each are made of many baselines.  With ``MUTATE_RATES`` in the environment these are 480 runs for each rate, which takes
some minutes; else one of the rates over 40 runs, which finds what is wrong by a quarter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.cause.mutants import Kind

from .accepting import accept_system
from .sampling_rag import DATA, Questions, SamplingRag
from .test_mutate import found

BASELINES, RUNS, TOLERANCE = (24, 20, 0.05) if "MUTATE_RATES" in os.environ else (2, 20, 0.25)
WAYS: list[tuple[str, Kind, float]] = [
    ("index", "stale index", 0.05), ("refused", "refusals", 0.05), ("cached", "another case's answer", 0.1),
]  # fmt: skip
"""How the system is broken, as which change, in how many of 60 cases."""


def really_broken(questions: Questions, rows: list[Mapping[str, Any]], way: str, count: int, seed: str,
                  ) -> Iterator[SamplingRag]:  # fmt: skip
    """Yield systems broken for so many of the questions, each for others until all had their turn."""
    rng, deck, n = Random(seed), list[Mapping[str, Any]](), 0
    while True:
        deck = deck if len(deck) >= count else rng.sample(rows, len(rows))
        broken, deck, n = deck[:count], deck[count:], n + 1
        others = {row["input"]: rng.choice([o["input"] for o in rows if o is not row]) for row in broken}
        yield SamplingRag(questions, f"{seed} {n}", {way: others})


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not here")
@pytest.mark.parametrize(("way", "kind", "share"), WAYS if "MUTATE_RATES" in os.environ else WAYS[:1])
def test_real_broken_systems_are_seen_as_often(tmp_path: Path, way: str, kind: Kind, share: float) -> None:
    """n = 60."""
    questions, told, real = Questions(DATA), 0, 0
    for b in range(BASELINES):
        rows = Random(b).sample(questions.rows, 60)
        path = tmp_path / f"{b}" / "questions.golden.yaml"
        path.parent.mkdir()
        path.write_text(questions.golden(rows, ["recall@5", "token_f1"]), encoding="utf-8")
        accepted = accept_system(path, SamplingRag(questions, f"accepted {b}"), times=5)
        told += found(accepted, kinds=[kind], shares=[share], runs=RUNS).detections[1].seen
        systems = really_broken(questions, rows, way, round(share * 60), f"{way} {b}")
        real += sum(
            evaluate(path, system).verdict.outcome == "failed" for system, _ in zip(systems, range(RUNS), strict=False)
        )
    assert told / (BASELINES * RUNS) == pytest.approx(real / (BASELINES * RUNS), abs=TOLERANCE)
