"""The rates of a row, and tables of them in Markdown with a column for each size of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Rates(NamedTuple):
    """What all runs of a row came to.

    Attributes:
        red: share of the red runs; ``error`` is its standard error, baselines being drawn.
        unlucky: the 95th percentile over baselines of the same share.
        by_case, by_suite: share of runs red by a case, by the suite.
        words: the share of each word.
        calls, most_calls: further answers, the mean and the 95th percentile of runs.
        asked: answers that an update asks for.
        others: share of the runs that would be red by each of `RULES`.
    """

    red: float
    error: float
    unlucky: float
    by_case: float
    by_suite: float
    words: dict[str, float]
    calls: float
    most_calls: float
    asked: float
    others: Sequence[float]


def table(head: str, sizes: Sequence[int], lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a Markdown table with a column a size."""
    out = [f"| {head} | {' | '.join(f'n = {n}' for n in sizes)} |", f"|---|{'--:|' * len(sizes)}"]
    return [*out, *(f"| {name} | {' | '.join(cells)} |" for name, cells in lines.items()), ""]
