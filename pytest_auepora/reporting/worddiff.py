"""A compact word-by-word difference of two short texts."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["MOST_WORDS", "word_diff"]

MOST_WORDS = 40
"""Longer texts are better read side by side, and comparing them takes time."""

_BITS = [1 << place for place in range(MOST_WORDS)]


def word_diff(before: str, after: str, *, least_alike: float = 0.4) -> list[tuple[str, str]] | None:
    """Return pieces ``(sign, words)``: ``""`` in both, ``"-"`` only in *before*, ``"+"`` only in *after*.

    What both have is found as `difflib.SequenceMatcher` does it: the longest common run of words first, then the
    longest to its left and to its right.  None where a difference would not help: a text is empty or long, they are
    equal, or hardly alike.
    """
    old, new = before.split(), after.split()
    if not old or not new or old == new or max(len(old), len(new)) > MOST_WORDS:
        return None
    runs = _common(old, new)
    if 2 * sum(size for _, _, size in runs) < least_alike * (len(old) + len(new)):
        return None
    out: list[tuple[str, str]] = []
    i = j = same = 0
    for at, to, size in [*runs, (len(old), len(new), 0)]:
        if (at, to) != (i, j) or not size:
            pieces = ("", old[same:i]), ("-", old[i:at]), ("+", new[j:to])
            out += [(sign, " ".join(words)) for sign, words in pieces if words]
            same = at
        i, j = at + size, to + size
    return out


def _common(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the runs that both have, ``(where in old, where in new, length)``, in order.

    All words are compared at once, as the bits of one number: a row for each word of *old*, the lowest first, with a
    bit for each word of *new* that is the same, and above them one that is never set.  The words after two that are
    the same are then one row and one bit further up.
    """
    row = len(new) + 1
    places: dict[str, int] = {}
    for word, bit in zip(new, _BITS, strict=False):
        places[word] = places.get(word, 0) | bit
    equal = 0
    for word in reversed(old):
        equal = equal << row | places.get(word, 0)
    found: list[tuple[int, int, int]] = []
    if equal:
        every_row = ((1 << row * len(old)) - 1) // ((1 << row) - 1)  # the lowest bit of each
        _add_runs(found, equal, row, every_row)
    return found


def _add_runs(found: list[tuple[int, int, int]], equal: int, row: int, every_row: int) -> None:
    """Add the runs of which *equal* has the bits: the longest, the first of these, and those on either side of it."""
    size, starts, step = 1, equal, row + 1
    while longer := starts & starts >> step:
        starts = longer
        size += 1
    i, j = divmod((starts & -starts).bit_length() - 1, row)
    if i and j and (left := equal & (1 << row * i) - 1 & every_row * ((1 << j) - 1)):
        _add_runs(found, left, row, every_row)
    found.append((i, j, size))
    below = row * (i + size)
    if (right := equal >> below) and (right := right << below & every_row * ((1 << row) - (1 << j + size))):
        _add_runs(found, right, row, every_row)
