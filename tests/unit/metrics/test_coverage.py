"""What of passages, entities and documents the context and the citations cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import Document, EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.coverage import (
    CitationCoverage,
    CoverageEntities,
    SpanIoU,
    SpanPrecision,
    SpanRecall,
    note_known_citations,
)

from .rankings import doc, got, score, wants
from .samples import REFUSAL, is_na, reason

CONTEXT = got(doc("a", "The United States and Zoë agreed."), doc("b", "In 東京 they met.", entities=["Japan"]))


def about(*entities: Any) -> EvaluationSample:
    return EvaluationSample("s", "q", labels={"entities": list(entities)})


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        (["United States"], 1.0),
        (["united states", "Zoe\u0308", "東京", "Japan"], 1.0),
        (["States of America"], 0.0),
        (["State"], 0.0),
        (["USA|United States"], 1.0),
        ([["USA", "United States"], "Canada"], 1 / 2),
        ([{"name": "USA", "aliases": ["United States"]}], 1.0),
        ([{"name": "USA", "aliases": "United States"}], 1.0),
        ([{"name": "Canada"}], 0.0),
    ],
)
def test_entities(entities: list[Any], expected: float) -> None:
    assert score(CoverageEntities(), about(*entities), CONTEXT) == expected


def test_missing_entities_are_named() -> None:
    seen = CoverageEntities().measure(about("Canada|CA", "Japan"), CONTEXT)
    assert seen == Measurement(0.5, details={"missing": ["Canada"]})


def test_a_cut_and_an_empty_context() -> None:
    assert score(CoverageEntities(1), about("Japan"), CONTEXT) == 0.0
    assert score(CoverageEntities(2), about("Japan"), CONTEXT) == 1.0
    assert score(CoverageEntities(), about("Japan"), got()) == 0.0


def test_no_entities() -> None:
    assert reason(CoverageEntities(), wants("a"), CONTEXT) == "no entities"
    assert reason(CoverageEntities(), about(), CONTEXT) == "no entities"


@pytest.mark.parametrize(
    "entities", [[7], [[]], [""], [{"aliases": ["x"]}], [["x", 7]], [{"name": "x", "aliases": [7]}]]
)
def test_an_entity_that_cannot_be_read(entities: list[Any]) -> None:
    with pytest.raises(MetricError, match=r"labels\['entities'\]"):
        CoverageEntities().measure(about(*entities), CONTEXT)


def test_a_label_that_is_no_list() -> None:
    with pytest.raises(MetricError, match=r"labels\['entities'\] must be a list, got int"):
        CoverageEntities().measure(EvaluationSample("s", "q", labels={"entities": 3}), CONTEXT)


def answered(text: str = "It is so.", structured: dict[str, Any] | None = None, **metadata: Any) -> SystemOutputs:
    chunks = [doc("c1", "…", document_id="A"), doc("c2", "…")]
    return SystemOutputs(got(*chunks).retrieved, Response(text, structured, metadata))


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        (answered(citations=["c1"]), 1.0),
        (answered(citations=["c1", "A"]), 1.0),
        (answered(citations=["c1", "nowhere"]), 0.0),
        (answered(citations=["gold"]), 1.0),
        (answered(citations=[]), 0.0),
        (answered(), 0.0),
        (answered(citations="c2"), 1.0),
        (answered(citations=[{"doc_id": "c2", "quote": "…"}]), 1.0),
        (answered(citations=[{"path": "B"}]), 0.0),
        (answered(citations=[{"note": "?"}]), 0.0),
        (answered(citations=[""]), 0.0),
        (answered(citations=[1, 2]), 1.0),
        (answered(citations=[0]), 0.0),
        (answered(citations=[3]), 0.0),
        (answered(structured={"citations": ["c1"]}), 1.0),
        (answered("So [1], and so [1, 2]."), 1.0),
        (answered("So [3]."), 0.0),
        (answered("So [1].", citations=[]), 0.0),
    ],
)
def test_citations(outputs: SystemOutputs, expected: float) -> None:
    assert score(CitationCoverage(), wants("gold"), outputs) == expected


def test_in_which_documents_citations_resolve() -> None:
    outputs = answered(citations=["gold", "c1"])
    strict = CitationCoverage(resolve_in="retrieved")
    assert strict.measure(wants("gold"), outputs) == Measurement(0.0, details={"cited": 2, "unresolved": ["gold"]})
    outputs = answered(citations=["elsewhere"])
    assert score(CitationCoverage(), wants("gold"), outputs) == 0.0
    assert score(CitationCoverage(corpus=["elsewhere"]), wants("gold"), outputs) == 1.0
    array: Any = np.array(["elsewhere", "there"])
    assert score(CitationCoverage(corpus=array), wants("gold"), outputs) == 1.0
    assert score(CitationCoverage(corpus=lambda name: name.startswith("else")), wants("gold"), outputs) == 1.0
    assert score(CitationCoverage("retrieved", corpus=["elsewhere"]), wants("gold"), outputs) == 0.0


def test_what_the_project_has_resolves_and_is_noted() -> None:
    outputs = answered(citations=["elsewhere", "nowhere"])
    note_known_citations(outputs, {"elsewhere"}.__contains__)
    seen = CitationCoverage().measure(wants("gold"), outputs)
    assert seen == Measurement(0.0, details={"cited": 2, "unresolved": ["nowhere"]})
    assert score(CitationCoverage("retrieved"), wants("gold"), outputs) == 0.0
    note_known_citations(answered(citations=3), bool)


def test_answers_that_need_no_citation() -> None:
    assert is_na(CitationCoverage(), wants("a"), answered(REFUSAL))
    assert is_na(CitationCoverage(), wants("a"), answered(refused=True))
    assert is_na(CitationCoverage(), wants("a"), answered(grounded=False))
    assert reason(CitationCoverage(), wants("a"), answered("")) == "no answer"


def test_citations_that_are_no_list() -> None:
    with pytest.raises(MetricError, match="citations must be a list, got int"):
        CitationCoverage().measure(wants("a"), answered(citations=3))


TEXT = "You may ask for a refund within 30 days. Later requests are declined."


def chunk(start: int, end: int, name: str = "c", source: str = "d") -> Document:
    return doc(f"{name}{start}", TEXT[start:end], document_id=source, start=start, end=end)


SPAN = doc("d", match="span", start=10, end=30)
QUOTE = doc("d", "within 30\ndays", match="quote")


@pytest.mark.parametrize(
    ("returned", "recall", "precision", "iou"),
    [
        ([(10, 30)], 1.0, 1.0, 1.0),
        ([(0, 40)], 1.0, 20 / 40, 20 / 40),
        ([(0, 20)], 10 / 20, 10 / 20, 10 / 30),
        ([(0, 20), (15, 40)], 1.0, 20 / 45, 20 / 45),
        ([(10, 30), (10, 30)], 1.0, 20 / 40, 20 / 40),
        ([(30, 60)], 0.0, 0.0, 0.0),
        ([], 0.0, 0.0, 0.0),
    ],
)
def test_by_eye(returned: list[tuple[int, int]], recall: float, precision: float, iou: float) -> None:
    outputs = got(*(chunk(*place) for place in returned))
    assert score(SpanRecall(), wants(SPAN), outputs) == recall
    assert score(SpanPrecision(), wants(SPAN), outputs) == precision
    assert score(SpanIoU(), wants(SPAN), outputs) == pytest.approx(iou)


def test_overlapping_gold_counts_once() -> None:
    gold = wants(SPAN, doc("d", match="span", start=20, end=40))
    assert SpanRecall().measure(gold, got(chunk(0, 30))) == Measurement(
        20 / 30, details={"gold": 30, "common": 20, "returned": 30}
    )


def test_a_quote_is_found_in_its_chunk() -> None:
    at = TEXT.index("within")
    outputs = got(chunk(0, 45))
    assert SpanRecall().measure(wants(QUOTE), outputs) == Measurement(
        1.0, details={"gold": 14, "common": 14, "returned": 45}
    )
    assert score(SpanRecall(), wants(QUOTE, doc("d", match="span", start=at, end=at + 14)), outputs) == 1.0
    assert score(SpanRecall(), wants(QUOTE), got(chunk(0, 35))) == 0.0


def test_a_quote_in_a_chunk_without_offsets_counts_as_a_whole() -> None:
    bare = doc("c", TEXT, document_id="d")
    assert score(SpanRecall(), wants(QUOTE), got(bare)) == 1.0
    assert score(SpanPrecision(), wants(QUOTE), got(bare)) == 14 / len(TEXT)


def test_documents_apart() -> None:
    other = doc("e", match="span", start=0, end=20)
    assert score(SpanRecall(), wants(SPAN, other), got(chunk(0, 40), doc("x", "unrelated text"))) == 1 / 2
    assert score(SpanPrecision(), wants(SPAN), got(chunk(10, 30, source="other"))) == 0.0


def test_a_cut() -> None:
    outputs = got(chunk(40, 60), chunk(10, 30))
    assert (score("span_recall@1", wants(SPAN), outputs), score("span_recall@2", wants(SPAN), outputs)) == (0.0, 1.0)


@pytest.mark.parametrize("metric", [SpanRecall(), SpanPrecision(), SpanIoU()])
def test_why_there_is_no_score(metric: SpanRecall) -> None:
    assert reason(metric, EvaluationSample("s", "q"), got("a")) == "no relevant_docs"
    assert is_na(metric, wants("a"), got("a"))
    assert is_na(metric, wants(doc("d", match="span", start=1, end=2, grade=0)), got("a"))


def test_spans_need_offsets() -> None:
    with pytest.raises(MetricError, match="chunk 'c' has no start and end"):
        SpanRecall().measure(wants(SPAN), got(doc("c", TEXT, document_id="d")))
