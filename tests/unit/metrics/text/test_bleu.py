"""BLEU's counts: n-grams by their definition, lengths against the nearest reference."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.metrics.text.bleu import BleuScore, SentenceBleu

from ..samples import case, gave

texts = st.lists(st.sampled_from("abbc"), max_size=12)


def by_definition(given: Sequence[str], wanted: Sequence[Sequence[str]], longest: int) -> list[int]:
    """Count each order by itself, each n-gram at most as often as in the reference that has it most often."""

    def count(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    return [
        sum(min(times, max(count(w, n)[gram] for w in wanted)) for gram, times in count(given, n).items())
        for n in range(1, longest + 1)
    ]


@given(texts, st.lists(texts, min_size=1, max_size=3), st.integers(1, 6))
def test_matches_are_clipped_at_the_best_reference(said: list[str], wanted: list[list[str]], longest: int) -> None:
    statistics = BleuScore(max_order=longest).statistics(" ".join(said), [" ".join(words) for words in wanted])
    assert statistics[2 : 2 + longest] == by_definition(said, wanted, longest)


def test_statistics_are_lengths_matches_and_totals() -> None:
    assert BleuScore(max_order=2).statistics("the cat sat", ["the cat", "a cat sat on it"]) == [3, 2, 3, 2, 3, 2]
    assert BleuScore(max_order=2).statistics("", ["the cat"]) == [0, 2, 0, 0, 0, 0]


def test_of_two_references_equally_near_the_shorter_counts() -> None:
    assert BleuScore().statistics("a b c", ["a b c d", "a b"])[1] == 2


def test_a_metric_that_has_scored_goes_to_another_process() -> None:
    metric = SentenceBleu()
    seen = metric.measure(case("the cat sat"), gave("the cat"))
    assert pickle.loads(pickle.dumps(metric)).measure(case("the cat sat"), gave("the cat")) == seen


def test_the_signature_has_every_option() -> None:
    made = SentenceBleu(3, "floor", "char", smooth_value=0.1, lowercase=True).signature()
    assert made.startswith("case:lc|eff:yes|tok:char|smooth:floor[0.1]|order:3|version:")
