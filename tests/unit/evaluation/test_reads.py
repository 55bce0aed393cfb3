"""What a metric says it reads of an answer is all that it reads."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from pytest_auepora.core.metrics_base import AnswerPart, Metric
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.metrics.catalogue import SPELLINGS
from pytest_auepora.metrics.registry import Registry

PARTS = frozenset(get_args(AnswerPart))
LEFT_OUT = {"noise_robustness", "sliced", "bertscore", "embedding_similarity"}
"""Metrics over another metric, and those that take a model."""

ANSWER = "You may take 30 days or 45 days for a refund [1]."
SAMPLE = EvaluationSample(
    "case", "How long may I take for a refund, and what does it cost?",
    [Document("a"), Document("c", "", {"grade": 2}), Document("kb.md", "", {"match": "doc"})],
    [Document("a"), Document("b"), Document("x")],
    Response("You may take 30 days for a refund.", metadata={"alternatives": [ANSWER]}),
    {"must_contain": ["30 days"], "nuggets": ["30 days", "no cost"], "documents": [["30 days"], ["refund"]],
     "noise_docs": ["b"]},
)  # fmt: skip


def answer(kept: frozenset[str]) -> SystemOutputs:
    """Return an answer of which the *kept* parts are as ever, and the others are others."""

    def either(part: str, usual: object, other: object) -> object:
        return usual if part in kept else other

    ids = either("ranking", "baac", "")
    texts = either("documents", "A refund takes {} days and 30 cents.", "{}")
    metadata = either("document_metadata", {"document_id": "kb.md", "page": 3}, {"document_id": "kb.md"})
    hits = [
        RetrievedDocument(Document(name, str(texts).format(rank), dict(metadata)), 1 / rank, rank)  # type: ignore[call-overload]
        for rank, name in enumerate(str(ids), 1)
    ]
    text = either("answer", ANSWER, "I do not know.")
    response = Response(
        text,  # type: ignore[arg-type]
        either("structured", {"days": 30, "citations": ["a"]}, None),  # type: ignore[arg-type]
        either("metadata", {"refused": False, "citations": ["a"]}, {"refused": True}),  # type: ignore[arg-type]
    )
    timings = either("timings", {"end_to_end": 0.5}, {"end_to_end": 9.0})
    extra = either("extra", {"status": 200, "retries": 2}, {"status": 500})
    return SystemOutputs(hits, response, timings, extra)  # type: ignore[arg-type]


def scored(metric: Metric, kept: frozenset[str]) -> object:
    try:
        return metric.measure(SAMPLE, answer(kept))
    except Exception as exc:
        return type(exc)


@pytest.mark.parametrize("spelling", sorted(SPELLINGS.keys() - LEFT_OUT))
def test_a_metric_reads_no_more_than_it_says(spelling: str) -> None:
    metric = Registry().get(re.sub(r"\{\w+\}", "2", spelling))
    if metric.judged or metric.reads == PARTS:
        pytest.skip("it says that it reads everything")
    assert scored(metric, frozenset(metric.reads)) == scored(metric, PARTS)
    assert scored(metric, PARTS - metric.reads) != scored(metric, PARTS)


def test_most_metrics_say_what_they_read() -> None:
    some = ("recall@5", "ndcg@10", "mrr", "token_f1", "rougeL", "bleu", "k_precision", "assertion_pass", "mean_latency")
    assert [name for name in some if Registry().get(name).reads == PARTS] == []
