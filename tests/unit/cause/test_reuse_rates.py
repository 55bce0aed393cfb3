"""Reused answers decide as all answers do, given the same draws for the cases that are asked."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

from pytest_auepora.api.evaluation import Evaluation, evaluate

from .accepting import accept_system

CASES, CHANGES = 60, 100
REFERENCE = "alpha beta gamma delta omega"
PROVENANCE = {"model": "m", "prompt": "p"}


class Sampling:
    """A generator that samples: three of its five words are right, more or less; each question has draws of its own.

    ``lost`` are questions that the changed retriever finds other documents for, of ``loss`` less use.
    """

    def __init__(self, seed: str, lost: frozenset[str] = frozenset(), loss: float = 0.0) -> None:
        self.seed, self.lost, self.loss, self.asked = seed, lost, loss, dict[str, Random]()

    def retrieve(self, query: str) -> list[dict[str, str]]:
        name = "other" if query in self.lost else query.rsplit(maxsplit=1)[-1]
        return [{"id": name, "text": f"About {name}."}]

    def generate(self, query: str, documents: list[dict[str, str]]) -> str:
        rng = self.asked.setdefault(query, Random(f"{self.seed} {query}"))
        right = 0.7 - (self.loss if documents[0]["id"] == "other" else 0.0)
        return " ".join(word if rng.random() < right else "not" for word in REFERENCE.split())


def run(golden: Path, system: Sampling) -> Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return evaluate(golden, system, provenance=PROVENANCE)


@pytest.mark.slow
def test_verdicts_are_those_of_full_runs(tmp_path: Path) -> None:
    """In at least 99 of 100 changes that lose nothing or much, both are red or both are not.

    Where a loss is as large as the noise of those that did not change, their draws decide the full run alone: without
    them the loss is seen at least as often.
    """
    cases = [{"id": f"c{i}", "query": f"q {i}", "reference_answer": REFERENCE} for i in range(CASES)]
    paths = {}
    for reuse in ({}, {"reuse": "generator"}):
        paths[bool(reuse)] = path = tmp_path / str(bool(reuse)) / "s.golden.yaml"
        path.parent.mkdir()
        raw: dict[str, Any] = {"suite": "s", "metrics": ["token_f1"], "regression": reuse, "cases": cases}
        path.write_text(json.dumps(raw), encoding="utf-8")
        accept_system(path, Sampling("accepted"), times=5, provenance=PROVENANCE)
    rng, reused = Random(7), 0
    red: dict[bool, list[tuple[bool, bool]]] = {True: [], False: []}
    for change in range(CHANGES):
        is_clear = change % 5 > 0
        lost = frozenset(f"q {i}" for i in rng.sample(range(CASES), rng.choice([0, 12, 30, 48] if is_clear else [12])))
        loss = rng.choice([0.0, 0.7]) if is_clear else 0.2
        full, short = (run(paths[reuse], Sampling(f"{change}", lost, loss)) for reuse in (False, True))
        assert {i for i, case in short.run.cases.items() if case.reused} == {f"c{q[2:]}" for q in
                {f"q {i}" for i in range(CASES)} - lost}  # fmt: skip
        reused += sum(case.reused for case in short.run.cases.values())
        red[is_clear].append((full.verdict.outcome == "failed", short.verdict.outcome == "failed"))
    assert reused > CHANGES * CASES / 3
    assert sum(one != other for one, other in red[True]) <= CHANGES / 100
    assert sum(short for _, short in red[False]) > sum(full for full, _ in red[False])
