"""The marks reports use, and what stands for them where a terminal has ASCII only."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ASCII", "TO_ASCII", "UNICODE", "Marks", "marks"]


class Marks(NamedTuple):
    """One character each, but for ``dots`` and ``arrow``."""

    good: str
    bad: str
    unjudged: str
    unsure: str
    neutral: str
    dots: str
    arrow: str
    rule: str


UNICODE = Marks(good="✓", bad="✗", unjudged="\u2013", unsure="?", neutral="·", dots="…", arrow="→", rule="─")
ASCII = Marks(good="+", bad="x", unjudged="-", unsure="?", neutral=".", dots="...", arrow="->", rule="-")

TO_ASCII = str.maketrans({**dict(zip(UNICODE, ASCII, strict=True)), "≥": ">=", "≤": "<=", "\u2212": "-"})
"""For `str.translate`: the marks, and others that messages of this package hold."""


def marks(ascii_only: bool) -> Marks:
    """Return the marks to use."""
    return ASCII if ascii_only else UNICODE
