"""A compact word-by-word difference of two short texts."""

from __future__ import annotations

__all__ = ["MOST_WORDS", "word_diff"]

MOST_WORDS = 40
"""Longer texts are better read side by side, and comparing them takes time."""


def word_diff(before: str, after: str, *, least_alike: float = 0.4) -> list[tuple[str, str]] | None:
    """Return pieces ``(sign, words)``: ``""`` in both, ``"-"`` only in *before*, ``"+"`` only in *after*.

    What both have is found as `difflib.SequenceMatcher` does it: the longest common run of words first, then the
    longest to its left and to its right.  None where a difference would not help: a text is empty or long, they are
    equal, or hardly alike.
    """
    old, new = before.split(), after.split()
    if not old or not new or old == new or max(len(old), len(new)) > MOST_WORDS:
        return None
    sign_of = dict(zip(dict.fromkeys(old + new), map(chr, range(2 * MOST_WORDS)), strict=False))
    a, b = ("".join(map(sign_of.__getitem__, words)) for words in (old, new))  # so that runs are compared as texts
    runs = _common(a, b)
    if 2 * sum(size for _, _, size in runs) < least_alike * (len(a) + len(b)):
        return None
    out: list[tuple[str, str]] = []
    i = j = same = 0
    for at, to, size in [*runs, (len(a), len(b), 0)]:
        if (at, to) != (i, j) or not size:
            pieces = ("", old[same:i]), ("-", old[i:at]), ("+", new[j:to])
            out += [(sign, " ".join(words)) for sign, words in pieces if words]
            same = at
        i, j = at + size, to + size
    return out


def _common(a: str, b: str, at: int = 0, to: int = 0) -> list[tuple[int, int, int]]:
    """Return the runs that both have, ``(where in a, where in b, length)``, in order, counted from *at* and *to*."""
    start = size = 0
    last = len(a)
    for i in range(last):
        if last - i <= size:
            break
        while i + size < last and a[i : i + size + 1] in b:
            start, size = i, size + 1
    if not size:
        return []
    other = b.index(a[start : start + size])
    runs = [(at + start, to + other, size)]
    if start and other:
        runs = _common(a[:start], b[:other], at, to) + runs
    if start + size < last and other + size < len(b):
        runs += _common(a[start + size :], b[other + size :], at + start + size, to + other + size)
    return runs
