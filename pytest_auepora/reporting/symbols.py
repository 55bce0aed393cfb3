"""The marks reports use, and what stands for them where a terminal has ASCII only."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ASCII", "TO_ASCII", "UNICODE", "Symbols", "symbols"]


class Symbols(NamedTuple):
    """One character each, but for ``dots`` and ``arrow``."""

    good: str
    bad: str
    unjudged: str
    unsure: str
    neutral: str
    dots: str
    arrow: str
    rule: str


UNICODE = Symbols(good="✓", bad="✗", unjudged="\u2013", unsure="?", neutral="·", dots="…", arrow="→", rule="─")
ASCII = Symbols(good="+", bad="x", unjudged="-", unsure="?", neutral=".", dots="...", arrow="->", rule="-")

TO_ASCII = str.maketrans({**dict(zip(UNICODE, ASCII, strict=True)), "≥": ">=", "≤": "<=", "\u2212": "-"})
"""For `str.translate`: the marks, and others that messages of this package hold."""


def symbols(ascii_only: bool) -> Symbols:
    """Return the symbols to use."""
    return ASCII if ascii_only else UNICODE
