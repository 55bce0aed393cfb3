"""What a ranking held against its labels answers: counts, ranks and gains of its top k."""

from __future__ import annotations

import math

import pytest

from pytest_auepora.metrics.ranking.matching import Ranking
from pytest_auepora.metrics.retrieval_ranking import MRRAtK

# a at rank 2 with grade 1; b and c, of grades 2 and 1, in one chunk at rank 4; d nowhere
HELD = Ranking(
    ["a", "b", "c", "d"], [2, 1, 1, 1], [1, 3], [1, 2], [1, 3], {"a": 1, "b": 3, "c": 3}, range(5), absorbed={1: [1]}
)


def grade(value: int) -> int:
    return value


@pytest.mark.parametrize(
    ("k", "hits", "found", "separate", "reciprocal", "precisions"),
    [
        (1, 0, 0, 4, 0.0, 0.0),
        (2, 1, 1, 4, 1 / 2, 1 / 2),
        (4, 2, 3, 3, 1 / 2, 1 / 2 + 2 / 4),
        (None, 2, 3, 3, 1 / 2, 1 / 2 + 2 / 4),
    ],
)
def test_the_top_k(k: int | None, hits: int, found: int, separate: int, reciprocal: float, precisions: float) -> None:
    assert (HELD.hits(k), HELD.found_labels(k), len(HELD.ideal_grades(k))) == (hits, found, separate)
    assert MRRAtK(k).value(HELD) == reciprocal
    assert HELD.precisions(k) == pytest.approx(precisions)


def test_gains_are_discounted_also_those_of_the_ideal_order() -> None:
    assert HELD.gain(4, grade) == pytest.approx(1 / math.log2(3) + 2 / math.log2(5))
    assert HELD.ideal_gain(2, grade) == pytest.approx(2 + 1 / math.log2(3))
    assert HELD.ideal_grades(4) == [2, 1, 1], "b and c come in one chunk"
    assert HELD.ideal_gain(4, grade) == pytest.approx(2 + 1 / math.log2(3) + 1 / 2)


def test_what_was_missed_keeps_its_order() -> None:
    assert HELD.missed_labels(None) == ["d"]
    assert HELD.missed_labels(2) == ["b", "c", "d"]
    assert HELD.first_rank == 2


def test_a_cut_in_chunks_counts_documents_it_has_seen() -> None:
    documents = Ranking(["m"], [1], [1], [1], [3], {"m": 3}, [0, 3])
    assert [documents.hits(k) for k in (1, 3, 4)] == [0, 0, 1]
    assert [documents.returned(k) for k in (1, 3, 4)] == [1, 1, 2]
    assert HELD.returned(9) == 5
