"""How well a ranking is ordered: reciprocal rank, average precision, discounted gain; and many rankings at once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import InitVar, replace
from typing import Any

from ..core.types import EvaluationSample
from ..errors import MetricError
from .options import choice
from .ranking.matching import Matching, Ranking, Worth, ranking_of_ids
from .registry import Registry
from .retrieval_basic import Ranked

Qrels = Mapping[str, Mapping[str, int] | Collection[str]]
"""Query id → what is relevant: document id → grade (1 and above is relevant), or just the ids."""

RankedLists = Mapping[str, Sequence[str] | Mapping[str, float]]
"""Query id → document ids, best first; or document id → score, read as trec_eval does: by score, then id, falling."""

_WORTH: dict[str, Worth] = {
    "exp": lambda grade: (1 << grade) - 1,
    "linear": lambda grade: grade,
    "binary": lambda grade: min(grade, 1),
}


class _OrByLabels(Ranked):
    """Reads ``chunk_labels`` of a case that has no ``relevant_docs``: sufficient evidence is grade 2, topical 1."""

    def read_case(self, sample: EvaluationSample) -> EvaluationSample:
        if sample.relevant_docs is None and sample.labels.get("chunk_labels") is not None:
            from .annotation.labels import graded_documents

            sample = replace(sample, relevant_docs=graded_documents(sample))
        return super().read_case(sample)


class MRRAtK(_OrByLabels):
    """1 / rank of the first relevant slot; 0 if there is none, or none in the top k.

    A case with ``chunk_labels`` and without ``relevant_docs`` is scored by these.
    """

    k: int | None = None

    stem = "mrr@{k}"
    formula = "1 / rank of the first relevant document, 0 if none in the top k"
    source = "trec_eval recip_rank"
    oracle = "pytrec_eval recip_rank, ir_measures RR@k, 1e-12"

    def value(self, ranking: Ranking) -> float:
        return 1 / (ranking.slots[0] + 1) if ranking.hits(self.k) else 0.0

    def details(self, ranking: Ranking) -> dict[str, Any]:
        """Return the ``rank`` of the first relevant slot in the whole list, or None."""
        return {"rank": ranking.first_rank}


class MeanAveragePrecision(Ranked):
    """Mean of the precision at each relevant slot of the top k, over all relevant or those found."""

    k: int | None = None
    norm: str = choice("all", "found")

    stem = "map@{k}"
    formula = "sum of precision at each relevant rank of the top k / relevant; norm=found: / relevant found there"
    source = "trec_eval map, map_cut"
    oracle = "pytrec_eval map and map_cut, 1e-12"

    def value(self, ranking: Ranking) -> float:
        n = ranking.hits(self.k) if self.norm == "found" else len(ranking.ideal_grades(self.k))
        return ranking.precisions(self.k) / max(n, 1)


class NDCGAtK(_OrByLabels):
    """Discounted cumulative gain of the top k, as a share of what an ideal order of all labels would have.

    A case with ``chunk_labels`` and without ``relevant_docs`` is scored by these: sufficient evidence is grade 2,
    topical relevance 1.

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

    def value(self, ranking: Ranking) -> float:
        worth = _WORTH[self.gain]
        return min(ranking.gain(self.k, worth) / ranking.ideal_gain(self.k, worth), 1.0)


class RankingScores(dict[str, dict[str, float]]):
    """What many rankings scored: query id → metric → score."""

    def means(self) -> dict[str, float]:
        """Return the mean of each metric over the queries, as `Metric.compute` gives it; empty without a query."""
        names = next(iter(self.values()), {})
        return {name: sum(scores[name] for scores in self.values()) / len(self) for name in names}


def score_rankings(qrels: Qrels, run: RankedLists, metrics: Iterable[str | Ranked]) -> RankingScores:
    """Score the rankings of many queries, as pytrec_eval does; an id returned twice counts at its first place.

    Args:
        qrels: the judgments.
        run: what was returned.  A judged query that is not in it returned nothing, and scores so.
        metrics: names (``"recall@5"``, ``"ndcg@10"``) or objects of the metrics over a ranking.

    Returns:
        The scores.  Queries without a relevant document have none and are left out, as are those of *run* that nobody
        judged.

    Raises:
        MetricError: a metric is not one over rankings of ids, or holds them in a way of its own (``_doc``, ``ties``,
            ``duplicates``, ``unjudged``): `Metric.compute` does that.  Or a score is NaN, or a text stands where a
            list of ids should.
        UnknownNameError: no metric has that name.
    """
    chosen = [_as_ranked(metric) for metric in metrics]
    scores = RankingScores()
    for query, judged in qrels.items():
        grades = judged if isinstance(judged, Mapping) else dict.fromkeys(judged, 1)
        if relevant := {doc: grade for doc, grade in grades.items() if grade > 0}:
            ranking = ranking_of_ids(relevant, _ordered_ids(query, run.get(query, ())))
            scores[query] = {metric.name: metric.value(ranking) for metric in chosen}
    return scores


def _ordered_ids(query: str, returned: Sequence[str] | Mapping[str, float]) -> Sequence[str]:
    if isinstance(returned, str):
        raise MetricError(f"query {query!r} has the text {returned!r} where a list of document ids is expected")
    if not isinstance(returned, Mapping):
        return returned
    if any(map(math.isnan, returned.values())):
        raise MetricError(f"a score of query {query!r} is NaN")
    return sorted(returned, key=lambda doc: (returned[doc], doc), reverse=True)


def _as_ranked(metric: str | Ranked) -> Ranked:
    resolved: Any = Registry().get(metric) if isinstance(metric, str) else metric
    if not isinstance(resolved, Ranked):
        raise MetricError(f"{getattr(resolved, 'name', resolved)!r} is not a metric over a ranking of document ids")
    if resolved.matching != Matching():
        raise MetricError(f"{resolved.name!r} does not hold rankings as they are; score it with compute()")
    return resolved
