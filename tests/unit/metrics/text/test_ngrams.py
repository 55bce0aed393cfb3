"""Shared n-grams: counted one by one and many at once they are the same, whatever repeats."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_auepora.core.metrics_base import NotApplicable
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs
from pytest_auepora.metrics.generation.bleu import BleuScore, SentenceBleu
from pytest_auepora.metrics.text import ngrams
from pytest_auepora.metrics.text.ngrams import Compared, matches, matches_of_many

texts = st.lists(st.sampled_from("abbc"), max_size=12)
comparisons = st.tuples(texts, st.lists(texts, min_size=1, max_size=3))


def by_definition(compared: Compared, longest: int) -> list[int]:
    """Count each order by itself, each n-gram at most as often as in the reference that has it most often."""

    def count(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    given, wanted = compared
    return [
        sum(min(times, max(count(w, n)[gram] for w in wanted)) for gram, times in count(given, n).items())
        for n in range(1, longest + 1)
    ]


def counted(compared: list[Compared], longest: int) -> list[list[int]]:
    return [found for _, found in matches_of_many(compared, longest)]


@given(comparisons, st.integers(1, 6))
def test_matches_are_clipped_at_the_best_reference(compared: Compared, longest: int) -> None:
    assert matches(*compared, longest) == by_definition(compared, longest)


@settings(deadline=None)
@given(st.lists(comparisons, max_size=12), st.integers(1, 6), st.sampled_from((2, 40, 2**14)))
def test_many_at_once_are_as_one_by_one(compared: list[Compared], longest: int, at_once: int) -> None:
    expected = [(one, by_definition(one, longest)) for one in compared]
    with patch.object(ngrams, "_WORTH_ARRAYS", 1), patch.object(ngrams, "_AT_ONCE", at_once):
        assert list(matches_of_many(compared, longest)) == expected
    assert list(matches_of_many(compared, longest)) == expected


def test_many_long_texts_in_portions() -> None:
    """As many different words as places, all portions full, and a text between them that is longer than a portion."""
    rng = random.Random(2)
    compared: list[Compared] = []
    for i in range(60):
        words = [str(rng.randrange(10_000) if i % 2 else rng.randrange(20)) for _ in range(1000 if i != 30 else 20_000)]
        compared.append(([w for w in words if rng.random() < 0.9], [words, words[::-1], []]))
    assert counted(compared, 4) == [matches(*one, 4) for one in compared]


def test_no_more_are_held_than_are_counted_together() -> None:
    """A data set of any size goes through: the first results come before the last texts are asked for."""
    left = iter(range(100_000))
    many: Iterator[Compared] = ((["a", "b"] * 100, [["b", "a"] * 100]) for _ in left)
    first, found = next(matches_of_many(many, 4))
    assert found == matches(*first, 4)
    assert next(left) < 100


def test_numbers_fit_where_a_portion_is_full() -> None:
    """The largest numbers there can be: one word in every text, or one text alone among empty ones."""
    size = ngrams._AT_ONCE
    narrow: list[Compared] = [(["a"], [["a"]])] * (size // 4)
    wide: list[Compared] = [*[([], [[]])] * 7, ([str(i) for i in range(size // 3)], [["7"]] * (size // 5))]
    assert counted(narrow, 2) == [[1, 0]] * len(narrow)
    assert counted(wide, 3) == [matches(*one, 3) for one in wide]


@pytest.mark.parametrize("metric", [SentenceBleu(), BleuScore(lowercase=True)], ids=lambda m: m.name)
def test_bleu_of_many_cases_is_that_of_each(metric: SentenceBleu) -> None:
    """Cases that are n/a stand between the others and keep their place."""
    rng = random.Random(4)
    samples, outputs = [], []
    for i in range(40):
        reference = " ".join(rng.choices(["The", "cat", "sat.", "1,5", "-"], k=rng.randint(0, 30)))
        text = "这是一个中文的句子" if i % 7 == 3 else reference
        reply = " ".join(w for w in reference.lower().split() if rng.random() < 0.8)
        more = {"alternatives": ["a cat", reply]} if i % 5 == 0 else {}
        gold = None if i % 9 == 4 else Response(text, metadata=more)
        samples.append(EvaluationSample(str(i), "q", reference_answer=gold))
        outputs.append(SystemOutputs([], Response(reply)))
    seen = metric.measure_many(samples, outputs)
    assert seen == [metric.measure(s, o) for s, o in zip(samples, outputs, strict=True)]
    assert len({type(one) for one in seen}) == 2
    assert isinstance(seen[4], NotApplicable)
    with pytest.raises(ValueError, match="shorter"):
        metric.measure_many(samples, outputs[1:])
