"""A golden file of as many cases as are wanted, and answers to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenSuite
from pytest_auepora.metrics.registry import Registry

METRICS = ["recall@5", "ndcg@10", "token_f1", "bleu", "distinct_2"]


def golden(
    folder: Path,
    size: int,
    *more: str,
    registry: Registry | None = None,
    metrics: Sequence[str] = METRICS,
    changed: bool | None = None,
) -> GoldenSuite:
    head: dict[str, Any] = {"suite": "big", "metrics": [*metrics, *more]}
    if "token_f1" in metrics:
        head["case_thresholds"] = {"token_f1": ">= 0.2"}
    cases: list[dict[str, Any]] = [
        {
            "id": f"c{n}",
            "query": f"what is {n}?",
            "relevant_docs": [f"d{n % 7}"],
            "reference_answer": f"it is {n} or so",
        }
        for n in range(size)
    ]
    if size > 3:
        cases[3]["skip"] = "not now"
    if changed is not None:
        head["regression"] = {"slices": ["level"], "metrics": {"p95_latency": {"policy": "auto"}}}
        for n, case in enumerate(cases):
            case["labels"] = {"level": "high" if n % 3 else "low"}
            case.update({"cluster": f"k{n % 20}"} if n > 20 else {})
    if changed:
        cases[10]["query"], cases[11]["id"] = "what else?", "renamed"
    path = folder / "big.golden.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in [head, *cases]), encoding="utf-8")
    return load_golden(path, registry)


def answers(size: int, length: int = 10) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "id": f"c{n}",
            "answer": "nothing at all" if n % 10 == 5 else f"it is {n} " + "or more " * (length // 8),
            "documents": [
                {"id": f"d{(n + i) % 11}", "text": "words " * (length // 6), "score": 1 / (i + 1)} for i in range(4)
            ],
            "timings": {"end_to_end": n % 9 / 10},
        }
        for n in range(size)
    ]
    rows[2] = {"id": "c2", "error": "TimeoutError: 30 s"}
    return rows


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def with_metric(metric: Metric) -> Registry:
    registry = Registry()
    registry.add(metric.name, metric)
    return registry
