"""How much of the gold passages the returned chunks hold, in characters, however the chunks were cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import Document, EvaluationSample, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..options import Configured
from .gold import Label, labels_of, source_of, span_of

Span = tuple[int, int]


class Covered(NamedTuple):
    """Characters: of the gold passages, of them in the returned chunks, and of the returned chunks with repeats."""

    gold: int
    common: int
    returned: int


def _union(spans: Iterable[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _size(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def _common(one: Sequence[Span], other: Sequence[Span]) -> int:
    """Characters in both of two lists of sorted, disjoint spans."""
    total = i = j = 0
    while i < len(one) and j < len(other):
        total += max(0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return total


def _find(quote: str, chunk: Document) -> Span | None:
    """Where *quote* (folded) stands in the source of *chunk*; None if its place there is not known."""
    place = span_of(chunk)
    words = r"\s+".join(map(re.escape, quote.split()))
    found = re.search(words, chunk.text)
    if place is None or found is None:
        return None
    return place[0] + found.start(), place[0] + found.end()


def _of_source(label: Sequence[Label], chunks: Sequence[Document]) -> tuple[int, int]:
    """Return the gold characters of one source document, and how many of them *chunks* of it hold."""
    spans: list[Span] = []
    loose = held = 0
    for one in label:
        if one.kind == "span":
            spans.append((one.start, one.end))
        elif (place := next(filter(None, (_find(one.quote, c) for c in chunks)), None)) is not None:
            spans.append(place)
        else:  # known by its words alone: it is there as a whole or not at all
            loose += len(one.quote)
            held += len(one.quote) if any(one.covers(c) for c in chunks) else 0
    gold = _union(spans)
    if any(one.kind == "span" for one in label) and (blind := [c.doc_id for c in chunks if span_of(c) is None]):
        raise MetricError(f"chunk {blind[0]!r} has no start and end, so gold spans cannot be held against it")
    seen = _union(place for c in chunks if (place := span_of(c)) is not None)
    return _size(gold) + loose, _common(gold, seen) + held


def covered(sample: EvaluationSample, retrieved: Sequence[Document]) -> Covered | NotApplicable:
    """Hold the quotes and spans of *sample* against returned chunks; labels by id alone do not count.

    Overlapping chunks count the gold characters they share once, but their own length each time, so redundancy
    costs precision.  N/a where no relevant quote or span is given.

    Raises:
        MetricError: a chunk of a document with gold spans has no offsets.
    """
    if sample.relevant_docs is None:
        return NotApplicable("no relevant_docs")
    by_source: dict[str, list[Label]] = {}
    for label in labels_of(sample):
        if label.grade and label.kind in ("quote", "span"):
            by_source.setdefault(label.source, []).append(label)
    if not by_source:
        return NotApplicable("no gold quote or span")
    chunks: dict[str, list[Document]] = {}
    for chunk in retrieved:
        chunks.setdefault(source_of(chunk), []).append(chunk)
    parts = [_of_source(labels, chunks.get(source, [])) for source, labels in by_source.items()]
    returned = sum(_size([place]) if (place := span_of(c)) else len(c.text) for c in retrieved)
    return Covered(sum(gold for gold, _ in parts), sum(common for _, common in parts), returned)


@dataclass(eq=False, repr=False)
class OverSpans(Configured):
    """Base of the metrics over gold passages, of the whole list or of its top k."""

    k: int | None = None

    required: ClassVar[tuple[str, ...]] = ("relevant_docs",)
    ruler: ClassVar[tuple[str, ...]] = ()  # made for comparing ways to cut documents
    target = TargetCategory.RETRIEVAL_RELEVANCE
    source = "Chroma, Evaluating Chunking Strategies for Retrieval (2024), in characters"
    oracle = "sets of character positions"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Details: ``gold``, ``common`` and ``returned`` characters."""
        seen = covered(sample, [r.doc for r in outputs.retrieved[: self.k]])
        if isinstance(seen, NotApplicable):
            return seen
        return Measurement(self.share(seen), details=seen._asdict())

    def share(self, seen: Covered) -> float:
        """Turn the three counts into the score."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class SpanRecall(OverSpans):
    """Share of the gold characters that the returned chunks hold."""

    stem = "span_recall@{k}"
    formula = "gold characters returned / gold characters"

    def share(self, seen: Covered) -> float:
        """There is always gold."""
        return seen.common / seen.gold


@dataclass(eq=False, repr=False)
class SpanPrecision(OverSpans):
    """Share of the returned characters, repeats included, that are gold."""

    stem = "span_precision@{k}"
    formula = "gold characters returned / characters returned"

    def share(self, seen: Covered) -> float:
        """Nothing in common is 0, also where nothing was returned."""
        return min(1.0, seen.common / seen.returned) if seen.common and seen.returned else 0.0


@dataclass(eq=False, repr=False)
class SpanIoU(OverSpans):
    """Gold characters returned, of all that are gold or returned."""

    stem = "span_iou@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    formula = "gold characters returned / (gold + returned - gold returned)"

    def share(self, seen: Covered) -> float:
        """Nothing in common is 0."""
        return min(1.0, seen.common / (seen.gold + seen.returned - seen.common)) if seen.common else 0.0
