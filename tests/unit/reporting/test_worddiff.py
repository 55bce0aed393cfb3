from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.reporting.worddiff import MOST_WORDS, word_diff

WORDS = st.lists(st.sampled_from(["within", "30", "60", "days", "of", "purchase"]), max_size=12)


def test_only_what_differs_is_marked() -> None:
    assert word_diff("Within 30 days of purchase", "Within 60 days of purchase") == [
        ("", "Within"),
        ("-", "30"),
        ("+", "60"),
        ("", "days of purchase"),
    ]


@given(WORDS, WORDS)
def test_both_texts_can_be_read_off_it(before: list[str], after: list[str]) -> None:
    pieces = word_diff(" ".join(before), " ".join(after), least_alike=0.0)
    if pieces is None:
        assert before == after or not before or not after
        return
    assert " ".join(words for sign, words in pieces if sign != "+").split() == before
    assert " ".join(words for sign, words in pieces if sign != "-").split() == after


def test_what_would_not_help_is_left_out() -> None:
    assert word_diff("", "something") is None
    assert word_diff("the same", "the same") is None
    assert word_diff("not one word", "is shared here") is None
    assert word_diff("word " * (MOST_WORDS + 1), "word " * MOST_WORDS + "other") is None
