"""How well a ranking is ordered: reciprocal rank, average precision, discounted gain."""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any

from ..core.types import TargetCategory
from .options import choice
from .ranking.held import Held, Ranking, Worth, at_least_one, at_most_one
from .retrieval_basic import Ranked

__all__ = ["MRRAtK", "MeanAveragePrecision", "NDCGAtK"]

_WORTH: dict[str, Worth] = {
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

    def value(self, held: Held) -> Any:
        """Return 1 / rank, or 0."""
        return held.reciprocal_rank(self.k)

    def details(self, held: Ranking) -> dict[str, Any]:
        """Return the ``rank`` of the first relevant slot in the whole list, or None."""
        return {"rank": held.first_rank}


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

    def value(self, held: Held) -> Any:
        """Return the average precision; nothing found is 0."""
        over = at_least_one(held.hits(self.k) if self.norm == "found" else held.separate(self.k))
        return held.precisions(self.k) / over


@dataclass(eq=False, repr=False)
class NDCGAtK(Ranked):
    """Discounted cumulative gain of the top k, as a share of what an ideal order of all labels would have.

    Options:
        gain: what a grade is worth: ``"exp"`` 2^grade - 1, ``"linear"`` the grade, ``"binary"`` 1; also called
            ``gain_scheme``.
    """

    k: int
    gain: str = choice("exp", "linear", "binary")
    gain_scheme: InitVar[str | None] = None

    stem = "ndcg@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    formula = (
        "DCG@k / ideal DCG@k, DCG = sum of (2^grade - 1) / log2(rank + 1); linear: grade, binary: 1 / log2(rank + 1)"
    )
    source = "Burges et al. 2005; linear: Järvelin and Kekäläinen 2002, trec_eval ndcg_cut"
    oracle = "ranx ndcg_burges; linear: pytrec_eval ndcg_cut, 1e-12"

    def __post_init__(self, gain_scheme: str | None) -> None:
        self.gain = self.gain if gain_scheme is None else gain_scheme
        super().__post_init__()

    def value(self, held: Held) -> Any:
        """Return the share of the ideal gain; the ideal order is over every relevant label, returned or not."""
        worth = _WORTH[self.gain]
        return at_most_one(held.gain(self.k, worth) / held.ideal_gain(self.k, worth))
