"""The vocabulary: outputs that compare by what was said, ids of documents that came without one."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import Any

import pytest

from pytest_auepora.core.types import (
    Document,
    EvaluationSample,
    MetricResult,
    Response,
    RetrievedDocument,
    SystemOutputs,
    TargetCategory,
    id_of_text,
)

DOC = {"doc_id": "a", "text": "b", "metadata": {}}
ANSWER: dict[str, Any] = {"text": "yes", "structured": None, "metadata": {}}
SAMPLE: dict[str, Any] = {
    "sample_id": "1", "query": "q", "relevant_docs": None, "candidate_docs": None, "reference_answer": None,
    "labels": {}, "metadata": {}, "chat_history": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("made", "fields"),
    [
        (Document("a", "b"), DOC),
        (RetrievedDocument(Document("a", "b"), 0.5, 1), {"doc": DOC, "score": 0.5, "rank": 1}),
        (Response("yes"), ANSWER),
        (EvaluationSample("1", "q"), SAMPLE),
        (SystemOutputs([], Response("yes")), {"retrieved": [], "response": ANSWER, "timings": {}, "extra": {}}),
        (
            MetricResult("m", TargetCategory.LATENCY, 0.5),
            {"name": "m", "target": TargetCategory.LATENCY, "value": 0.5, "details": {}},
        ),
    ],
)
def test_fields_are_those_specified_and_the_turns_before(made: Any, fields: dict[str, Any]) -> None:
    if isinstance(made, SystemOutputs):
        made.memo["kept"] = 1
    assert list(asdict(made).items()) == list(fields.items())


def test_outputs_are_equal_whatever_metrics_keep_in_them() -> None:
    def gave() -> SystemOutputs:
        return SystemOutputs([RetrievedDocument(Document("a", "text"), 0.5, 1)], Response("yes"), {"end_to_end": 0.1})

    one, other = gave(), gave()
    one.memo["tokens"] = ["text"]
    assert one == other
    assert "memo" not in repr(one)
    other.timings["end_to_end"] = 0.2
    assert one != other


def test_a_document_without_an_id_is_named_by_its_text() -> None:
    digest = hashlib.sha256("Grüße".encode()).hexdigest()
    assert id_of_text("Grüße") == f"sha:{digest[:12]}"
    assert id_of_text("Grüße") != id_of_text("Grüsse")
    assert id_of_text("\ud800").startswith("sha:"), "half a letter has an id as well"
