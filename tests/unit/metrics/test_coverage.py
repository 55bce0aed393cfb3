"""Entities in the context, and citations that lead somewhere."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.errors import MetricError
from pytest_auepora.metrics.coverage import CitationCoverage, CoverageEntities, note_known

from .rankings import doc, got, score, wants
from .samples import reason

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
    assert score(CitationCoverage(corpus=lambda name: name.startswith("else")), wants("gold"), outputs) == 1.0
    assert score(CitationCoverage("retrieved", corpus=["elsewhere"]), wants("gold"), outputs) == 0.0


def test_what_the_project_has_resolves_and_is_noted() -> None:
    outputs = answered(citations=["elsewhere", "nowhere"])
    note_known(outputs, {"elsewhere"}.__contains__)
    seen = CitationCoverage().measure(wants("gold"), outputs)
    assert seen == Measurement(0.0, details={"cited": 2, "unresolved": ["nowhere"]})
    assert score(CitationCoverage("retrieved"), wants("gold"), outputs) == 0.0
    note_known(answered(citations=3), bool)


def test_answers_that_need_no_citation() -> None:
    assert reason(CitationCoverage(), wants("a"), answered("I don't know")) == "not a grounded answer"
    assert reason(CitationCoverage(), wants("a"), answered(refused=True)) == "not a grounded answer"
    assert reason(CitationCoverage(), wants("a"), answered(grounded=False)) == "not a grounded answer"
    assert reason(CitationCoverage(), wants("a"), answered("")) == "no answer"


def test_citations_that_are_no_list() -> None:
    with pytest.raises(MetricError, match="citations must be a list, got int"):
        CitationCoverage().measure(wants("a"), answered(citations=3))
