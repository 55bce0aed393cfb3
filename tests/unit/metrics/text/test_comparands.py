"""What an answer is compared with, and that there may be nothing."""

from __future__ import annotations

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response, TargetCategory
from pytest_auepora.metrics.options import DoesNotApply
from pytest_auepora.metrics.text.comparands import answer_text, relevant_texts, retrieved_texts, targets
from pytest_auepora.metrics.text.rouge import RougeL

from ..samples import case, gave


def test_the_reference_comes_first_then_its_alternatives() -> None:
    assert targets(case(["30 days", "a month", " "])) == ["30 days", "a month"]
    alone = EvaluationSample("a", "q", reference_answer=Response("x", metadata={"alternatives": "y"}))
    assert targets(alone) == ["x", "y"], "a lone alternative need not be a list"


@pytest.mark.parametrize(
    ("sample", "compare_to"), [(case(), "reference"), (case(" "), "reference"), (case("x", query=" "), "query")]
)
def test_there_is_nothing_to_compare_with(sample: EvaluationSample, compare_to: str) -> None:
    with pytest.raises(DoesNotApply):
        targets(sample, compare_to)


def test_a_comparison_with_the_query_speaks_of_relevance() -> None:
    assert targets(case("x", query="how long?"), "query") == ["how long?"]
    assert RougeL("query").target is TargetCategory.GENERATION_RELEVANCE
    assert RougeL("reference").target is TargetCategory.GENERATION_CORRECTNESS


def test_evidence_is_what_was_retrieved_or_what_is_relevant() -> None:
    assert retrieved_texts(gave("", "one", "two", "three"), 2) == ["one", "two"]
    assert retrieved_texts(gave("")) == []
    assert relevant_texts(case(relevant=[Document("a", "gold"), Document("b")])) == ["gold"]


def test_documents_known_by_their_id_alone_are_no_evidence() -> None:
    with pytest.raises(DoesNotApply):
        retrieved_texts(gave("", Document("a"), Document("b", "  ")))
    for sample in (case(), case(relevant=["a"])):
        with pytest.raises(DoesNotApply):
            relevant_texts(sample)


def test_no_answer_is_an_empty_one() -> None:
    silent = gave("")
    silent.response.text = None  # type: ignore[assignment]
    assert answer_text(silent) == ""
