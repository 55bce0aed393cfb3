"""A checker that knows by words what supports what, and counts what it is asked."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_auepora.metrics.claims.checker import ClaimChecker


class ByWords(ClaimChecker):
    """A text supports a claim whose words it all has."""

    def __init__(self) -> None:
        self.asked: list[list[tuple[str, str]]] = []
        self.splits: list[list[str]] = []

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Sequence[bool]:
        """Remember the batch."""
        self.asked.append(list(zip(premises, hypotheses, strict=True)))
        return [set(_words(h)) <= set(_words(p)) for p, h in self.asked[-1]]

    def split_many(self, texts: Sequence[str]) -> list[list[str]]:
        """Remember the batch."""
        self.splits.append(list(texts))
        return super().split_many(texts)


def _words(text: str) -> list[str]:
    return text.lower().replace(".", " ").split()
