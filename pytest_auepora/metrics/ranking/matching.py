"""Match returned documents with labels: once per case, for all ranking metrics.

The result depends on a `Matching` and is cached in ``outputs.memo``.
A label counts where it is first covered: a repeat keeps its slot and earns nothing, hence no score exceeds 1.
Where one chunk is the first to cover several labels, they count one by one in recall and together, with the
highest grade, in rank metrics: a ranking that holds everything in one chunk is ideal, not short of documents.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from ...core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from ...errors import MetricError
from ..options import DoesNotApply
from ..values import expected_behaviour, grade_of
from .gold import GoldLabel, LabelMatcher, labels_of, source_of

Worth = Callable[[int], int]
"""What a grade is worth."""


@dataclass(eq=False, repr=False, slots=True)
class Ranking:
    """A returned list matched with the labels of its case.  Slots are 0-based.

    ``slots`` are those that cover a relevant label for the first time, ascending, with the ``grades`` they earn.
    ``cuts`` are the positions at which a cut at k sees them: the slots, except where documents are counted but
    chunks are cut.  ``absorbed`` holds, by index into ``slots``, the grades of further labels first covered there.
    ``names`` are all relevant labels, ``ideal`` their grades in falling order, ``places`` where each was found.
    ``slot_cuts`` are the cuts of all slots; ``slot_grades`` the highest grade that each slot covers, repeats included.
    """

    names: list[str]
    ideal: list[int]
    slots: list[int]
    grades: list[int]
    cuts: list[int]
    places: dict[str, int]
    slot_cuts: Sequence[int]
    absorbed: dict[int, list[int]] = field(default_factory=dict)
    slot_grades: dict[int, int] = field(default_factory=dict)

    @property
    def first_rank(self) -> int | None:
        """The rank of the first relevant slot, from 1; None where there is none."""
        return self.slots[0] + 1 if self.slots else None

    def hits(self, k: int | None) -> int:
        """Return how many slots of the top *k* (all for None) are relevant."""
        cuts = self.cuts
        return len(cuts) if k is None or not cuts or cuts[-1] < k else bisect_left(cuts, k)

    def found_labels(self, k: int | None) -> int:
        """Return how many labels the top *k* cover."""
        n = self.hits(k)
        return n + sum(len(grades) for at, grades in self.absorbed.items() if at < n) if self.absorbed else n

    def relevant(self, k: int | None = None) -> int:
        """Return how many labels are relevant, at most *k*; never 0."""
        n = len(self.names)
        return n if k is None else min(k, n)

    def returned(self, k: int) -> int:
        """Return how many slots there are among the top *k*."""
        return bisect_left(self.slot_cuts, k)

    def precisions(self, k: int | None) -> float:
        """Return the sum of the precision at each relevant slot of the top *k*."""
        total = 0.0
        for count, slot in enumerate(self.slots[: self.hits(k)], 1):
            total += count / (slot + 1)
        return total

    def gain(self, k: int, worth: Worth) -> float:
        """Return the discounted cumulative gain of the top *k*: the sum of worth(grade) / log2(rank + 1)."""
        return _discounted_gain(self.slots[: self.hits(k)], self.grades, worth)

    def ideal_gain(self, k: int, worth: Worth) -> float:
        """Return the gain of the best possible order of all labels; never 0."""
        ideal = self.ideal_grades(k)
        return _discounted_gain(range(min(k, len(ideal))), ideal, worth)

    def ideal_grades(self, k: int | None) -> list[int]:
        """Return the grades of an ideal ranking, best first; labels that one chunk of the top *k* covers are one."""
        if not self.absorbed:
            return self.ideal
        n, remaining = self.hits(k), list(self.ideal)
        for at, grades in self.absorbed.items():
            if at < n:
                for grade in grades:
                    remaining.remove(grade)
        return remaining

    def missed_labels(self, k: int | None) -> list[str]:
        """Return the relevant labels that the top *k* do not cover, in the order they were given."""
        places = self.places
        if k is None:
            return [name for name in self.names if name not in places]
        return [name for name in self.names if places.get(name, k) >= k]


def _discounted_gain(slots: Iterable[int], grades: Iterable[int], worth: Worth) -> float:
    # added one by one: sum() rounds differently from Python 3.12 on, and an ideal order must give exactly 1
    total = 0.0
    for slot, grade in zip(slots, grades, strict=False):
        total += worth(grade) / math.log2(slot + 2)
    return total


class Matching(NamedTuple):
    """How slots are matched with labels; see the options of `retrieval_basic.Ranked`."""

    level: str = "chunk"
    duplicates: str = "first"
    ties: str = "system"
    unjudged: str = "irrelevant"


_PLAIN = Matching()


def need_relevant(sample: EvaluationSample) -> None:
    """Raise `DoesNotApply` where nothing could be found: relevance is not labelled, or nothing is relevant."""
    if sample.relevant_docs is None:
        raise DoesNotApply("no relevant_docs")
    if not any(grade_of(doc) > 0 for doc in sample.relevant_docs):
        refuses = expected_behaviour(sample) == "refuse"
        raise DoesNotApply("nothing relevant: a refusal is expected" if refuses else "nothing relevant")


def ranking_of(sample: EvaluationSample, outputs: SystemOutputs, matching: Matching = _PLAIN) -> Ranking:
    """Match what *outputs* returned with the labels of *sample*; raises `DoesNotApply` as `need_relevant`.

    Raises:
        MetricError: a label or score cannot be used; an id is returned twice under ``duplicates="error"``; a
            quote or span of a returned document cannot be compared, as its chunks have neither text nor offsets.
    """
    gold, retrieved = sample.relevant_docs or [], outputs.retrieved
    key = matching, id(gold), len(gold), id(retrieved), len(retrieved)
    if (found := outputs.memo.get(key)) is None:
        need_relevant(sample)
        plain = _plain_ranking(gold, retrieved) if matching == _PLAIN else None
        found = plain or _ranking(sample, retrieved, matching), gold, retrieved  # so that no other list gets their ids
        outputs.memo[key] = found
    ranking: Ranking = found[0]
    return ranking


def _plain_ranking(gold: Sequence[Document], retrieved: Sequence[RetrievedDocument]) -> Ranking | None:
    """Return the ranking by ids alone, with default matching; None where a label is no plain id.

    `_ranking` gives the same, too slowly for a set of many thousand cases.
    """
    grades: dict[str, int] = {}
    for doc in gold:
        if not doc.metadata:
            grades.setdefault(doc.doc_id, 1)
        elif "match" in doc.metadata:
            return None
        elif (grade := grade_of(doc)) > grades.get(doc.doc_id, 0):
            grades[doc.doc_id] = grade
    return ranking_of_ids(grades, [r.doc.doc_id for r in retrieved])


def ranking_of_ids(grades: Mapping[str, int], ids: Sequence[str]) -> Ranking:
    """Return the ranking of *ids*, best first, held against the *grades* of the relevant ones."""
    slot_grades = {slot: grades[doc_id] for slot, doc_id in enumerate(ids) if doc_id in grades}
    places: dict[str, int] = {}
    for slot in slot_grades:
        places.setdefault(ids[slot], slot)
    slots = list(places.values())
    ideal = sorted(grades.values(), reverse=True)
    earned = [slot_grades[slot] for slot in slots]
    return Ranking(list(grades), ideal, slots, earned, slots, places, range(len(ids)), slot_grades=slot_grades)


def _sort_retrieved(retrieved: Sequence[RetrievedDocument], ties: str) -> Sequence[RetrievedDocument]:
    if ties == "system":
        return retrieved
    for r in retrieved:
        if r.score != r.score:
            raise MetricError(f"ties=trec sorts by score, and the score of {r.doc.doc_id!r} is NaN")
    return sorted(retrieved, key=lambda r: (r.score, r.doc.doc_id), reverse=True)


def walk_slots(
    labels: Sequence[GoldLabel], retrieved: Sequence[RetrievedDocument], matching: Matching
) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the slots of a returned list as *matching* asks: sorted, judged only, without repeats.

    Of each slot, the position for a cut at k, and the indices of the labels that its chunk covers.

    Raises:
        MetricError: see `ranking_of`.
    """
    by_document = matching.level == "doc" and matching.duplicates == "collapse"
    matcher, first_ranks, cut = LabelMatcher(labels), dict[str, int](), 0
    for rank, r in enumerate(_sort_retrieved(retrieved, matching.ties), 1):
        covered_labels = matcher.covered_labels(r.doc)
        if matching.unjudged == "skip" and not covered_labels:
            continue
        key = source_of(r.doc) if by_document else r.doc.doc_id
        if matching.duplicates != "first" and (first_rank := first_ranks.setdefault(key, rank)) != rank:
            if matching.duplicates == "error":
                raise MetricError(f"{key!r} is returned twice, at ranks {first_rank} and {rank}")
            cut += by_document
            continue
        yield cut, covered_labels
        cut += 1
    matcher.check()


