"""What the returned context and the answer's citations cover: gold passages, entities, documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any

from ..base.grouping import grouped
from ..core.metrics_base import CaseScore, Measurement
from ..core.types import Document, EvaluationSample, SystemOutputs, TargetCategory
from ..errors import MetricError
from .options import UNSPELLED, Configured, choice, needed
from .ranking.gold import GoldLabel, labels_of, source_of, span_of
from .refusal import fold, is_refusal
from .text.assertions import phrase_finder, wordings
from .text.comparands import answer_text
from .values import read_entries, read_list

Span = tuple[int, int]


def _length_of_union(spans: Iterable[Span]) -> int:
    ordered = sorted(spans)
    total, covered_to = 0, ordered[0][0] if ordered else 0
    for start, end in ordered:
        total += max(0, end - max(start, covered_to))
        covered_to = max(covered_to, end)
    return total


def _locate_quote(quote: str, chunk: Document) -> Span | None:
    """Where *quote* (folded) stands in the source of *chunk*; None if its place there is not known."""
    place = span_of(chunk)
    words = r"\s+".join(map(re.escape, quote.split()))
    match = re.search(words, chunk.text)
    if place is None or match is None:
        return None
    return place[0] + match.start(), place[0] + match.end()


def _count_source(labels: Sequence[GoldLabel], chunks: Sequence[Document]) -> tuple[int, int]:
    """Return the gold characters of one source document, and how many of them *chunks* of it hold."""
    spans: list[Span] = []
    unplaced = unplaced_covered = 0
    for label in labels:
        if label.kind == "span":
            spans.append((label.start, label.end))
        elif (place := next(filter(None, (_locate_quote(label.quote, c) for c in chunks)), None)) is not None:
            spans.append(place)
        else:  # without a place it counts as a whole or not at all
            unplaced += len(label.quote)
            unplaced_covered += len(label.quote) if any(label.covers(c) for c in chunks) else 0
    returned = [place for c in chunks if (place := span_of(c)) is not None]
    if len(returned) < len(chunks) and any(label.kind == "span" for label in labels):
        without_span = next(c.doc_id for c in chunks if span_of(c) is None)
        raise MetricError(f"chunk {without_span!r} has no start and end, so gold spans cannot be held against it")
    gold = _length_of_union(spans)
    common = gold + _length_of_union(returned) - _length_of_union(spans + returned)
    return gold + unplaced, common + unplaced_covered


class OverSpans(Configured):
    """Base of the metrics over gold passages, of the whole list or of its top k.

    Quotes and spans count, labels by id alone do not.  Overlapping chunks count the gold characters they share once,
    but their own length each time, so redundancy costs precision.  A chunk of a document with gold spans needs offsets,
    else a `MetricError` is raised.
    """

    k: int | None = None

    required = ("relevant_docs",)
    provenance_keys = ()  # made for comparing ways to chunk documents
    target = TargetCategory.RETRIEVAL_RELEVANCE
    source = "Chroma, Evaluating Chunking Strategies for Retrieval (2024), in characters"
    oracle = "sets of character positions"

    def read_case(self, sample: EvaluationSample) -> list[GoldLabel]:
        """Return the gold passages."""
        super().read_case(sample)
        passages = [label for label in labels_of(sample) if label.grade and label.kind in ("quote", "span")]
        return needed(passages, "no gold quote or span")

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, passages: list[GoldLabel]) -> CaseScore:
        """Details: ``gold``, ``common`` and ``returned`` characters."""
        labels_by_source = grouped((label.source, label) for label in passages)
        retrieved = [r.doc for r in outputs.retrieved[: self.k]]
        chunks = grouped((source_of(chunk), chunk) for chunk in retrieved)
        gold = common = 0
        for source, labels in labels_by_source.items():
            gold_here, common_here = _count_source(labels, chunks.get(source, []))
            gold, common = gold + gold_here, common + common_here
        returned = sum(place[1] - place[0] if (place := span_of(c)) else len(c.text) for c in retrieved)
        value = self._share(gold, common, returned) if common else 0.0
        return Measurement(value, details={"gold": gold, "common": common, "returned": returned})

    def _share(self, gold: int, common: int, returned: int) -> float:
        """Turn the three counts into the score; there is gold, and some of it was returned."""
        raise NotImplementedError


class SpanRecall(OverSpans):
    """Share of the gold characters that the returned chunks hold."""

    stem = "span_recall@{k}"
    formula = "gold characters returned / gold characters"

    def _share(self, gold: int, common: int, returned: int) -> float:
        return common / gold


class SpanPrecision(OverSpans):
    """Share of the returned characters, repeats included, that are gold."""

    stem = "span_precision@{k}"
    formula = "gold characters returned / characters returned"

    def _share(self, gold: int, common: int, returned: int) -> float:
        return min(1.0, common / returned) if returned else 0.0


class SpanIoU(OverSpans):
    """Gold characters returned, of all that are gold or returned."""

    stem = "span_iou@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    formula = "gold characters returned / (gold + returned - gold returned)"

    def _share(self, gold: int, common: int, returned: int) -> float:
        return min(1.0, common / (gold + returned - common))


IN_CORPUS = "auepora_in_corpus"
"""The key of ``SystemOutputs.extra`` that lists which of the cited ids the project's corpus has."""

_MARKER = r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]"
_ID_KEYS = ("id", "doc_id", "chunk_id", "document_id", "citation", "source", "path")


