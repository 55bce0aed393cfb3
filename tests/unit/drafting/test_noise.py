"""Which documents of a corpus are noise for a case."""

from __future__ import annotations

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response
from pytest_auepora.drafting.noise import noise_variants
from pytest_auepora.labels.corpus import corpus_of

CORPUS = corpus_of(
    [
        {"id": "refunds#1", "text": "Refunds take 30 days.", "metadata": {"document_id": "refunds"}},
        {"id": "refunds#2", "text": "Refunds need a receipt.", "metadata": {"document_id": "refunds"}},
        {"id": "copy", "text": "We say it again: refunds take 30 days of waiting."},
        {"id": "blog", "text": "How long do customers wait for refunds elsewhere?"},
        {"id": "shop", "text": "The shop asks for patience."},
        {"id": "cake", "text": "Bake it."},
        {"id": "tea", "text": "Drink it."},
        {"id": "empty", "text": " "},
    ]
)
QUERY = "How long do refunds take?"


def sample(**known: object) -> EvaluationSample:
    given = {"relevant_docs": [Document("refunds#1")], "reference_answer": Response("30 days."), **known}
    return EvaluationSample("refund", QUERY, **given)  # type: ignore[arg-type]


def chosen(one: EvaluationSample, **how: int) -> list[list[str]]:
    return [[d["id"] for d in v.labels["noise_docs"]] for v in noise_variants(one, CORPUS, **how)]


def test_what_answers_is_no_noise() -> None:
    (only,) = chosen(sample(), count=1, each=4)
    assert set(only) <= {"refunds#2", "blog", "shop", "cake", "tea"}
    by_document = sample(relevant_docs=[Document("refunds", metadata={"match": "doc"})])
    assert "refunds#2" not in chosen(by_document, count=1, each=4)[0]
    by_quote = sample(relevant_docs=[Document("x", "patience", {"match": "quote"})], reference_answer=None)
    assert "shop" not in {name for ids in chosen(by_quote, count=3, each=2) for name in ids}
    phrases = sample(reference_answer=None, labels={"must_contain": ["30 days"]})
    assert "copy" not in chosen(phrases, count=1, each=5)[0]


def test_no_document_twice_and_never_fewer_than_asked_for() -> None:
    found = chosen(sample(), count=3, each=2)
    assert [len(ids) for ids in found] == [2, 2]
    assert len({name for ids in found for name in ids}) == 4
    assert chosen(sample(), count=3, each=6) == []


def test_documents_that_share_words_come_first() -> None:
    assert set(chosen(sample(), count=1, each=1)[0]) <= {"refunds#2", "blog", "shop", "cake", "tea"}
    pools = {name for seed in range(30) for ids in chosen(sample(), count=1, each=1, seed=seed) for name in ids}
    assert pools == {"blog", "refunds#2", "cake", "shop"}  # the four of the pool; of those that share nothing, by id


def test_variants_are_of_the_case() -> None:
    one, two = noise_variants(sample(), CORPUS, count=2, each=2)
    assert (one.sample_id, two.sample_id, one.query) == ("refund-noise-1", "refund-noise-2", QUERY)
    assert (one.labels["variant_of"], one.labels["scenario"]) == ("refund", "noise")
    assert noise_variants(sample(), CORPUS, count=2, each=2) == [one, two]
    assert noise_variants(sample(), CORPUS, count=2, each=2, seed=1) != [one, two]


@pytest.mark.parametrize(
    "known",
    [{"relevant_docs": []}, {"relevant_docs": None, "reference_answer": None}, {"labels": {"expect": "refuse"}}],
)
def test_no_variants_where_nothing_is_known_to_be_right(known: dict[str, object]) -> None:
    assert chosen(sample(**known), count=1, each=1) == []
