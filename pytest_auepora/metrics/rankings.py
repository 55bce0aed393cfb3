"""Many rankings at once: one pass finds where the relevant documents stand, every metric reads from that.

The numbers are those of the metrics' own `measure`, to the last bit; what is left out is an object per case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..core.garbage import garbage_collection_paused
from ..errors import MetricError
from .relevance import Matching, Ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .retrieval_basic import Ranked

__all__ = ["Hits", "Qrels", "RankedLists", "find_hits", "score_rankings"]

Qrels = Mapping[str, Mapping[str, int] | Collection[str]]
"""Query id → what is relevant: document id → grade (1 and above is relevant), or just the ids."""

RankedLists = Mapping[str, Sequence[str] | Mapping[str, float]]
"""Query id → document ids, best first; or document id → score, read as trec_eval does: by score, then id, falling."""


def score_rankings(qrels: Qrels, run: RankedLists, metrics: Iterable[str | Ranked]) -> dict[str, dict[str, float]]:
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
    chosen = [_ranked(m) for m in metrics]
    names = [m.name for m in chosen]
    with garbage_collection_paused():
        hits = find_hits(qrels, run)
        rows = zip(*(m.score_all(hits).tolist() for m in chosen), strict=True)
        return {query: dict(zip(names, row, strict=True)) for query, row in zip(hits.queries, rows, strict=True)}


def _ranked(metric: str | Ranked) -> Ranked:
    from .registry import Registry
    from .retrieval_basic import Ranked

    found: Any = Registry().get(metric) if isinstance(metric, str) else metric
    if not isinstance(found, Ranked):
        raise MetricError(f"{getattr(found, 'name', found)!r} is no metric over a ranking of document ids")
    if found.matching != Matching():
        raise MetricError(f"{found.name!r} does not hold rankings as they are; score it with compute()")
    return found


@dataclass(eq=False)
class Hits:
    """Where the relevant documents of some queries stand.

    ``queries`` are those with a relevant document.  Of the other arrays, ``wanted`` (how many are relevant) and
    ``depths`` (how many were returned) have one value per query; ``slots`` (0-based), ``grades`` and ``owners`` (the
    query's index) one per relevant document found, by query and rank.  ``ideals`` are each query's grades in falling
    order, or None where all grades are 1.
    """

    queries: list[str]
    wanted: NDArray[Any]
    depths: NDArray[Any]
    slots: NDArray[Any]
    grades: NDArray[Any]
    owners: NDArray[Any]
    ideals: list[list[int]] | None

    def per_query(self, hits: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the sum of *weights* (or the count) of the chosen *hits* for each query, added in rank order."""
        import numpy as np

        return np.bincount(self.owners[hits], weights, minlength=len(self.queries))

    def top(self, k: int | None) -> NDArray[Any]:
        """Return which hits lie in the top *k* (all for None)."""
        import numpy as np

        return np.ones(len(self.slots), bool) if k is None else self.slots < k

    @cached_property
    def counts(self) -> NDArray[Any]:
        """For each hit, how many relevant documents its query has found up to and with it."""
        import numpy as np

        found = np.bincount(self.owners, minlength=len(self.queries))
        starts = np.cumsum(found) - found
        counts: NDArray[Any] = np.arange(len(self.slots)) - starts[self.owners] + 1
        return counts

    def discounted(self, hits: NDArray[Any], worth: Callable[[int], int]) -> NDArray[Any]:
        """Return the discounted cumulative gain of the chosen *hits*, for each query."""
        return self.per_query(hits, _worths(self.grades[hits], worth) / _log2s(self.slots[hits]))

    def ideal(self, k: int, worth: Callable[[int], int]) -> NDArray[Any]:
        """Return the discounted cumulative gain of the best possible top *k*, for each query."""
        import numpy as np

        sizes = np.minimum(self.wanted, k)
        slots = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        if self.ideals is None:
            grades = np.ones(len(slots), int)
        else:
            grades = np.fromiter((g for ideal in self.ideals for g in ideal[:k]), int, len(slots))
        return np.bincount(owners, _worths(grades, worth) / _log2s(slots), minlength=len(sizes))

    def rankings(self) -> Iterable[Ranking]:
        """Yield each query's pass as single cases have it, for metrics that have no formula over many."""
        import numpy as np

        ends = np.cumsum(np.bincount(self.owners, minlength=len(self.queries)))
        for q, (start, end) in enumerate(zip([0, *ends.tolist()], ends.tolist(), strict=False)):
            wanted = int(self.wanted[q])
            slots, names = self.slots[start:end].tolist(), [str(i) for i in range(wanted)]
            ideal = [1] * wanted if self.ideals is None else self.ideals[q]
            place = dict(zip(names, slots, strict=False))
            yield Ranking(names, ideal, slots, self.grades[start:end].tolist(), slots, place, int(self.depths[q]))


def find_hits(qrels: Qrels, run: RankedLists) -> Hits:
    """Hold every ranking of *run* against its judgments; an id returned twice counts at its first place.

    Raises:
        MetricError: a score is NaN, or a text stands where a list of ids should.
    """
    import numpy as np

    relevant = _relevant(qrels)
    returned = _in_order(run, relevant)
    slots, found = list[int](), list[int]()
    for judged, ids in zip(relevant.values(), returned, strict=True):
        here = judged.keys() & ids
        found.append(len(here))
        if here:
            slots += sorted(map(ids.index, here))
    owners = np.repeat(np.arange(len(relevant)), found)
    ideals = None
    if graded := set(chain.from_iterable(map(dict.values, relevant.values()))) - {1}:
        judgments = list(relevant.values())
        grades = [judgments[q][returned[q][slot]] for q, slot in zip(owners.tolist(), slots, strict=True)]
        ideals = [sorted(judged.values(), reverse=True) for judged in judgments]
    return Hits(
        queries=list(relevant),
        wanted=np.fromiter(map(len, relevant.values()), int, len(relevant)),
        depths=np.fromiter(map(len, returned), int, len(relevant)),
        slots=np.array(slots, int),
        grades=np.array(grades, int) if graded else np.ones(len(slots), int),
        owners=owners,
        ideals=ideals,
    )


def _relevant(qrels: Qrels) -> dict[str, dict[str, int]]:
    """Return the relevant documents and their grades, for each query that has any."""
    out: dict[str, dict[str, int]] = {}
    for query, given in qrels.items():
        judged = given if isinstance(given, dict) else _graded(given)
        if judged and min(judged.values()) < 1:
            judged = {doc: grade for doc, grade in judged.items() if grade > 0}
        if judged:
            out[query] = judged
    return out


def _graded(given: Mapping[str, int] | Collection[str]) -> dict[str, int]:
    return dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, 1)


