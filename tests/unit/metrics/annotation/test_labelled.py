"""Metrics over labels of chunks: definitions on small lists, and when they do not apply."""

from __future__ import annotations

from math import log2
from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement, interval_of
from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.annotation.labelled import (
    LabelMRRAtK,
    MisleadingRateAtK,
    NDCGLabelledAtK,
    SufficiencyHitAtK,
    SufficiencyRateAtK,
    TopicalPrecisionAtK,
)

from ..samples import SAMPLE, case, gave, got, is_na, reason, value


def test_rates_by_hand() -> None:
    outputs = got("c", "a", "x", "b")
    assert value(TopicalPrecisionAtK(4), SAMPLE, outputs) == 2 / 4
    assert value(TopicalPrecisionAtK(2), SAMPLE, outputs) == 1 / 2
    assert value(TopicalPrecisionAtK(8), SAMPLE, outputs) == 2 / 8
    assert value(SufficiencyHitAtK(3), SAMPLE, outputs) == 0
    assert value(SufficiencyHitAtK(4), SAMPLE, outputs) == 1
    assert value(SufficiencyRateAtK(4), SAMPLE, outputs) == 1 / 4
    assert value(MisleadingRateAtK(4), SAMPLE, outputs) == 1 / 4
    assert value(LabelMRRAtK(4), SAMPLE, outputs) == 1 / 2
    assert value(LabelMRRAtK(1), SAMPLE, outputs) == 0
    assert MisleadingRateAtK.direction == "lower"


def test_the_aggregate_says_how_much_was_labelled() -> None:
    metric = TopicalPrecisionAtK(4)
    result = metric.compute([SAMPLE, SAMPLE], [got("x", "y", "a", "z"), got("a", "b")])
    assert result.value == (1 / 4 + 2 / 4) / 2
    assert result.details["judged@4"] == (1 / 4 + 1) / 2
    assert "judged@4" not in metric.compute([], []).details
    assert interval_of(metric) == "", "it is a mean, and tested as one"


def test_ndcg_by_hand() -> None:
    outputs = got("a", "c", "b", "x")
    dcg = 1 / log2(2) + 3 / log2(4)
    of_all = 3 / log2(2) + 3 / log2(3) + 1 / log2(4)
    of_retrieved = 3 / log2(2) + 1 / log2(3)
    assert value(NDCGLabelledAtK(4), SAMPLE, outputs) == pytest.approx(dcg / of_all)
    assert value(NDCGLabelledAtK(4, ideal="retrieved"), SAMPLE, outputs) == pytest.approx(dcg / of_retrieved)
    assert value(NDCGLabelledAtK(4), SAMPLE, got("b", "d", "a")) == pytest.approx(1)
    nothing = case(chunk_labels=[{"id": "a", "topically_relevant": False}])
    assert is_na(NDCGLabelledAtK(4), nothing, got("a"))


def test_unlabelled_chunks_are_irrelevant_or_skipped() -> None:
    outputs = got("x", "y", "a", "z", "b")
    seen = TopicalPrecisionAtK(4).measure(SAMPLE, outputs)
    assert seen == Measurement(1 / 4, details={"judged@4": 1 / 4})
    assert value(TopicalPrecisionAtK(4, unjudged="skip"), SAMPLE, outputs) == 1
    assert value(LabelMRRAtK(4, unjudged="skip"), SAMPLE, outputs) == 1
    assert value(TopicalPrecisionAtK(4), SAMPLE, got("x", "y")) == 0
    assert "labelled" in reason(TopicalPrecisionAtK(4, unjudged="skip"), SAMPLE, got("x", "y"))
    assert is_na(MisleadingRateAtK(2), SAMPLE, got("x", "y", "c"))


def test_a_repeated_chunk_counts_once_unless_it_misleads() -> None:
    assert value(TopicalPrecisionAtK(2), SAMPLE, got("a", "a")) == 1 / 2
    assert value(SufficiencyRateAtK(2), SAMPLE, got("b", "b")) == 1 / 2
    assert value(NDCGLabelledAtK(4), SAMPLE, got("b", "b", "b", "b")) < 1
    assert value(MisleadingRateAtK(2), SAMPLE, got("c", "c")) == 1


def test_quotes_spans_and_whole_documents() -> None:
    sample = case(
        chunk_labels=[
            {"doc": "manual", "quote": "within  30 days", "topically_relevant": True},
            {"doc": "manual", "span": [100, 200], "evidence_sufficient": True},
            {"doc": "old", "misleading": True},
        ]
    )
    outputs = gave(
        "x",
        Document("m-1", "Refunds: within 30\ndays.", {"document_id": "manual", "start": 0, "end": 90}),
        Document("m-2", "…", {"document_id": "manual", "start": 150, "end": 260}),
        Document("o-7", "anything", {"document_id": "old"}),
    )
    assert value(TopicalPrecisionAtK(3), sample, outputs) == 1 / 3
    assert value(SufficiencyHitAtK(2), sample, outputs) == 1
    assert value(SufficiencyHitAtK(1), sample, outputs) == 0
    assert value(MisleadingRateAtK(3), sample, outputs) == 1 / 3


def test_a_quote_found_in_two_chunks_never_exceeds_one() -> None:
    sample = case(chunk_labels=[{"doc": "m", "quote": "same words", "evidence_sufficient": True}])
    chunks = [Document(f"m-{i}", "the same words", {"document_id": "m"}) for i in range(3)]
    assert value(NDCGLabelledAtK(3), sample, gave("x", *chunks)) <= 1


def test_graded_relevant_docs_speak_where_there_are_no_labels() -> None:
    graded = case(relevant=[Document("a", metadata={"grade": 1}), Document("b", metadata={"grade": 2}), Document("c")])
    assert value(TopicalPrecisionAtK(3), graded, got("a", "b", "c")) == 1
    assert value(SufficiencyRateAtK(3), graded, got("a", "b", "c")) == 1 / 3
    plain = case(relevant=["a"])
    assert is_na(SufficiencyHitAtK(3), plain, got("a"))
    plain.candidate_docs = [Document("z")]
    assert value(TopicalPrecisionAtK(2), plain, got("z", "a")) == 1 / 2


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([{"id": "a", "relevant": True}], "no label 'relevant'"),
        ([{"id": "a", "topicaly_relevant": True}], "did you mean 'topically_relevant'"),
        ([{"id": "a", "misleading": "yes"}], "must be true or false, got 'yes'"),
        ([{"id": "a", "misleading": 0.5}], "must be true or false"),
        ([{"id": "a", "misleading": 2}], "must be true or false"),
        ([{"misleading": True}], "say which chunk"),
        ([{"id": "a", "doc": "b", "misleading": True}], "say which chunk"),
        ([{"id": "a", "quote": "b", "misleading": True}], "say which chunk"),
        ([{"doc": "a", "span": 3, "misleading": True}], "a span is"),
        ([{"doc": "a", "span": [3, 3], "misleading": True}], "start < end"),
        ([{"doc": "a", "quote": " ", "misleading": True}], "quote"),
    ],
)
def test_labels_that_cannot_be_read(labels: Any, message: str) -> None:
    with pytest.raises(MetricError, match=message):
        MisleadingRateAtK(3).measure(case(chunk_labels=labels), got("a"))
