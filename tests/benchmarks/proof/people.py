"""Metrics beside people: which of two answers to a question do both prefer?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.metrics.registry import Registry

__all__ = ["agreement", "table"]

ASPECTS = ("correctness", "completeness", "overall")
METRICS = ("token_f1", "rouge1", "rougeL", "chrf", "answer_recall", "sentence_bleu")
PUBLISHED = {"RAGChecker, a judge of 70 B, as published": (50, 61, 62)}


def agreement(data: Path) -> dict[str, list[float]]:
    """Return the correlation (Pearson, times 100) with people's labels by aspect: of people, and of each metric.

    A metric's preference is what the second answer scores more than the first.  People's labels are -2 to 2 for the
    second; two people labelled each pair, and each label counts.
    """
    rows: list[dict[str, Any]] = json.loads(
        (data / "ragchecker-human" / "human_labeled_data.json").read_text(encoding="utf-8")
    )
    labels = np.array([[row[f"{aspect}_label"] for aspect in ASPECTS] for row in rows], float)
    of_pair: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        of_pair.setdefault(row["instance_id"], []).append(at)
    first, second = (labels[[at[i] for at in of_pair.values()]] for i in (0, 1))
    found = {"people with each other": _correlations(first, second)}
    for name in METRICS:
        found[f"`{name}`"] = _correlations(_preferences(name, rows), labels)
    return found


def _correlations(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> list[float]:
    columns = one.T if one.ndim == 2 else [one] * len(ASPECTS)
    return [100 * float(np.corrcoef(x, y)[0, 1]) for x, y in zip(columns, other.T, strict=True)]


def _preferences(name: str, rows: list[dict[str, Any]]) -> np.ndarray[Any, Any]:
    metric = Registry().get(name)

    def score(row: dict[str, Any], which: str) -> float:
        sample = EvaluationSample("", row["query"], reference_answer=Response(row["gt_answer"]))
        seen = metric.measure(sample, SystemOutputs([], Response(row[which]["response"])))
        assert isinstance(seen, Measurement), (name, seen)
        assert seen.value is not None
        return seen.value

    return np.array([score(row, "model2") - score(row, "model1") for row in rows])


def table(data: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| preference | {' | '.join(ASPECTS)} | calls of a model |"
    yield f"|---|{'--:|' * len(ASPECTS)}--:|"
    found = agreement(data)
    people = found.pop("people with each other")
    yield f"| people with each other | {' | '.join(f'{x:.0f}' for x in people)} | |"
    for name, numbers in PUBLISHED.items():
        yield f"| {name} | {' | '.join(map(str, numbers))} | many |"
    for name, values in found.items():
        yield f"| {name} | {' | '.join(f'{x:.0f}' for x in values)} | 0 |"
