"""Agreement of two or more raters, with confidence intervals.

κ: Cohen, Educational and Psychological Measurement 20 (1960); weighted: Cohen, Psychological Bulletin 70 (1968).
α: Krippendorff, Content Analysis (2004), chapter 11.  J = sensitivity + specificity - 1: Youden, Cancer 3 (1950).

Intervals are two-sided, 95 %.  Bootstrap: percentiles over resampled groups of items, so that answers to one question,
which are alike, count as one.  Wilson: JASA 22 (1927).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, permutations
from typing import Any, Literal

import numpy as np

from ..base.grouping import grouped
from ..regression.guards.calibration import Estimate

_DRAWS = 2000
_Z = 1.959963984540054
_SEED = 20_160_613

Level = Literal["nominal", "ordinal", "interval"]
"""What the distance of two values means: different or not; how many values lie between; their difference."""


def wilson(hits: float, n: float) -> Estimate:
    """Return *hits* / *n* with Wilson's interval."""
    if not n:
        return Estimate(None)
    share, z2 = hits / n, _Z**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half), "Wilson", int(n))


def resample(groups: Sequence[Hashable], draws: int = _DRAWS) -> list[list[int]]:
    """Return *draws* resamples of the items, as indices; whole groups are drawn, with a fixed seed."""
    members = list(grouped((group, i) for i, group in enumerate(groups)).values())
    if not members:
        return []
    rows = np.random.default_rng(_SEED).integers(len(members), size=(draws, len(members)))
    return [[i for group in row for i in members[group]] for row in rows.tolist()]


def bootstrap(
    statistic: Callable[[Sequence[int]], float | None], groups: Sequence[Hashable], draws: int = _DRAWS
) -> Estimate:
    """Return *statistic* of all items (given as indices) with its percentile interval.

    A resample in which it has no value counts as beyond both ends; where these are so many that an end is among
    them, there is no such end.
    """
    value = statistic(range(len(groups)))
    estimates = [] if value is None else [statistic(sample) for sample in resample(groups, draws)]
    return percentiles(value, estimates, len(groups))


def percentiles(value: float | None, estimates: Sequence[float | None], n: int) -> Estimate:
    """Return *value*, of *n* items, with the percentile interval of *estimates*; None: a resample without a value."""
    if value is None:
        return Estimate(None, n=n)
    known = sorted(v for v in estimates if v is not None)
    missing = len(estimates) - len(known)
    at_low, at_high = math.ceil(0.025 * len(estimates)) - 1 - missing, math.ceil(0.975 * len(estimates)) - 1
    low = known[at_low] if 0 <= at_low < len(known) else None
    high = known[at_high] if at_high < len(known) else None
    return Estimate(value, low, high, "bootstrap", n)


@dataclass(frozen=True, slots=True)
class Table:
    """Counts of people's and the judge's labels.  ``tp``: both yes; ``fp``: only the judge; ``fn``: only people."""

    tp: float = 0
    fp: float = 0
    fn: float = 0
    tn: float = 0

    @property
    def n(self) -> float:
        """All items."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def sensitivity(self) -> float | None:
        """Of the items people say yes to, the share the judge says yes to; None without any."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else None

    @property
    def specificity(self) -> float | None:
        """Of the items people say no to, the share the judge says no to; None without any."""
        return self.tn / (self.tn + self.fp) if self.tn + self.fp else None

    @property
    def youden_j(self) -> float | None:
        """Sensitivity + specificity - 1: 0 for a guess, 1 without errors."""
        if self.sensitivity is None or self.specificity is None:
            return None
        return self.sensitivity + self.specificity - 1

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of sensitivity and specificity."""
        return None if self.youden_j is None else (self.youden_j + 1) / 2

    @property
    def kappa(self) -> float | None:
        """Cohen's κ; None where both raters say the same of everything."""
        if not self.n:
            return None
        agree = (self.tp + self.tn) / self.n
        people, judge = (self.tp + self.fn) / self.n, (self.tp + self.fp) / self.n
        chance = people * judge + (1 - people) * (1 - judge)
        return (agree - chance) / (1 - chance) if chance < 1 else None

    @property
    def alpha(self) -> float | None:
        """Krippendorff's nominal α of the two; None where only one value occurs."""
        yes = 2 * self.tp + self.fp + self.fn
        no = 2 * self.tn + self.fp + self.fn
        if not yes or not no:
            return None
        return 1 - (yes + no - 1) * (self.fp + self.fn) / (yes * no)


def table_of(people: Sequence[bool], judge: Sequence[bool]) -> Table:
    """Count *people*'s labels against the *judge*'s; raises `ValueError` where there are more of one."""
    counts = Counter(zip(people, judge, strict=True))
    return Table(counts[True, True], counts[False, True], counts[True, False], counts[False, False])


def quadratic_kappa(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Cohen's κ of two raters, whose differences count by the square of their size.

    None for no items, and where both gave one same value to all of them.  Raises `ValueError` for unequal numbers.
    """
    left, right = Counter(first), Counter(second)
    observed = sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
    expected = sum((a - b) ** 2 * left[a] * right[b] for a in left for b in right)
    return 1 - (observed / len(first)) / (expected / len(first) ** 2) if expected else None


def krippendorff_alpha(units: Sequence[Sequence[Any]], level: Level = "nominal") -> float | None:
    """Return Krippendorff's α over *units*: the values each item was given, by however many raters.

    Items with fewer than two values say nothing and are left out.  None where nothing is left or only one value
    occurs.
    """
    pairable = [list(values) for values in units if len(values) > 1]
    totals = Counter(value for values in pairable for value in values)
    distance = _distance(level, totals)
    observed = sum(sum(distance(a, b) for a, b in permutations(values, 2)) / (len(values) - 1) for values in pairable)
    expected = sum(distance(a, b) * totals[a] * totals[b] for a in totals for b in totals)
    return 1 - (sum(totals.values()) - 1) * observed / expected if expected else None


def _distance(level: Level, totals: Mapping[Any, int]) -> Callable[[Any, Any], float]:
    if level == "nominal":
        return lambda a, b: float(a != b)
    if level == "interval":
        return lambda a, b: float((a - b) ** 2)
    values = sorted(totals)
    below = accumulate((totals[value] for value in values), initial=0)
    ranks = {value: n_below + totals[value] / 2 for value, n_below in zip(values, below, strict=False)}
    return lambda a, b: (ranks[a] - ranks[b]) ** 2
