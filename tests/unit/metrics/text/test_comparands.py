"""What an answer is compared with, and why there is nothing."""

from __future__ import annotations

import pytest

from pytest_auepora.core.metrics_base import NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample, Response, TargetCategory
from pytest_auepora.metrics.text.comparands import answer_text, evidence_texts, targets
from pytest_auepora.metrics.text.rouge import RougeL

from ..samples import case, gave


def test_the_reference_comes_first_then_its_alternatives() -> None:
    assert targets(case(["30 days", "a month", " "])) == ["30 days", "a month"]
    alone = EvaluationSample("a", "q", reference_answer=Response("x", metadata={"alternatives": "y"}))
    assert targets(alone) == ["x", "y"], "a lone alternative need not be a list"


@pytest.mark.parametrize(
    ("sample", "compare_to", "why"),
    [
        (case(), "reference", "no reference_answer"),
        (case(" "), "reference", "reference_answer is empty"),
        (case("x", query=" "), "query", "the query is empty"),
    ],
)
def test_why_there_is_nothing_to_compare_with(sample: EvaluationSample, compare_to: str, why: str) -> None:
    assert targets(sample, compare_to) == NotApplicable(why)


def test_a_comparison_with_the_query_speaks_of_relevance() -> None:
    assert targets(case("x", query="how long?"), "query") == ["how long?"]
    assert RougeL("query").target is TargetCategory.GENERATION_RELEVANCE
    assert RougeL("reference").target is TargetCategory.GENERATION_CORRECTNESS


def test_evidence_is_what_was_retrieved_or_what_is_relevant() -> None:
    sample = case(relevant=[Document("a", "gold"), Document("b")])
    assert evidence_texts(sample, gave("", "one", "two", "three"), "retrieved", 2) == ["one", "two"]
    assert evidence_texts(sample, gave(""), "retrieved") == []
    assert evidence_texts(sample, gave(""), "relevant") == ["gold"]


def test_documents_known_by_their_id_alone_are_no_evidence() -> None:
    bare = gave("", Document("a"), Document("b", "  "))
    assert evidence_texts(case(), bare, "retrieved") == NotApplicable("the retrieved documents carry no text")
    assert evidence_texts(case(relevant=["a"]), bare, "relevant") == NotApplicable(
        "the relevant documents carry no text"
    )
    assert evidence_texts(case(), bare, "relevant") == NotApplicable("no relevant_docs")


def test_no_answer_is_an_empty_one() -> None:
    silent = gave("")
    silent.response.text = None  # type: ignore[assignment]
    assert answer_text(silent) == ""
