"""What reports show of an answer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from pytest_auepora.evaluation.answer_summary import shown_outputs


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
