"""Many rankings at once: one pass finds the ranks of the relevant documents; metrics score them as arrays."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MetricError
from .matching import Worth

Qrels = Mapping[str, Mapping[str, int] | Collection[str]]
"""Query id → what is relevant: document id → grade (1 and above is relevant), or just the ids."""

RankedLists = Mapping[str, Sequence[str] | Mapping[str, float]]
"""Query id → document ids, best first; or document id → score, read as trec_eval does: by score, then id, falling."""


@dataclass(eq=False)
class _RankingBatch:
    """The rankings of many queries: has the methods of `Ranking`, which return arrays.

    ``queries`` are those with a relevant document.  Of the other arrays, ``n_relevant`` (relevant documents) and
    ``depths`` (how many were returned) have one value per query; ``slots`` (0-based), ``grades`` and ``owners`` (the
    query's index) one per relevant document found, by query and rank.  ``ideals`` are each query's grades in falling
    order, or None where all grades are 1.
    """

    queries: list[str]
    n_relevant: NDArray[Any]
    depths: NDArray[Any]
    slots: NDArray[Any]
    grades: NDArray[Any]
    owners: NDArray[Any]
    ideals: list[list[int]] | None

    def hits(self, k: Any) -> NDArray[Any]:
        return self._sums(self._top(k))

    found_labels = hits

    def relevant(self, k: int | None = None) -> NDArray[Any]:
        return self.n_relevant if k is None else self.n_relevant.clip(max=k)

    def returned(self, k: int) -> NDArray[Any]:
        return self.depths.clip(max=k)

    def reciprocal_rank(self, k: int | None) -> NDArray[Any]:
        first = self._top(k) & (self._counts == 1)
        return self._sums(first, 1 / (self.slots[first] + 1))

    def precisions(self, k: int | None) -> NDArray[Any]:
        top = self._top(k)
        return self._sums(top, self._counts[top] / (self.slots[top] + 1))

    def distinct_relevant(self, k: int | None) -> NDArray[Any]:
        return self.n_relevant

    def gain(self, k: int, worth: Worth) -> NDArray[Any]:
        top = self._top(k)
        return self._sums(top, _worth_of(self.grades[top], worth) / _log2s(self.slots[top]))

    def ideal_gain(self, k: int, worth: Worth) -> NDArray[Any]:
        sizes = np.minimum(self.n_relevant, k)
        slots = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        if self.ideals is None:
            grades = np.ones(len(slots), int)
        else:
            grades = np.fromiter((g for ideal in self.ideals for g in ideal[:k]), int, len(slots))
        return np.bincount(owners, _worth_of(grades, worth) / _log2s(slots), minlength=len(sizes))

    def _top(self, k: Any) -> NDArray[Any]:
        """Return which slots lie in the top *k*: one for all rankings, an array with one for each, or None."""
        if k is None:
            return np.ones(len(self.slots), bool)
        return self.slots < (k if isinstance(k, int) else k[self.owners])

    def _sums(self, chosen: NDArray[Any], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the sum of *weights* (or the count) of the *chosen* slots for each query, added in rank order."""
        return np.bincount(self.owners[chosen], weights, minlength=len(self.queries))

    @cached_property
    def _counts(self) -> NDArray[Any]:
        """For each slot, how many relevant documents its query has found up to and with it."""
        totals = np.bincount(self.owners, minlength=len(self.queries))
        starts = np.cumsum(totals) - totals
        counts: NDArray[Any] = np.arange(len(self.slots)) - starts[self.owners] + 1
        return counts


def match_rankings(qrels: Qrels, run: RankedLists) -> _RankingBatch:
    """Match every ranking of *run* with its judgments; an id returned twice counts at its first place.

    Raises:
        MetricError: a score is NaN, or a text stands where a list of ids should.
    """
    relevant = _relevant_grades(qrels)
    judgments = list(relevant.values())
    returned: list[list[Any]] = [
        ids if type(ids) is list else _ranked_list(query, ids, relevant[query])
        for query, ids in zip(relevant, map(run.get, relevant), strict=True)
    ]
    n_after, n_missing = _find_relevant(judgments, returned)
    n_relevant = np.fromiter(map(len, judgments), int, len(judgments))
    depths = np.fromiter(map(len, returned), int, len(returned))
    owners = np.repeat(np.arange(len(judgments)), n_relevant - np.array(n_missing, int))
    slots = depths[owners] - 1 - np.array(n_after, int)
    grades, ideals = np.ones(len(slots), int), None
    if not {1}.issuperset(chain.from_iterable(grades.values() for grades in judgments)):
        places = zip(owners.tolist(), slots.tolist(), strict=True)
        grades = np.array([judgments[q][returned[q][slot]] for q, slot in places], int)
        ideals = [sorted(graded.values(), reverse=True) for graded in judgments]
    return _RankingBatch(list(relevant), n_relevant, depths, slots, grades, owners, ideals)


def _find_relevant(judgments: Iterable[Iterable[str]], returned: Sequence[list[str]]) -> tuple[list[int], list[int]]:
    """Return how many ids follow each relevant one, by ranking and rank; and how many relevant ones each ranking lacks.

    `set.isdisjoint` reads up to the first relevant id, and the list's iterator knows its place: one pass in C, faster
    than `list.index` for each id found.
    """
    n_after, n_missing = list[int](), list[int]()
    for missing, rest, ids in zip(map(set, judgments), map(iter, returned), returned, strict=True):
        while not missing.isdisjoint(rest):
            n_behind = rest.__length_hint__()  # type: ignore[attr-defined]  # exact for a list
            n_after.append(n_behind)
            missing.remove(ids[~n_behind])  # so that a repeat earns nothing
        n_missing.append(len(missing))
    return n_after, n_missing


def _relevant_grades(qrels: Qrels) -> dict[str, Mapping[str, int]]:
    """Return the grades of the relevant documents, for each query that has any."""
    relevant: dict[str, Mapping[str, int]] = {}
    for query, judged in qrels.items():
        grades = judged if isinstance(judged, Mapping) else dict.fromkeys(judged, 1)
        if grades and min(grades.values()) < 1:
            grades = {doc: grade for doc, grade in grades.items() if grade > 0}
        if grades:
            relevant[query] = grades
    return relevant


def _ranked_list(
    query: str, returned: Sequence[str] | Mapping[str, float] | None, judged: Mapping[str, int]
) -> list[Any]:
    """Return the ranking, best first.  Of scored documents only those of *judged* need their place."""
    if isinstance(returned, str):
        raise MetricError(f"query {query!r} has the text {returned!r} where a list of document ids is expected")
    if isinstance(returned, Mapping):
        return _sort_by_score(query, returned, judged)
    return [] if returned is None else list(returned)


def _sort_by_score(query: str, scores: Mapping[str, float], judged: Mapping[str, int]) -> list[str | None]:
    """Return the documents by score, then id, both falling, with None for those that *judged* does not have.

    The place of a document is that of its score among all scores, so only numbers are sorted.
    """
    # a sum is NaN where a score is, or where infinities cancel out; that is faster than a look at each
    if math.isnan(sum(scores.values())) and any(map(math.isnan, scores.values())):
        raise MetricError(f"a score of query {query!r} is NaN")
    sorted_scores = sorted(scores.values())
    places: list[str | None] = [None] * len(sorted_scores)
    for doc in judged.keys() & scores.keys():
        score = scores[doc]
        above = bisect_right(sorted_scores, score)
        slot = len(sorted_scores) - above
        if above - bisect_left(sorted_scores, score) > 1:
            slot += sum(1 for other, tied in scores.items() if tied == score and other > doc)
        places[slot] = doc
    return places


def _worth_of(grades: NDArray[Any], worth: Worth) -> NDArray[Any]:
    distinct, inverse = np.unique(grades, return_inverse=True)
    return np.array([float(worth(g)) for g in distinct.tolist()])[inverse] if len(distinct) else np.zeros(0)


def _log2s(slots: NDArray[Any]) -> NDArray[Any]:
    """Return log2(rank + 1) by math's own log2, which numpy's differs from in the last bit."""
    deepest = int(slots.max()) + 1 if len(slots) else 0
    return np.array([math.log2(slot + 2) for slot in range(deepest)])[slots] if deepest else np.zeros(0)
