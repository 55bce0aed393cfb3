"""Reciprocal rank, average precision and nDCG on rankings one can follow by eye."""

from __future__ import annotations

from math import log2

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.metrics.retrieval_ranking import MRRAtK, NDCGAtK

from .rankings import REGISTRY, doc, got, graded, score, wants
from .samples import reason

RANKED = got("x b y a")
GOLD = wants(*graded(a=2, b=1, c=3))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mrr", 1 / 2), ("mrr@1", 0.0), ("mrr@2", 1 / 2),
        ("map", (1 / 2 + 2 / 4) / 3), ("map@2", (1 / 2) / 3), ("map@1", 0.0),
        ("map[norm=found]", (1 / 2 + 2 / 4) / 2), ("map@2[norm=found]", 1 / 2), ("map@1[norm=found]", 0.0),
        ("ndcg@10", (1 / log2(3) + 3 / log2(5)) / (7 + 3 / log2(3) + 1 / log2(4))),
        ("ndcg@2", (1 / log2(3)) / (7 + 3 / log2(3))),
        ("ndcg@10[gain=binary]", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
        ("ndcg@10[gain=linear]", (1 / log2(3) + 2 / log2(5)) / (3 + 2 / log2(3) + 1 / log2(4))),
    ],
)  # fmt: skip
def test_by_eye(name: str, expected: float) -> None:
    assert score(name, GOLD, RANKED) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", ["mrr", "mrr@5", "map", "map@5", "map[norm=found]", "ndcg@5"])
def test_nothing_relevant_found_is_zero(name: str) -> None:
    assert score(name, GOLD, got("x y")) == 0.0
    assert score(name, GOLD, got()) == 0.0


@pytest.mark.parametrize("name", ["mrr", "map", "ndcg@5", "ndcg@5_doc"])
def test_why_there_is_no_score(name: str) -> None:
    assert reason(REGISTRY.get(name), EvaluationSample("s", "q"), RANKED) == "no relevant_docs"
    assert reason(REGISTRY.get(name), wants(), RANKED) == "nothing relevant: a refusal is expected"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1500])
@pytest.mark.parametrize("gain", ["exp", "linear", "binary"])
@pytest.mark.parametrize("grades", [(1,), (1, 2, 3)])
def test_an_ideal_ranking_is_exactly_one(size: int, gain: str, grades: tuple[int, ...]) -> None:
    """Not nearly: a gate of 1.0 would fail on rounding."""
    gold = sorted(
        (doc(f"d{i}", grade=grades[i % len(grades)]) for i in range(size)), key=lambda d: -d.metadata["grade"]
    )
    sample, outputs = wants(*gold), got(*gold)
    for k in {1, size, size + 3, max(1, size // 2)}:
        assert score(NDCGAtK(k, gain=gain), sample, outputs) == 1.0
    assert score("map", sample, outputs) == 1.0
    assert score("mrr", sample, outputs) == 1.0


def test_deep_ranks_are_discounted_beyond_the_table() -> None:
    outputs = got(*(f"x{i}" for i in range(2000)), "a")
    assert score("ndcg@3000", wants("a"), outputs) == pytest.approx(1 / log2(2002), abs=1e-15)


def test_repeats_earn_once() -> None:
    twice = got("a a b")
    assert score("ndcg@3", wants("a b"), twice) == pytest.approx((1 + 1 / log2(4)) / (1 + 1 / log2(3)))
    assert score("map", wants("a b"), twice) == (1 + 2 / 3) / 2
    assert score("map[duplicates=collapse]", wants("a b"), twice) == 1.0


def test_passages_in_one_chunk_make_an_ideal_ranking() -> None:
    sample = wants(doc("d", "one", match="quote"), doc("d", "two", match="quote", grade=2), "z")
    outputs = got(doc("c", "one two", document_id="d"), "z")
    assert (score("ndcg@5", sample, outputs), score("map", sample, outputs)) == (1.0, 1.0)
    assert score("ndcg@1", sample, outputs) == 1.0
    missing = got(doc("c", "one", document_id="d"), "z")
    assert score("ndcg@1", sample, missing) == pytest.approx(1 / 3)


def test_documents_of_chunks() -> None:
    chunks = [doc("x"), doc("A#1", document_id="A"), doc("A#2", document_id="A"), doc("B#1", document_id="B")]
    assert score("mrr_doc", wants("A B"), got(*chunks)) == 1 / 2
    assert score("mrr@1_doc", wants("A B"), got(*chunks)) == 0.0
    assert score("map_doc", wants("A B"), got(*chunks)) == (1 / 2 + 2 / 4) / 2
    assert score("map_doc[duplicates=collapse]", wants("A B"), got(*chunks)) == (1 / 2 + 2 / 3) / 2
    assert score("map@3_doc[duplicates=collapse]", wants("A B"), got(*chunks)) == (1 / 2) / 2
    expected = (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))
    assert score("ndcg@4_doc", wants("A B"), got(*chunks)) == pytest.approx(expected)


def test_the_rank_is_said_beyond_the_cut() -> None:
    assert MRRAtK(1).measure(GOLD, RANKED) == Measurement(0.0, details={"rank": 2})
