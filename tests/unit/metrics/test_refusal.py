"""Which answers are a refusal."""

from __future__ import annotations

import pytest

from pytest_auepora.metrics.refusal import is_refusal

from .samples import REFUSAL, said


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I don't know.", True),
        ("Sorry, I DON\u2019T KNOW that", True),
        ("I don\u02bct\n know", True),
        ("\uff29 \uff44\uff4f\uff4e'\uff54 \uff4b\uff4e\uff4f\uff57", True),
        ("There is not enough information to say.", True),
        ("Within 30 days.", False),
        ("", None),
        (" \n ", None),
        (None, None),
        ("42", False),
        ("知りません", False),
    ],
)
def test_phrases_are_looked_for_in_the_folded_text(text: str | None, refused: bool | None) -> None:
    assert is_refusal(said(text)) is refused


@pytest.mark.parametrize(
    "text",
    [
        "I do not have specific information about parking.",
        "The documents do not provide an answer.",
        "I'm sorry, but I couldn't find anything on that in the handbook.",
        "I am sorry. The retrieved passages contain no information on salaries.",
        "Unfortunately, the provided context doesn't mention the price.",
        "Based on the given context, there is no mention of a second office.",
        "The answer is not stated in the documents.",
        "This cannot be determined from what was found.",
        "We have no information about next year.",
        "I'm unable to answer this.",
        "No relevant information was found.",
        "It is not possible to say who founded it.",
        "I do not have the answer to your question.",
        "I don't have access to real-time data.",
        "I do not have any record of that.",
        "I'm sorry, but I can't provide that information.",
        "I cannot help with that.",
        "We are unable to provide information about salaries.",
        "The documents I have access to do not provide the salary.",
        "The provided documents do not list the names of the members.",
        "The passage does not include the price.",
        "The documents do not cover this topic.",
        "The search results don't include any information about it.",
        "The text doesn't give a date for the battle.",
        "The exact date is not provided in the documents.",
        "The information is not available in the documents.",
        "There is no specific mention of housing in the provided content.",
        "There is no information in the given context to answer this question.",
        "No results were found.",
        "No information is available about his death.",
        "The answer cannot be found in the documents.",
        "That question is beyond the scope of my knowledge.",
        "This is outside the scope of the provided documents.",
        "Your question is out of scope.",
        "None of the documents mention this.",
        "Unfortunately, none of the retrieved passages say who the CEO is.",
    ],
)
def test_what_models_say_when_they_refuse(text: str) -> None:
    assert is_refusal(said(text)) is True


@pytest.mark.parametrize(
    "text",
    [
        "No, returns do not have to be paid for.",
        "Refunds take 30 days. The documents do not mention weekends.",
        "The law does not provide for refunds, so none are made.",
        "Parcels cannot be returned without a label.",
        "There is no charge.",
        "You do not need an account to see prices.",
        "There is no definitive answer, as nobody has found the treasure.",
        "The fee is not included in the price.",
        "Batteries are not included in the package content.",
        "Tax is not included in the price listed on this page.",
        "The text does not contain images.",
        "The documents do not have to be notarised.",
        "None of the documents have to be notarised.",
        "None of the plans mention a deadline, so there is none.",
        "The provided documents do not have to be signed.",
        "No results are available to answer before 9:00.",
        "No details are given to third parties.",
        "The knowledge base does not cover hardware bought before 2019.",
        "The page doesn't list prices, by design; prices are shown at checkout.",
        "This article does not contain nuts.",
        "You need no information provided by the seller.",
        "There is no information desk on the second floor.",
        "There is no evidence about what is hidden there.",
        "We do not have data caps on any plan.",
        "We cannot offer refunds on sale items.",
        "We cannot confirm bookings by phone.",
        "We do not have access to the roof.",
        "It is not possible to tell the twins apart.",
        "The price cannot be determined before the auction ends.",
        "Lost keys cannot be found by the staff after a week.",
        "Refunds are outside the scope of the Basic plan.",
    ],
)
def test_what_the_subject_lacks_is_no_refusal(text: str) -> None:
    assert is_refusal(said(text)) is False


@pytest.mark.parametrize("text", ["word " * 100 + "i have no idea", "we do not have " * 50_000])
def test_an_endless_sentence_is_read_at_its_start(text: str) -> None:
    assert is_refusal(said(text)) is False


def test_who_decides() -> None:
    """A person before the system before the text."""
    assert is_refusal(said(REFUSAL, refused=False)) is False
    assert is_refusal(said("Within 30 days", refused=True)) is True
    assert is_refusal(said("", refused=True)) is True
    assert is_refusal(said("", refused=None)) is None


def test_own_patterns() -> None:
    assert is_refusal(said("Das weiß ich nicht."), ["WEISS ICH NICHT"]) is True
    assert is_refusal(said(REFUSAL), ["weiß ich nicht"]) is False
