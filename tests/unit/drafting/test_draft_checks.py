"""What is wrong with a draft that no model has to see."""

from __future__ import annotations

import pytest

from pytest_auepora.drafting.documents import DocumentPassage, Job
from pytest_auepora.drafting.draft import Draft, find_passage, quote_overlap, rejection_of
from pytest_auepora.drafting.known import Known

TEXT = "Bring the bicycle back\nbefore 18:00. A late return costs 5 euros an hour, whatever the weather may be."
PASSAGE = DocumentPassage("returns.md", 0, TEXT)
QUOTE = "A late return costs 5 euros an hour"


def told(question: str, quote: str = QUOTE, answer: str = "5 euros", *, known: tuple[str, ...] = ()) -> tuple[str, str]:
    job = Job("single-hop", PASSAGE.doc, (PASSAGE,))
    return rejection_of(Draft(job, question, answer, [(PASSAGE, quote)]), Known(known))


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        (QUOTE, True),
        ("bicycle back before   18:00", True),
        ("a late return costs", False),
        ("late return costs five euros", False),
        ("", False),
    ],
)
def test_a_quote_is_found_word_for_word(quote: str, found: bool) -> None:
    assert (find_passage(quote, [DocumentPassage("x", 0, "other"), PASSAGE]) is PASSAGE) is found


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("What must I pay after closing time?", ("", "")),
        ("How long does it take to hire something?", ("", "")),
        ("Price?", ("no question", "")),
        ("What does the passage say on fines?", ("not self-contained", "the passage")),
        ("What is the fine, according to the provided text?", ("not self-contained", "the provided text")),
        ("Which fine does the author want?", ("not self-contained", "the author")),
        ("What does a late return cost an hour, in euros?", ("copies the quote", "100% of the question's words")),
    ],
)
def test_questions(question: str, reason: tuple[str, str]) -> None:
    assert told(question) == reason


def test_quotes_and_answers() -> None:
    question = "What must I pay after closing time?"
    assert told(question, "5 euros") == ("quote too short", "5 euros")
    assert told(question, TEXT) == ("quote is the whole passage", "")
    assert told(question, answer=" ") == ("no answer", "")
    assert rejection_of(Draft(Job("unanswerable", "", ()), question), Known()) == ("", "")


def test_near_duplicates_have_nearly_the_same_words() -> None:
    question = "What must I pay after closing time?"
    near = "what MUST i pay, after closing time"
    assert told(question, known=(near,)) == ("near-duplicate", near)
    assert told(question, known=("Who pays for a flat tyre?",)) == ("", "")
    known = Known()
    known.add(question)
    assert known.duplicate_of("What must I pay after the closing time?") == question
    assert known.duplicate_of("") == ""


def test_overlap_counts_the_words_that_say_something() -> None:
    assert quote_overlap("What does it cost to be late on Sundays?", QUOTE) == pytest.approx(2 / 3)
    assert quote_overlap("Is it so?", QUOTE) == 0
