"""How well a ranking is ordered: reciprocal rank, average precision, discounted gain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..core.metrics_base import Measurement
from ..core.types import TargetCategory
from .options import choice
from .relevance import Ranking
from .retrieval_basic import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .rankings import Hits

__all__ = ["MRRAtK", "MeanAveragePrecision", "NDCGAtK"]

_DEPTH = 1024
_LOG2 = [math.log2(rank + 1) for rank in range(1, _DEPTH + 1)]
_IDEAL = [0.0, *accumulate(1 / log for log in _LOG2)]  # of 0, 1, 2, … documents of gain 1
_WORTH: dict[str, Callable[[int], int]] = {
    "exp": lambda grade: (1 << grade) - 1,
    "linear": lambda grade: grade,
    "binary": lambda grade: min(grade, 1),
}


@dataclass(eq=False, repr=False)
class MRRAtK(Ranked):
    """1 / rank of the first relevant slot; 0 if there is none, or none in the top k."""

    k: int | None = None

    stem = "mrr@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    formula = "1 / rank of the first relevant document, 0 if none in the top k"
    source = "trec_eval recip_rank"
    oracle = "pytrec_eval recip_rank, ir_measures RR@k, 1e-12"

    def score(self, held: Ranking) -> Measurement:
        """Details: ``rank`` of the first relevant slot in the whole list, or None."""
        rank = held.slots[0] + 1 if held.slots else None
        return Measurement(1 / rank if rank and held.hits(self.k) else 0.0, details={"rank": rank})

    def score_all(self, hits: Hits) -> NDArray[Any]:
        """Return 1 / rank for each ranking."""
        first = hits.top(self.k) & (hits.counts == 1)
        return hits.per_query(first, 1 / (hits.slots[first] + 1))


@dataclass(eq=False, repr=False)
class MeanAveragePrecision(Ranked):
    """Mean of the precision at each relevant slot of the top k, over all relevant or those found."""

    k: int | None = None
    norm: str = choice("all", "found")

    stem = "map@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    formula = "sum of precision at each relevant rank of the top k / relevant; norm=found: / relevant found there"
    source = "trec_eval map, map_cut"
    oracle = "pytrec_eval map and map_cut, 1e-12"

    def score(self, held: Ranking) -> Measurement:
        """Nothing found is 0."""
        n = held.hits(self.k)
        total = 0.0
        for count, slot in enumerate(held.slots[:n], 1):
            total += count / (slot + 1)
        over = n if self.norm == "found" else len(held.wanted(self.k))
        return Measurement(total / over if over else 0.0)

    def score_all(self, hits: Hits) -> NDArray[Any]:
        """Return the average precision of each ranking."""
        top = hits.top(self.k)
        total = hits.per_query(top, hits.counts[top] / (hits.slots[top] + 1))
        means: NDArray[Any] = total / (hits.per_query(top).clip(1) if self.norm == "found" else hits.wanted)
        return means


@dataclass(eq=False, repr=False)
class NDCGAtK(Ranked):
    """Discounted cumulative gain of the top k, as a share of what an ideal order of all labels would have.

    Options:
        gain: what a grade is worth: ``"exp"`` 2^grade - 1, ``"linear"`` the grade, ``"binary"`` 1.
    """

    k: int
    gain: str = choice("exp", "linear", "binary")

    stem = "ndcg@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    formula = (
        "DCG@k / ideal DCG@k, DCG = sum of (2^grade - 1) / log2(rank + 1); linear: grade, binary: 1 / log2(rank + 1)"
    )
    source = "Burges et al. 2005; linear: Järvelin and Kekäläinen 2002, trec_eval ndcg_cut"
    oracle = "ranx ndcg_burges; linear: pytrec_eval ndcg_cut, 1e-12"

    def score(self, held: Ranking) -> Measurement:
        """The ideal order is over every relevant label, returned or not."""
        n, wanted = held.hits(self.k), held.wanted(self.k)
        dcg = self._discounted(held.slots[:n], held.grades)
        if (wanted[0] == 1 or self.gain == "binary") and (size := min(self.k, len(wanted))) <= _DEPTH:
            ideal = _IDEAL[size]
        else:
            ideal = self._discounted(range(min(self.k, len(wanted))), wanted)
        return Measurement(min(dcg / ideal, 1.0))

    def score_all(self, hits: Hits) -> NDArray[Any]:
        """Return the normalised gain of each ranking."""
        worth = _WORTH[self.gain]
        gains: NDArray[Any] = hits.discounted(hits.top(self.k), worth) / hits.ideal(self.k, worth)
        return gains.clip(max=1.0)

    def _discounted(self, slots: Iterable[int], grades: Iterable[int]) -> float:
        # added one by one: sum() rounds differently from Python 3.12 on, and an ideal order must give exactly 1
        total, worth = 0.0, _WORTH[self.gain]
        for slot, grade in zip(slots, grades, strict=False):
            total += worth(grade) / (_LOG2[slot] if slot < _DEPTH else math.log2(slot + 2))
        return total
