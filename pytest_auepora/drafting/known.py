"""Questions that exist already: what asks the same is not asked again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from ..metrics.text.tokens import squad_words

SAME = 0.8
"""Share of the words of two questions together that both have, from which on they ask the same."""
_TURNS = 2
"""Turns before a question that are part of what it asks."""


class Known:
    """Questions that exist already, in golden files and among the drafts."""

    def __init__(self, questions: Iterable[str] = ()) -> None:
        self._questions: dict[str, frozenset[str]] = {}
        self._holders: defaultdict[str, list[str]] = defaultdict(list)
        for question in questions:
            self.add(question)

    def add(self, question: str) -> None:
        """Add a question that no further draft may ask."""
        if question not in self._questions:
            self._questions[question] = words = frozenset(words_of(question))
            for word in words:
                self._holders[word].append(question)

    def duplicate_of(self, question: str) -> str:
        """Return a known question that asks the same as *question*; an empty string where none does."""
        own = frozenset(words_of(question))
        if not own:
            return ""
        # what shares so many words has at least one of these, the rarest ones
        by_rarity = sorted(own, key=lambda word: (len(self._holders.get(word, ())), word))
        rarest = by_rarity[: len(own) - ceil(SAME * len(own)) + 1]
        near = dict.fromkeys(question for word in rarest for question in self._holders.get(word, ()))
        alike = (q for q in near if len(own & self._questions[q]) >= SAME * len(own | self._questions[q]))
        return next(alike, "")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a question."""
    return squad_words(text, multilingual=True)


def asked(query: str, history: Sequence[Mapping[str, str]] = ()) -> str:
    """Return what *query* asks after the last turns of *history*: by itself, "and then?" asks nothing."""
    said = [turn["content"] if "content" in turn else next(iter(turn.values())) for turn in history[-_TURNS:]]
    return "\n".join([*said, query])
