"""How well a ranking is ordered: reciprocal rank, average precision, discounted gain; and many rankings at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ..errors import MetricError
from .options import choice
from .ranking.matching import Matching, Ranking, Worth, at_least_one, at_most_one
from .registry import Registry
from .retrieval_basic import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .ranking.many import Qrels, RankedLists

__all__ = ["MRRAtK", "MeanAveragePrecision", "NDCGAtK", "RankingScores", "score_rankings"]

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
    formula = "1 / rank of the first relevant document, 0 if none in the top k"
    source = "trec_eval recip_rank"
    oracle = "pytrec_eval recip_rank, ir_measures RR@k, 1e-12"

    def value(self, ranking: Ranking) -> Any:
        """Return 1 / rank, or 0."""
        return ranking.reciprocal_rank(self.k)

    def details(self, ranking: Ranking) -> dict[str, Any]:
        """Return the ``rank`` of the first relevant slot in the whole list, or None."""
        return {"rank": ranking.first_rank}


@dataclass(eq=False, repr=False)
class MeanAveragePrecision(Ranked):
    """Mean of the precision at each relevant slot of the top k, over all relevant or those found."""

    k: int | None = None
    norm: str = choice("all", "found")

    stem = "map@{k}"
    formula = "sum of precision at each relevant rank of the top k / relevant; norm=found: / relevant found there"
    source = "trec_eval map, map_cut"
    oracle = "pytrec_eval map and map_cut, 1e-12"

    def value(self, ranking: Ranking) -> Any:
        """Return the average precision; nothing found is 0."""
        denominator = at_least_one(ranking.hits(self.k) if self.norm == "found" else ranking.distinct_relevant(self.k))
        return ranking.precisions(self.k) / denominator


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
    formula = (
        "DCG@k / ideal DCG@k, DCG = sum of (2^grade - 1) / log2(rank + 1); linear: grade, binary: 1 / log2(rank + 1)"
    )
    source = "Burges et al. 2005; linear: Järvelin and Kekäläinen 2002, trec_eval ndcg_cut"
    oracle = "ranx ndcg_burges; linear: pytrec_eval ndcg_cut, 1e-12"

    def __post_init__(self, gain_scheme: str | None) -> None:
        self.gain = self.gain if gain_scheme is None else gain_scheme
        super().__post_init__()

    def value(self, ranking: Ranking) -> Any:
        """Return the share of the ideal gain; the ideal order is over every relevant label, returned or not."""
        worth = _WORTH[self.gain]
        return at_most_one(ranking.gain(self.k, worth) / ranking.ideal_gain(self.k, worth))


def score_rankings(qrels: Qrels, run: RankedLists, metrics: Iterable[str | Ranked]) -> RankingScores:
    """Score the rankings of many queries, as pytrec_eval does.

    Args:
        qrels: the judgments.
        run: what was returned.  A judged query that is not in it returned nothing, and scores so.
        metrics: names (``"recall@5"``, ``"ndcg@10"``) or objects of the metrics over a ranking.

    Returns:
        Query id → metric → score.  Queries without a relevant document have no score and are left out, as are those
        of *run* that nobody judged.

    Raises:
        MetricError: a metric is not one over rankings of ids, or holds them in a way of its own (``_doc``, ``ties``,
            ``duplicates``, ``unjudged``): `Metric.compute` does that.
        UnknownNameError: no metric has that name.
    """
    import numpy as np

    from .ranking.many import match_rankings

    chosen = [_as_ranked(m) for m in metrics]
    batch: Any = match_rankings(qrels, run)
    return RankingScores(batch.queries, {m.name: np.asarray(m.value(batch), float) for m in chosen})


class RankingScores(Mapping[str, dict[str, float]]):
    """What many rankings scored: query id → metric → score, to be read like the dictionary of dictionaries it equals.

    Scores are kept as columns; the dictionary of each query, which takes longer than most of the scoring, is made when
    first asked for.

    Attributes:
        queries: the ids, in the order of the judgments.
        columns: metric → the scores of all queries, in that order.
    """

    def __init__(self, queries: list[str], columns: dict[str, NDArray[Any]]) -> None:
        self.queries, self.columns = queries, columns

    def means(self) -> dict[str, float]:
        """Return the mean of each metric over the queries, as `Metric.compute` gives it; 0 if there are none."""
        return {
            name: sum(column.tolist()) / len(column) if len(column) else 0.0 for name, column in self.columns.items()
        }

    @cached_property
    def _by_query(self) -> dict[str, dict[str, float]]:
        names = list(self.columns)
        columns = [column.tolist() for column in self.columns.values()]
        rows = zip(*columns, strict=True) if columns else repeat(())
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(self.queries, rows, strict=False)}

    def __getitem__(self, query: str) -> dict[str, float]:
        return self._by_query[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_query)

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} queries by {', '.join(self.columns)}>"


def _as_ranked(metric: str | Ranked) -> Ranked:
    resolved: Any = Registry().get(metric) if isinstance(metric, str) else metric
    if not isinstance(resolved, Ranked):
        raise MetricError(f"{getattr(resolved, 'name', resolved)!r} is not a metric over a ranking of document ids")
    if resolved.matching != Matching():
        raise MetricError(f"{resolved.name!r} does not hold rankings as they are; score it with compute()")
    return resolved
