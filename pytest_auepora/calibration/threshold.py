"""From a judge's score to yes or no: a threshold fixed beforehand, or chosen so that the choice flatters nobody.

A threshold chosen and measured on the same labels looks better than it is.  ``cv`` therefore says of every item
what the threshold chosen without its fold says; ``split`` chooses on one half and measures on the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Literal

from ..errors import MetricError
from .agreement import table_of

__all__ = ["Cut", "Way", "best_threshold", "cut_scores"]

Way = Literal["fixed", "cv", "split"]
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Cut:
    """What the judge says of the items that are measured.

    Attributes:
        way: how the threshold was found.
        threshold: the one to use from now on; a score that reaches it means yes.
        measured: indices of the items whose labels the threshold has not seen.
        yes: what the judge says of each of them.
    """

    way: Way
    threshold: float
    measured: list[int]
    yes: list[bool]


def cut_scores(way: str, people: Sequence[bool], scores: Sequence[float], groups: Sequence[str]) -> Cut:
    """Turn *scores* into yes and no.

    Args:
        way: a number, ``"cv"`` or ``"split"``.
        people: what people say of each item.
        scores: what the judge says.
        groups: items that are not independent share one; they stay together.

    Raises:
        MetricError: *way* is none of these, or there are too few items to choose a threshold.
    """
    if way not in ("cv", "split"):
        try:
            threshold = float(way)
        except ValueError:
            threshold = math.nan
        if not math.isfinite(threshold):
            raise MetricError(f"a threshold is a number, cv or split, got {way!r}")
        return Cut("fixed", threshold, list(range(len(scores))), [s >= threshold for s in scores])
    folds = _folds(groups, FOLDS if way == "cv" else 2)
    if len(set(folds)) < 2 or len(set(people)) < 2:
        raise MetricError(f"--threshold {way} needs labels of both kinds on more than one independent item")
    measured, yes = [], []
    for fold in sorted(set(folds)) if way == "cv" else [1]:
        rest = [i for i, f in enumerate(folds) if f != fold]
        threshold = best_threshold([people[i] for i in rest], [scores[i] for i in rest])
        inside = [i for i, f in enumerate(folds) if f == fold]
        measured += inside
        yes += [scores[i] >= threshold for i in inside]
    if way == "cv":
        threshold = best_threshold(people, scores)
        return Cut("cv", threshold, measured, yes)
    return Cut("split", threshold, measured, yes)


def best_threshold(people: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the threshold of the greatest J; among equals the one nearest to 0.5, half way between two scores."""
    distinct = sorted(set(scores))
    candidates = [(a + b) / 2 for a, b in pairwise(distinct)] or [0.5]

    def quality(threshold: float) -> tuple[float, float]:
        j = table_of(people, [s >= threshold for s in scores]).youden_j
        return (-math.inf if j is None else round(j, 9), -abs(threshold - 0.5))

    return max(candidates, key=quality)


def _folds(groups: Sequence[str], n: int) -> list[int]:
    """Deal whole groups out to *n* folds, in an order that depends on their names alone."""
    order = sorted(set(groups), key=lambda group: sha256(group.encode("utf-8", "surrogatepass")).digest())
    fold = {group: i % n for i, group in enumerate(order)}
    return [fold[group] for group in groups]