def _ranking(sample: EvaluationSample, retrieved: Sequence[RetrievedDocument], matching: Matching) -> Ranking:
    """Return the ranking for any kind of label and any matching."""
    labels = labels_of(sample, level=matching.level)
    ideal = sorted((label.grade for label in labels if label.grade), reverse=True)
    slot_cuts: list[int] = []
    ranking = Ranking([label.name for label in labels if label.grade], ideal, [], [], [], {}, slot_cuts)
    for cut, covered_labels in walk_slots(labels, retrieved, matching):
        covered = [labels[at] for at in covered_labels]
        if fresh := [label for label in covered if label.grade and label.name not in ranking.places]:
            earned, *rest = sorted((label.grade for label in fresh), reverse=True)
            if rest:
                ranking.absorbed[len(ranking.slots)] = rest
            ranking.slots.append(len(slot_cuts))
            ranking.cuts.append(cut)
            ranking.grades.append(earned)
            ranking.places.update((label.name, cut) for label in fresh)
        ranking.slot_grades[len(slot_cuts)] = max((label.grade for label in covered), default=0)
        slot_cuts.append(cut)
    return ranking


def _default_ranking(sample: EvaluationSample, outputs: SystemOutputs) -> Ranking | None:
    """Return the ranking with default matching; None where nothing is relevant or labels cannot be used."""
    with suppress(MetricError, DoesNotApply):
        return ranking_of(sample, outputs)
    return None


