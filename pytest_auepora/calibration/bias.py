"""What a judge goes by besides what it is asked: length, order of the evidence, the day; and how steady it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from .agreement import table_of
from .intervals import Figure, bootstrap, newcombe, wilson

TOLERATED = 0.05
"""Share of items on which a judge may contradict itself."""
_FEWEST = 5


@dataclass(frozen=True, slots=True)
class Bias:
    """One check.  ``meaning`` is a sentence with the figure's meaning; ``suspicious`` if chance hardly explains it."""

    name: str
    figure: Figure
    meaning: str
    suspicious: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able data."""
        return {**self.figure.to_dict(), "meaning": self.meaning, "suspicious": self.suspicious}


@dataclass(frozen=True, slots=True)
class Seen:
    """The items that are measured, each list in their order; ``swapped`` and ``again`` are None where not asked."""

    people: Sequence[bool]
    judge: Sequence[bool]
    scores: Sequence[float]
    lengths: Sequence[int]
    batches: Sequence[str]
    groups: Sequence[str]
    swapped: Sequence[bool | None]
    again: Sequence[bool | None]


def biases_of(seen: Seen) -> list[Bias]:
    """Return the checks for which there is something to look at."""
    found = [_base_rate(seen)]
    if any(seen.lengths):
        found += [_length(seen), *_verbosity(seen)]
    found += _contradictions("position", seen, seen.swapped, "answers judged otherwise with the evidence in reverse")
    found += _contradictions("repeats", seen, seen.again, "answers judged otherwise when asked again")
    return found + _drift(seen)


def _difference(name: str, figure: Figure, meaning: str) -> Bias:
    away = figure.low is not None and figure.high is not None and not figure.low <= 0 <= figure.high
    return Bias(name, figure, meaning, away)


def _base_rate(seen: Seen) -> Bias:
    def rate(ids: Sequence[int]) -> float | None:
        return sum(seen.judge[i] - seen.people[i] for i in ids) / len(ids) if ids else None

    return _difference("base rate", bootstrap(rate, seen.groups), "share of yes, the judge's above people's")


def _length(seen: Seen) -> Bias:
    """Correlate rank of length with rank of score, each within what people say: what length adds to the truth."""
    import numpy as np

    scores, lengths = np.zeros(len(seen.scores)), np.zeros(len(seen.scores))
    for label in (True, False):
        inside = np.array([i for i, p in enumerate(seen.people) if p == label], dtype=int)
        for values, ranks in ((seen.scores, scores), (seen.lengths, lengths)):
            own = _ranks([values[i] for i in inside])
            ranks[inside] = own - own.mean() if len(inside) else own

    def correlation(ids: Sequence[int]) -> float | None:
        a, b = scores[list(ids)], lengths[list(ids)]
        spread = float(np.sqrt((a @ a) * (b @ b)))
        return float(a @ b) / spread if spread > 0 else None

    meaning = "rank correlation of answer length and score among answers people judge alike"
    return _difference("length", bootstrap(correlation, seen.groups), meaning)


def _ranks(values: Sequence[float]) -> Any:
    """Ranks from 0, equal values sharing their mean rank."""
    import numpy as np

    _, inverse, counts = np.unique(np.asarray(values, dtype=float), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[inverse] if len(values) else np.zeros(0)


def _verbosity(seen: Seen) -> list[Bias]:
    """Wrongly accepted among the long answers and among the short."""
    wrong = [i for i, people in enumerate(seen.people) if not people]
    middle = median([seen.lengths[i] for i in wrong]) if wrong else 0
    long = [seen.judge[i] for i in wrong if seen.lengths[i] > middle]
    short = [seen.judge[i] for i in wrong if seen.lengths[i] <= middle]
    if min(len(long), len(short)) < _FEWEST:
        return []
    meaning = "share of answers people refuse and the judge accepts, long ones above short ones"
    return [_difference("verbosity", newcombe(sum(long), len(long), sum(short), len(short)), meaning)]


def _contradictions(name: str, seen: Seen, other: Sequence[bool | None], meaning: str) -> list[Bias]:
    pairs = [(a, b) for a, b in zip(seen.judge, other, strict=True) if b is not None]
    if not pairs:
        return []
    figure = wilson(sum(a != b for a, b in pairs), len(pairs))
    kappa = table_of([a for a, _ in pairs], [b for _, b in pairs]).kappa
    with_itself = "" if kappa is None else f"; κ of the judge with itself {kappa:.2f}"
    return [Bias(name, figure, f"share of {meaning}{with_itself}", (figure.low or 0.0) > TOLERATED)]


def _drift(seen: Seen) -> list[Bias]:
    """How far the judge is above people in the last batch, beyond the first."""
    order = list(dict.fromkeys(b for b in seen.batches if b))
    if len(order) < 2:
        return []
    wrong = {name: [seen.people[i] != seen.judge[i] for i, b in enumerate(seen.batches) if b == name] for name in order}
    yes = {name: [seen.people[i] for i, b in enumerate(seen.batches) if b == name] for name in order}
    first, last = order[0], order[-1]
    words = f"in the batch {last!r} above {first!r}"
    return [
        _difference(name, newcombe(sum(by[last]), len(by[last]), sum(by[first]), len(by[first])), f"{what} {words}")
        for name, by, what in (
            ("drift of the judge", wrong, "share of wrong judgements"),
            ("drift of the labels", yes, "share of yes among people"),
        )
    ]
