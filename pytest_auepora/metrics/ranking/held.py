"""What a ranking holds: where its relevant slots stand, and what the formulas of metrics ask of that."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

Worth = Callable[[int], int]
"""What a grade is worth."""

_DEPTH = 1024
_LOG2 = [math.log2(rank + 1) for rank in range(1, _DEPTH + 1)]
_IDEAL = [0.0, *accumulate(1 / log for log in _LOG2)]  # of 0, 1, 2, … documents of gain 1


class Held(Protocol):
    """What the formulas of metrics ask of a ranking; where many rankings are held at once, each answer is an array."""

    def hits(self, k: Any) -> Any:
        """How many slots of the top *k* (all for None) are relevant."""

    def found(self, k: Any) -> Any:
        """How many labels the top *k* cover."""

    def relevant(self, k: int | None = None) -> Any:
        """How many labels are relevant, at most *k*; never 0."""

    def returned(self, k: int) -> Any:
        """How many slots there are among the top *k*."""

    def reciprocal_rank(self, k: int | None) -> Any:
        """1 / rank of the first relevant slot; 0 where none is in the top *k*."""

    def precisions(self, k: int | None) -> Any:
        """The sum of the precision at each relevant slot of the top *k*."""

    def separate(self, k: int | None) -> Any:
        """How many relevant labels there are, those that one chunk of the top *k* covers counted as one."""

    def gain(self, k: int, worth: Worth) -> Any:
        """The discounted cumulative gain of the top *k*: the sum of worth(grade) / log2(rank + 1)."""

    def ideal_gain(self, k: int, worth: Worth) -> Any:
        """The same of the best possible order of all labels; never 0."""


@dataclass(eq=False, repr=False, slots=True)
class Ranking:
    """A returned list held against the labels of its case.  Slots are 0-based.

    ``slots`` are those that cover a relevant label for the first time, ascending, with the ``grades`` they earn.
    ``cuts`` are the positions at which a cut at k sees them: the slots, except where documents are counted but
    chunks are cut.  ``absorbed`` holds, by index into ``slots``, the grades of further labels first covered there.
    ``names`` are all relevant labels, ``ideal`` their grades in falling order, ``place`` where each was found.
    """

    names: list[str]
    ideal: list[int]
    slots: list[int]
    grades: list[int]
    cuts: list[int]
    place: dict[str, int]
    depth: int
    absorbed: dict[int, list[int]] | None = None
    firsts: list[int] | None = None

    @property
    def first_rank(self) -> int | None:
        """The rank of the first relevant slot, from 1; None where there is none."""
        return self.slots[0] + 1 if self.slots else None

    def hits(self, k: int | None) -> int:
        """Return how many relevant slots the top *k* have."""
        cuts = self.cuts
        return len(cuts) if k is None or not cuts or cuts[-1] < k else bisect_left(cuts, k)

    def found(self, k: int | None) -> int:
        """Return how many labels the top *k* cover."""
        n = self.hits(k)
        if not self.absorbed:
            return n
        return n + sum(len(grades) for at, grades in self.absorbed.items() if at < n)

    def relevant(self, k: int | None = None) -> int:
        """Return how many labels are relevant, at most *k*."""
        n = len(self.names)
        return n if k is None else min(k, n)

    def returned(self, k: int) -> int:
        """Return how many slots there are among the top *k*."""
        return min(k, self.depth) if self.firsts is None else bisect_left(self.firsts, k)

    def reciprocal_rank(self, k: int | None) -> float:
        """Return 1 / rank of the first relevant slot, or 0."""
        return 1 / (self.slots[0] + 1) if self.hits(k) else 0.0

    def precisions(self, k: int | None) -> float:
        """Return the sum of the precision at each relevant slot."""
        total = 0.0
        for count, slot in enumerate(self.slots[: self.hits(k)], 1):
            total += count / (slot + 1)
        return total

    def separate(self, k: int | None) -> int:
        """Return how many labels an ideal ranking has separately."""
        return len(self.wanted(k))

    def gain(self, k: int, worth: Worth) -> float:
        """Return the discounted cumulative gain of the top *k*."""
        return _discounted(self.slots[: self.hits(k)], self.grades, worth)

    def ideal_gain(self, k: int, worth: Worth) -> float:
        """Return the gain of the best possible top *k*."""
        ideal = self.wanted(k)
        size = min(k, len(ideal))
        if size <= _DEPTH and worth(ideal[0]) == worth(ideal[-1]) == 1:
            return _IDEAL[size]
        return _discounted(range(size), ideal, worth)

    def wanted(self, k: int | None) -> list[int]:
        """Return the grades of an ideal ranking, best first; labels that one chunk of the top *k* covers are one."""
        if not self.absorbed:
            return self.ideal
        n, left = self.hits(k), list(self.ideal)
        for at, grades in self.absorbed.items():
            if at < n:
                for grade in grades:
                    left.remove(grade)
        return left

    def missed(self, k: int | None) -> list[str]:
        """Return the relevant labels that the top *k* do not cover, in the order they were given."""
        place = self.place
        if k is None:
            return [name for name in self.names if name not in place]
        return [name for name in self.names if place.get(name, k) >= k]


def _discounted(slots: Iterable[int], grades: Iterable[int], worth: Worth) -> float:
    # added one by one: sum() rounds differently from Python 3.12 on, and an ideal order must give exactly 1
    total = 0.0
    for slot, grade in zip(slots, grades, strict=False):
        total += worth(grade) / (_LOG2[slot] if slot < _DEPTH else math.log2(slot + 2))
    return total


def at_most_one(value: Any) -> Any:
    """Return *value*, or each of an array of them, but no more than 1."""
    return value.clip(max=1.0) if hasattr(value, "clip") else min(value, 1.0)


def at_least_one(count: Any) -> Any:
    """Return *count*, or each of an array of them, but no less than 1."""
    return count.clip(1) if hasattr(count, "clip") else max(count, 1)