def ranks_of_relevant(sample: EvaluationSample, outputs: SystemOutputs) -> dict[str, int | None]:
    """Return the 1-based rank of every relevant label in the whole returned list, None where it is not returned.

    Labels are named as people wrote them: ``policy-4``, ``refunds.md: "within 30 days"``, ``refunds.md[120:180]``.
    Empty where nothing is relevant or labelled, or the labels cannot be compared with what was returned.
    """
    if (ranking := _default_ranking(sample, outputs)) is None:
        return {}
    places = ranking.places
    return {name: places[name] + 1 if name in places else None for name in ranking.names}


def grades_of_retrieved(sample: EvaluationSample, outputs: SystemOutputs) -> list[int]:
    """Return the grade of every returned chunk, in order: the highest of the labels it covers, 0 for none.

    A repeat has the grade of its first occurrence, as a reader would grade it.  A label that cannot be compared with
    a chunk does not count.
    """
    if (ranking := _default_ranking(sample, outputs)) is not None:
        return [ranking.slot_grades.get(slot, 0) for slot in range(len(outputs.retrieved))]
    try:
        matcher = LabelMatcher(labels_of(sample))
    except MetricError:
        return [0] * len(outputs.retrieved)
    return [max(matcher.grades(r.doc), default=0) for r in outputs.retrieved]
