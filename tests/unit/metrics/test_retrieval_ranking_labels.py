"""Reciprocal rank and nDCG of cases whose chunks people labelled."""

from __future__ import annotations

from dataclasses import replace
from math import log2

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.annotation.labelled import LabelMRRAtK, NDCGLabelledAtK
from pytest_auepora.metrics.retrieval_basic import RecallAtK
from pytest_auepora.metrics.retrieval_ranking import MRRAtK, NDCGAtK

from .samples import case, got, reason, value

LABELLED = case(chunk_labels=[
    {"id": "a", "topically_relevant": 1, "evidence_sufficient": 0},
    {"id": "b", "topically_relevant": 1, "evidence_sufficient": 1},
    {"id": "c", "topically_relevant": 0, "evidence_sufficient": 0},
    {"id": "m", "misleading": 1},
])  # fmt: skip


def test_chunk_labels_stand_for_documents_that_nobody_named() -> None:
    outputs = got("c", "a", "b", "x")
    assert value(MRRAtK(3), LABELLED, outputs) == 1 / 2
    assert value(MRRAtK(1), LABELLED, outputs) == 0
    gained, ideal = 1 / log2(3) + 3 / log2(4), 3 / log2(2) + 1 / log2(3)
    assert value(NDCGAtK(3), LABELLED, outputs) == pytest.approx(gained / ideal)
    assert value(NDCGAtK(3), LABELLED, got("b", "a")) == 1
    assert value(NDCGAtK(3, "linear"), LABELLED, got("a", "b")) == pytest.approx((1 + 2 / log2(3)) / (2 + 1 / log2(3)))
    for k in (1, 2, 3):
        assert value(MRRAtK(k), LABELLED, outputs) == value(LabelMRRAtK(k), LABELLED, outputs)
        assert value(NDCGAtK(k), LABELLED, outputs) == value(NDCGLabelledAtK(k), LABELLED, outputs)


def test_passages_are_found_by_quote_and_document() -> None:
    places = [{"doc": "r.md", "quote": "30 days", "evidence_sufficient": 1}, {"doc": "t.md", "topically_relevant": 1}]
    sample, outputs = case(chunk_labels=places), got("x", "y")
    outputs.retrieved[1].doc = Document("y", "Within 30 days.", {"source": "r.md"})
    assert value(MRRAtK(2), sample, outputs) == 1 / 2


def test_documents_that_the_case_names_go_before_its_chunk() -> None:
    sample = replace(LABELLED, relevant_docs=[Document("x")])
    assert value(MRRAtK(4), sample, got("a", "x")) == 1 / 2
    assert reason(RecallAtK(4), LABELLED, got("a")) == "no relevant_docs"
    nothing = case(chunk_labels=[{"id": "a", "topically_relevant": 0}])
    assert "nothing relevant" in reason(MRRAtK(4), nothing, got("a"))
    with pytest.raises(MetricError, match="no label 'topical'"):
        MRRAtK(4).measure(case(chunk_labels=[{"id": "a", "topical": 1}]), got("a"))
