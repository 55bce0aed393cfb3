"""A compact word-by-word difference of two short texts."""

from __future__ import annotations

__all__ = ["MOST_WORDS", "word_diff"]

MOST_WORDS = 40
"""Longer texts are better read side by side, and comparing them takes time."""


def word_diff(before: str, after: str, *, least_alike: float = 0.4) -> list[tuple[str, str]] | None:
    """Return pieces ``(sign, words)``: ``""`` in both, ``"-"`` only in *before*, ``"+"`` only in *after*.

    None where a difference would not help: a text is empty or long, they are equal, or hardly alike.
    """
    old, new = before.split(), after.split()
    if not old or not new or old == new or max(len(old), len(new)) > MOST_WORDS:
        return None
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < least_alike:
        return None
    out: list[tuple[str, str]] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            out.append(("", " ".join(old[a:b])))
            continue
        if a < b:
            out.append(("-", " ".join(old[a:b])))
        if c < d:
            out.append(("+", " ".join(new[c:d])))
    return out
