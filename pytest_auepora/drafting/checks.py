"""What is wrong with a draft, as far as no model is needed to see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..metrics.ranking.gold import fold_quote
from ..metrics.text.tokens import squad_words
from .documents import Passage, content_words

MAX_OVERLAP = 0.7
"""Share of a question's words that its quote may have: more, and finding it is no feat."""
SAME = 0.8
"""Share of the words of two questions from which on they ask the same."""
_SHORTEST_QUOTE, _LONGEST_SHARE = 4, 0.9

_LEANS = re.compile(
    r"\b(?:the|this|that|these|given|above|following|provided|mentioned)\s+(?:\w+\s+)?"
    r"(?:passages?|texts?|documents?|excerpts?|paragraphs?|contexts?|articles?|snippets?|sections?)\b"
    r"|\b(?:according to|as (?:described|mentioned|stated|shown)) (?:above|below|here)\b|\bthe author\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Draft:
    """A question with its answer; ``quotes`` are (passage, words of it), ``also`` passages that answer as well."""

    question: str
    answer: str = ""
    quotes: list[tuple[Passage, str]] = field(default_factory=list)
    also: list[tuple[Passage, str]] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)


class Known:
    """Questions that there are already, in golden files and among the drafts."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._words: list[tuple[frozenset[str], str]] = []
        for question in questions:
            self.add(question)

    def add(self, question: str) -> None:
        """Let no further draft ask the same."""
        self._words.append((_words(question), question))

    def like(self, question: str) -> str:
        """Return the question that asks the same as *question*; an empty string where none does."""
        own = _words(question)
        return next((other for words, other in self._words if near_duplicate(own, words)), "")


def _words(question: str) -> frozenset[str]:
    return frozenset(squad_words(question, multilingual=True))


def near_duplicate(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two questions have nearly the same words."""
    return bool(one) and len(one & other) >= SAME * len(one | other)


def located(quote: str, passages: Sequence[Passage]) -> Passage | None:
    """Return the passage that holds *quote* word for word; line breaks and runs of blanks do not count."""
    wanted = fold_quote(quote)
    return next((p for p in passages if wanted and wanted in fold_quote(p.text)), None)


def overlap_with(question: str, quote: str) -> float:
    """Return the share of the question's content words that the quote has; 0 where it has none."""
    asked = content_words(question)
    return len(asked & content_words(quote)) / len(asked) if asked else 0.0


def wrong_with(draft: Draft, *, answerable: bool, known: Known, max_overlap: float = MAX_OVERLAP) -> str:
    """Return why *draft* is rejected, the reason's name before a colon; an empty string where nothing is wrong."""
    if len(squad_words(draft.question, multilingual=True)) < 3:
        return "no question"
    if (found := _LEANS.search(draft.question)) is not None:
        return f"not self-contained: {found[0]!r}"
    if same := known.like(draft.question):
        return f"near-duplicate: {same}"
    if not answerable:
        return ""
    if not draft.answer.strip():
        return "no answer"
    for passage, quote in draft.quotes:
        if len(squad_words(quote, multilingual=True)) < _SHORTEST_QUOTE:
            return f"quote too short: {quote!r:.80}"
        if len(quote) > _LONGEST_SHARE * len(passage.text):
            return "quote is the whole passage"
    share = overlap_with(draft.question, " ".join(quote for _, quote in draft.quotes))
    if share > max_overlap:
        return f"copies the quote: {share:.0%} of the question's words"
    return ""
