"""Other wordings of queries, from a file and from a model; which documents of a corpus are noise for a case."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.types import Document, EvaluationSample, Response
from pytest_auepora.drafting.variants import ask_paraphrases, load_paraphrases, noise_variants
from pytest_auepora.errors import AueporaError
from pytest_auepora.labels.corpus import corpus_of
from pytest_auepora.metrics.judge.critic import JudgeReplyError

from .scripted import Fixed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": "x", "query": "one"}\n\n{"id": "x", "query": "two"}\n{"id": "y", "query": "three"}'),
        ("a.json", '{"x": ["one", "two"], "y": "three"}'),
        ("a.yaml", "x: [one, two]\ny: three\n"),
    ],
)
def test_forms(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert load_paraphrases(path) == {"x": ["one", "two"], "y": ["three"]}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"id": "x", "query": "one"}\n{"id"', "a.jsonl:2:6: not JSON"),
        ("a.jsonl", '{"id": "x"}', "a.jsonl:1: expected a row with id and query"),
        ("a.jsonl", '{"id": "x", "query": 3}', "a.jsonl:1: expected a text, got 3"),
        ("a.yaml", "- x", "a.yaml: expected JSON Lines with id and query, or"),
        ("a.yaml", "x: [", "a.yaml: cannot be read"),
        ("a.json", '{"x": [" "]}', "a.json: x: expected a text"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AueporaError) as error:
        load_paraphrases(path)
    assert told in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AueporaError, match="cannot be read: No such file"):
        load_paraphrases(tmp_path / "a.yaml")


def test_a_model_rewords_each_query() -> None:
    model = Fixed('{"wordings": ["Is 14 days the limit?", "is it 14 DAYS?", "The limit?", "Is 14 days the limit?"]}')
    found, refused = ask_paraphrases({"a": "Is it 14 days?"}, model, 4)
    assert found == {"a": ["Is 14 days the limit?"]}
    assert refused == 3
    assert "with 4 wordings" in model.prompts[0]
    assert "<question>\nIs it 14 days?\n</question>" in model.prompts[0]


@pytest.mark.parametrize("reply", ["Sure!", '{"wordings": "one"}', '{"wordings": [1]}'])
def test_wordings_that_cannot_be_read_are_an_error(reply: str) -> None:
    with pytest.raises(JudgeReplyError):
        ask_paraphrases({"a": "Is it so?"}, Fixed(reply), 1)


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
