"""Sentences of a text, by punctuation alone; no model and no list of a language but a few abbreviations."""

from __future__ import annotations

import re
from functools import lru_cache

_ABBREVIATIONS = frozenset(
    ("dr", "e.g", "etc", "fig", "i.e", "jr", "mr", "mrs", "ms", "no", "nos", "p", "pp", "prof", "sr", "st", "u.s", "vs")
)


@lru_cache(maxsize=1)
def _ends() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what may end a sentence, with the closing marks and citations behind it; and the bullet of a list."""
    mark = r"[.!?…]+[\"'”’)»]*(?:\s?\[[^\[\]\n]{1,60}\])*(?=\s|$)|[。！？]+[」』）]*|\n"  # noqa: RUF001 - CJK marks
    return re.compile(mark), re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)]|#{1,6})\s+")


def sentences(text: str) -> list[str]:
    """Return the sentences of *text* in order, without blanks around them; a new line ends one as well.

    A citation such as ``[2]`` behind a full stop belongs to the sentence before it.  Bullets and numbers of list
    items are left out.
    """
    mark, bullet = _ends()
    found, start = [], 0
    for end in mark.finditer(text):
        if not _is_abbreviation(text[start : end.end()], text[end.end() :]):
            found.append(text[start : end.end()])
            start = end.end()
    found.append(text[start:])
    return [said for part in found if re.search(r"\w", said := bullet.sub("", part).strip())]


def _is_abbreviation(before: str, after: str) -> bool:
    """Whether the full stop at the end of *before* goes on: an abbreviation, an initial, or small letters behind it."""
    if not before.endswith("."):
        return False
    last = before[:-1].split()[-1:] or [""]
    word = last[0].lstrip("(\"'").lower()
    initial = len(word) == 1 and word.isalpha() and last[0].isupper()
    return word in _ABBREVIATIONS or initial or after.lstrip()[:1].islower()
