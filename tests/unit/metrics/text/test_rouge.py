"""ROUGE: by hand, against the query, with a tokenizer of one's own; the longest common subsequence."""

from __future__ import annotations

import random

import pytest

from pytest_auepora.core.metrics_base import Measurement
from pytest_auepora.core.types import TargetCategory
from pytest_auepora.metrics.generation_text import (
    Rouge1,
    Rouge2,
    RougeL,
    RougeScores,
)
from pytest_auepora.metrics.text.rouge import lcs_length

from ..samples import case, gave, is_na, value


def test_rouge_by_hand() -> None:
    sample, outputs = case("the cat sat on the mat"), gave("the cat was on the mat")
    assert value(Rouge1(), sample, outputs) == pytest.approx(5 / 6)
    assert value(Rouge2(), sample, outputs) == pytest.approx(3 / 5)
    assert value(RougeL(), sample, outputs) == pytest.approx(5 / 6)
    assert value(RougeScores(), sample, outputs) == pytest.approx((5 / 6 + 3 / 5 + 5 / 6) / 3)
    assert value(RougeScores(variants="rouge2"), sample, outputs) == value(Rouge2(), sample, outputs)
    assert value(RougeL(use_stemmer=False), case("refunds"), gave("refund")) == 0
    assert value(RougeL(), case("refunds"), gave("refund")) == 1


def test_rouge_against_the_query_speaks_of_relevance() -> None:
    metric = RougeL(compare_to="query")
    assert metric.target is TargetCategory.GENERATION_RELEVANCE
    assert RougeL().target is TargetCategory.GENERATION_CORRECTNESS
    assert metric.required_fields() == []
    assert value(metric, case(query="how long"), gave("how long")) == 1
    assert is_na(metric, case(query=" "), gave("x"))


def test_rouge_with_a_tokenizer_of_ones_own() -> None:
    metric = Rouge1(tokenizer=lambda text: list(text.replace(" ", "")))
    assert value(metric, case("abcd"), gave("ab xy")) == pytest.approx(0.5)
    assert metric.params()["tokenizer"].endswith("<lambda>")


def test_rouge2_of_one_word_says_that_it_cannot_be_won() -> None:
    seen = Rouge2().measure(case("Paris"), gave("Paris"))
    assert isinstance(seen, Measurement)
    assert seen.value == 0
    assert "no bigram" in seen.details["note"]


def test_longest_common_subsequence() -> None:
    assert lcs_length(list("XMJYAUZ"), list("MZJAWXU")) == 4
    assert lcs_length([], ["a"]) == 0
    assert lcs_length(["a"] * 70, ["a"] * 65) == 65


@pytest.mark.parametrize(("n", "m"), [(0, 3), (7, 1), (30, 40), (50, 51), (70, 90), (200, 3)])
def test_longest_common_subsequence_of_short_and_long_lists(n: int, m: int) -> None:
    draw = random.Random(n)
    a, b = draw.choices("abcdef", k=n), draw.choices("defxyz", k=m)
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    assert lcs_length(a, b) == row[-1]
