"""Questions that ask the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_auepora.drafting.known import SAME, Known, asked, words_of


def test_a_question_in_nearly_the_same_words_is_known() -> None:
    known = Known(["How long do I have to ask for a refund?", "Where is the office?"])
    assert known.duplicate_of("how long do I have, to ask for a refund") == "How long do I have to ask for a refund?"
    assert known.duplicate_of("How long does shipping take?") == ""
    assert known.duplicate_of("?!") == ""
    known.add("How long does shipping take?")
    assert known.duplicate_of("How long does shipping take?")


def test_what_is_asked_after_other_turns_is_another_question() -> None:
    refunds = [{"user": "Refunds?"}, {"assistant": "30 days."}]
    parcels = [{"role": "user", "content": "Parcels?"}, {"role": "assistant", "content": "2 days."}]
    known = Known([asked("And abroad?", refunds)])
    assert known.duplicate_of(asked("And abroad?", refunds))
    assert not known.duplicate_of(asked("And abroad?", parcels))
    assert asked("And abroad?", [{"user": "long ago"}, *refunds]) == asked("And abroad?", refunds)


WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", "ij", "kl", "mn"]), min_size=1, max_size=7).map(" ".join)


@given(st.lists(WORDS, max_size=8), WORDS)
def test_it_finds_one_exactly_where_there_is_one(questions: list[str], question: str) -> None:
    own = set(words_of(question))
    alike = {q for q in questions if len(own & set(words_of(q))) >= SAME * len(own | set(words_of(q)))}
    found = Known(questions).duplicate_of(question)
    assert found in alike if alike else found == ""