def _in_order(run: RankedLists, queries: Iterable[str]) -> list[Sequence[str]]:
    """Return what was returned for each of *queries*, best first."""
    out: list[Sequence[str]] = []
    for query in queries:
        ids = run.get(query, ())
        if isinstance(ids, str):
            raise MetricError(f"query {query!r} has the text {ids!r} where a list of document ids is expected")
        out.append(_by_score(query, ids) if isinstance(ids, Mapping) else ids)
    return out


def _by_score(query: str, scores: Mapping[str, float]) -> list[str]:
    if any(map(math.isnan, scores.values())):
        raise MetricError(f"a score of query {query!r} is NaN")
    return [doc for _, doc in sorted(((score, doc) for doc, score in scores.items()), reverse=True)]


def _worths(grades: NDArray[Any], worth: Callable[[int], int]) -> NDArray[Any]:
    import numpy as np

    kinds, which = np.unique(grades, return_inverse=True)
    return np.array([float(worth(g)) for g in kinds.tolist()])[which] if len(kinds) else np.zeros(0)


def _log2s(slots: NDArray[Any]) -> NDArray[Any]:
    """Return log2(rank + 1) by math's own log2, which numpy's differs from in the last bit."""
    import numpy as np

    deepest = int(slots.max()) + 1 if len(slots) else 0
    return np.array([math.log2(slot + 2) for slot in range(deepest)])[slots] if deepest else np.zeros(0)
