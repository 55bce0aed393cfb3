"""Systems, metrics and tasks at the top level of a module, so that other processes find them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from pytest_auepora.core.dataset import EvaluationDataset
from pytest_auepora.core.metrics_base import Metric
from pytest_auepora.core.plan import EvaluationPlan
from pytest_auepora.core.types import (
    Document,
    EvaluationSample,
    MetricResult,
    Response,
    RetrievedDocument,
    SystemOutputs,
    TargetCategory,
)
from pytest_auepora.metrics.registry import Registry

NAMES = ("recall@2", "precision@5", "ndcg@5", "exact_match", "token_f1", "bleu", "p95_latency", "distinct_2")


def sample(n: int) -> EvaluationSample:
    gold = None if n % 11 == 0 else [Document(f"d{n % 5}"), Document("d9")]
    return EvaluationSample(f"s{n}", f"what is {n}?", gold, reference_answer=Response(f"it is {n} of {n // 2} years"))


class Made(EvaluationDataset):
    """A data set that is made while it is gone through, and counts how much of it was taken."""

    name = "made"

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken = 0

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[EvaluationSample]:
        for n in range(self.size):
            self.taken += 1
            yield sample(n)


@dataclass
class Answers:
    """Answers that depend on the sample alone.  The process dies at ``dies_at``, once if ``mark`` is a path."""

    dies_at: str = ""
    mark: str = ""

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        if sample.sample_id == self.dies_at and not (self.mark and Path(self.mark).exists()):
            if self.mark:
                Path(self.mark).touch()
            os._exit(9)
        n = int(sample.sample_id[1:])
        docs = [
            RetrievedDocument(Document(f"d{(n + i * n) % 7}{'x' * (i % 3)}"), 1 / (1 + i), i + 1) for i in range(top_k)
        ]
        return SystemOutputs(docs, Response(f"it is {n} of {n // 3} days"), {"end_to_end": (n % 13) / 10})


class Lengths(Metric):
    """Brings only ``compute``, over everything at once: the longest answer."""

    name = "longest"
    target = TargetCategory.GENERATION_RELEVANCE

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        value = float(max((len(o.response.text) for o in outputs), default=0))
        return MetricResult(self.name, self.target, value, {"num_samples": len(samples)})


def plan(*more: Metric) -> EvaluationPlan:
    registry = Registry()
    return EvaluationPlan([*(registry.get(name) for name in NAMES), *more])


@dataclass
class Doubles:
    """A task on numbers; its process dies over a batch with one of ``deadly``, once if ``mark`` is a path."""

    deadly: frozenset[int] = frozenset()
    mark: str = ""

    def __call__(self, batch: Sequence[int]) -> list[int]:
        if self.deadly & set(batch) and not (self.mark and Path(self.mark).exists()):
            if self.mark:
                Path(self.mark).touch()
            os._exit(9)
        if -1 in batch:
            raise ValueError("no negative numbers")
        return [2 * n for n in batch]


@dataclass
class Notes(Doubles):
    """Leaves a file in the folder ``mark`` for every batch."""

    def __call__(self, batch: Sequence[int]) -> list[int]:
        Path(self.mark, uuid4().hex).touch()
        return super().__call__(batch)
