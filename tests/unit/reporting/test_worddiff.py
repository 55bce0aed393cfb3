from __future__ import annotations

from difflib import SequenceMatcher

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


@given(WORDS, WORDS)
def test_it_finds_what_difflib_finds(before: list[str], after: list[str]) -> None:
    pieces = word_diff(" ".join(before), " ".join(after), least_alike=0.0)
    if pieces is None:
        return
    expected = []
    for _, a, b, c, d in (matcher := SequenceMatcher(None, before, after, autojunk=False)).get_opcodes():
        if before[a:b] == after[c:d]:
            expected.append(("", " ".join(before[a:b])))
            continue
        expected += [(sign, " ".join(words)) for sign, words in (("-", before[a:b]), ("+", after[c:d])) if words]
    assert pieces == expected
    for least in (0.3, 0.5, 0.8):
        found = word_diff(" ".join(before), " ".join(after), least_alike=least)
        assert (found is None) == (matcher.ratio() < least)
