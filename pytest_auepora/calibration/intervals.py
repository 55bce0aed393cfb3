"""How far a figure may be off: bootstrap over groups of items, Wilson's and Newcombe's intervals of shares.

Bootstrap: percentiles over resampled groups, so that answers to one question, which are alike, count as one.
Wilson: JASA 22 (1927).  Newcombe: Statistics in Medicine 17 (1998), p. 873, method 10.  All two-sided, 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

DRAWS = 2000
_Z = 1.959963984540054
_SEED = 20_160_613

Source = Literal["bootstrap", "Wilson", "Newcombe", "none"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its 95 % interval and where that comes from; None where there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    source: Source = "none"
    n: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data, four decimals."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {**{k: None if v is None else round(v, 4) + 0.0 for k, v in ends.items()},
                "interval": self.source, "n": self.n}  # fmt: skip


def wilson(hits: float, n: float) -> Figure:
    """Return *hits* / *n* with Wilson's interval."""
    if not n:
        return Figure(None)
    share, z2 = hits / n, _Z**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return Figure(share, max(0.0, middle - half), min(1.0, middle + half), "Wilson", int(n))


def newcombe(hits: int, n: int, other_hits: int, other_n: int) -> Figure:
    """Return the difference of two shares of different items, *hits* / *n* - *other_hits* / *other_n*."""
    a, b = wilson(hits, n), wilson(other_hits, other_n)
    if a.value is None or b.value is None:
        return Figure(None)
    assert a.low is not None
    assert a.high is not None
    assert b.low is not None
    assert b.high is not None
    gap = a.value - b.value
    low = gap - math.hypot(a.value - a.low, b.high - b.value)
    return Figure(gap, low, gap + math.hypot(a.high - a.value, b.value - b.low), "Newcombe", n + other_n)


def resampled(groups: Sequence[Hashable], draws: int = DRAWS) -> list[list[int]]:
    """Return *draws* resamples of the items, as indices; whole groups are drawn, with a fixed seed."""
    members = list(_members(groups).values())
    return [[i for g in row for i in members[g]] for row in _drawn(len(members), draws).tolist()]


def resampled_counts(cells: Sequence[int], groups: Sequence[Hashable], kinds: int) -> list[list[int]]:
    """Return how often each of the *kinds* of cells occurs in the resamples that `resampled` gives."""
    import numpy as np

    members = list(_members(groups).values())
    counts = np.array([np.bincount([cells[i] for i in inside], minlength=kinds) for inside in members])
    out: list[list[int]] = [counts[row].sum(axis=0).tolist() for row in _drawn(len(members), DRAWS)]
    return out


def _members(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    by: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        by.setdefault(group, []).append(index)
    return by


def _drawn(n: int, draws: int) -> Any:
    import numpy as np

    rng = np.random.default_rng(_SEED)
    return rng.integers(n, size=(draws, n)) if n else np.empty((0, 0), dtype=int)


def bootstrap(
    statistic: Callable[[Sequence[int]], float | None], groups: Sequence[Hashable], draws: int = DRAWS
) -> Figure:
    """Return *statistic* of all items (given as indices) with its percentile interval.

    A resample in which it has no value counts as beyond both ends; where these are so many that an end is among
    them, there is no such end.
    """
    value = statistic(range(len(groups)))
    seen = [] if value is None else [statistic(sample) for sample in resampled(groups, draws)]
    return percentiles(value, seen, len(groups))


def percentiles(value: float | None, seen: Sequence[float | None], n: int) -> Figure:
    """Return *value*, of *n* items, with the interval of what resamples gave; None where one had no value."""
    if value is None:
        return Figure(None, n=n)
    known = sorted(v for v in seen if v is not None)
    missing = len(seen) - len(known)
    at_low, at_high = math.ceil(0.025 * len(seen)) - 1 - missing, math.ceil(0.975 * len(seen)) - 1
    low = known[at_low] if 0 <= at_low < len(known) else None
    high = known[at_high] if at_high < len(known) else None
    return Figure(value, low, high, "bootstrap", n)