class CoverageEntities(Configured):
    """Share of the case's entities that the returned context mentions.

    ``labels["entities"]`` lists them: a name; a list of names for the same entity, or a text with ``|`` between
    them; or a mapping with ``name`` and ``aliases``.  An entity is mentioned where one of its names stands in
    the text of a returned document (folded, whole words) or among its ``metadata["entities"]``.
    """

    k: int | None = None

    stem = "coverage_entities@{k}"
    target = TargetCategory.RETRIEVAL_RELEVANCE
    formula = "entities mentioned in the returned documents / entities of the case"
    source = "fraction of entity tags present in the retrieved context"
    oracle = "counted"

    def read_case(self, sample: EvaluationSample) -> list[list[str]]:
        return needed(wordings(sample, "entities"), "no entities")

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, entities: list[list[str]]) -> CaseScore:
        """Details: ``missing``, by first name."""
        docs = [r.doc for r in outputs.retrieved[: self.k]]
        tag_lists = [read_list(doc.metadata.get("entities") or (), "metadata['entities']") for doc in docs]
        tags = {fold(str(tag)) for tag_list in tag_lists for tag in tag_list}
        finders = [phrase_finder(doc.text) for doc in docs if doc.text]
        missing = [
            names[0]
            for names in entities
            if not any(fold(name) in tags or any(contains(name) for contains in finders) for name in names)
        ]
        return Measurement(1 - len(missing) / len(entities), details={"missing": missing})


class CitationCoverage(Configured):
    """1 where the answer cites something and every citation leads to a known document, else 0.

    Citations are ``response.metadata["citations"]`` (or the same key of ``response.structured``): ids, or mappings
    with one of id, doc_id, chunk_id, document_id, source, path; whole numbers are ranks, from 1.  Where the system
    lists none, markers such as ``[2]`` or ``[1, 3]`` in the answer are read as ranks.

    Options:
        resolve_in: ``"corpus"``: any document known of is good: those returned, those of the case, those of the
            project's corpus (the fixture ``auepora_corpus_ids``, or its hook), and *corpus*.
            ``"retrieved"``: only what was returned for this very question.
        corpus: every id there is, or a function that knows one; cannot be spelled in a name.
    """

    resolve_in: str = choice("corpus", "retrieved")
    corpus: Collection[str] | Callable[[str], bool] | None = field(default=None, metadata=UNSPELLED)

    stem = "citation_coverage"
    version = 2
    target = TargetCategory.GENERATION_FAITHFULNESS
    formula = "[at least one citation, and every one resolves], over grounded answers"
    source = "citations that resolve to a real chunk"
    oracle = "counted"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a for refusals, answers that say they are not grounded, and no answer.  Details: ``unresolved``."""
        refused = is_refusal(outputs)
        needed(refused is not None, "no answer")
        needed(not refused and outputs.response.metadata.get("grounded") is not False, "not a grounded answer")
        citations = citations_of(outputs)
        is_known = self._citation_check(sample, outputs)
        unresolved = [c for c in citations if not _resolves(c, len(outputs.retrieved), is_known)]
        details = {"cited": len(citations), "unresolved": list(map(str, unresolved))}
        return Measurement(float(bool(citations) and not unresolved), details=details)

    def _citation_check(self, sample: EvaluationSample, outputs: SystemOutputs) -> Callable[[str], bool]:
        docs = [r.doc for r in outputs.retrieved]
        if self.resolve_in == "corpus":
            docs = [*docs, *(sample.relevant_docs or ()), *(sample.candidate_docs or ())]
        ids = {name for doc in docs for name in (doc.doc_id, source_of(doc))}
        if self.resolve_in == "retrieved":
            return ids.__contains__
        ids.update(outputs.extra.get(IN_CORPUS, ()))
        corpus = () if self.corpus is None else self.corpus
        in_corpus = corpus if callable(corpus) else frozenset(corpus).__contains__
        return lambda name: name in ids or in_corpus(name)


def _resolves(citation: Any, returned: int, is_known: Callable[[str], bool]) -> bool:
    if isinstance(citation, int) and not isinstance(citation, bool):
        return 1 <= citation <= returned or is_known(str(citation))
    return bool(citation) and is_known(str(citation))


def citations_of(outputs: SystemOutputs) -> list[Any]:
    """Return what the answer cites, as `CitationCoverage` says; raises `MetricError` where it is no list."""
    raw = outputs.response.metadata.get("citations")
    if raw is None and outputs.response.structured:
        raw = outputs.response.structured.get("citations")
    if raw is None:
        text = answer_text(outputs)
        markers = re.findall(_MARKER, text) if "[" in text else ()
        return [int(number) for group in markers for number in re.split(r"\s*[,;]\s*", group)]
    return [_cited_id(citation) for citation in read_entries(raw, "citations")]


def note_known_citations(outputs: SystemOutputs, is_known: Callable[[str], bool]) -> None:
    """Store in *outputs* which citations are in the project's corpus, so that they resolve in a replay as well."""
    with suppress(MetricError):  # the metric reports what is wrong with them
        outputs.extra[IN_CORPUS] = [name for c in citations_of(outputs) if is_known(name := str(c))]


def _cited_id(citation: Any) -> Any:
    if not isinstance(citation, Mapping):
        return citation
    return next((citation[key] for key in _ID_KEYS if citation.get(key) not in (None, "")), "")
