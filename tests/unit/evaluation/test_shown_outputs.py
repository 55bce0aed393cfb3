"""What is kept of an answer to be shown."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.evaluation.shown_outputs import shown_outputs, shows_refusal


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.5, 0.5), (2, 2.0), (Fraction(1, 4), 0.25), (math.nan, None), (math.inf, None), (-math.inf, None), ("", None)],
)
def test_a_score_is_shown_as_a_finite_float_or_not_at_all(score: Any, shown: float | None) -> None:
    outputs = SystemOutputs([RetrievedDocument(Document("d"), score, 1)], Response("yes"))
    (hit,) = shown_outputs(EvaluationSample("1", "q"), outputs)["retrieved"]
    assert hit["score"] == shown
    assert type(hit["score"]) is type(shown)


@pytest.mark.parametrize("size", [200, 201])
def test_only_irrelevant_texts_are_cut_short(size: int) -> None:
    docs = [RetrievedDocument(Document(name, "x" * size), 1.0, 1) for name in ("good", "bad")]
    sample = EvaluationSample("1", "q", [Document("good")])
    good, bad = shown_outputs(sample, SystemOutputs(docs, Response("yes")))["retrieved"]
    assert good["text"] == "x" * size
    assert bad["text"] == ("x" * 200 if size == 200 else "x" * 199 + "…")


@pytest.mark.parametrize(("shown", "refuses"), [
    ({"answer": "I do not know."}, True), ({"answer": "Within 30 days."}, False), ({"answer": ""}, False), ({}, False),
    ({"answer": "Within 30 days.", "refused": True}, True), ({"answer": "I do not know.", "refused": False}, False),
])  # fmt: skip
def test_a_shown_answer_may_be_a_refusal(shown: dict[str, object], *, refuses: bool) -> None:
    assert shows_refusal(shown) is refuses
