"""Gold labels: what is relevant for a case, and which labels a returned chunk covers.

A label names a document or chunk by id, or a passage of a source document by *quote* or *span*, so that it
survives re-chunking.  Grades are whole numbers; 1 and above is relevant, 0 is judged and not relevant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from ...base.text import canonical
from ...core.document_forms import FORBIDDEN_DOCS, document_of
from ...core.types import Document, EvaluationSample
from ...errors import MetricError
from ..values import grade_of, read_entries

LabelType = Literal["id", "quote", "span", "doc"]

SOURCE_KEYS = (
    "document_id", "source", "doc", "parent_id", "file_path", "file_name", "url", "source_id", "ref_doc_id"
)  # fmt: skip
"""Metadata keys under which chunks name the document they were cut from, in order of preference."""

ANYWHERE = ""
"""The source of a quote without a document: any chunk that holds it counts."""

SPAN_COVER = 0.5
"""Share of a gold span that a chunk must cover to count as it."""


class GoldLabel(NamedTuple):
    """One judged document, chunk or passage.

    ``ids`` are the ids it goes by (several where chunks of one document were merged into a document-level
    label); ``source`` is the document it belongs to.  ``quote`` is folded; offsets are characters, end exclusive.
    """

    name: str
    grade: int
    kind: LabelType
    ids: tuple[str, ...]
    source: str
    quote: str = ""
    start: int = 0
    end: int = 0

    def covers(self, chunk: Document) -> bool | None:
        """Whether *chunk*, which comes from the label's document, holds the passage; None if that is not known."""
        if self.kind == "doc":
            return True
        if self.kind == "span" and (place := span_of(chunk)) is not None:
            common = min(self.end, place[1]) - max(self.start, place[0])
            return common > 0 and common >= SPAN_COVER * (self.end - self.start)
        if not self.quote or not chunk.text:
            return None
        return self.quote in fold_quote(chunk.text)


def fold_quote(text: str) -> str:
    """Return *text* in NFKC with every run of white space as one blank: how quotes and chunks are compared."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def source_of(document: Document) -> str:
    """Return the id of the document that *document* was cut from; its own id if it does not say."""
    if document.metadata:
        for key in SOURCE_KEYS:
            if (value := document.metadata.get(key)) is not None:
                return str(value)
    return document.doc_id


def sources_of(document: Document) -> Iterator[str]:
    """Yield all that may name the document that *document* was cut from; of a path or URL also every end of it."""
    names = [str(value) for key in SOURCE_KEYS if (value := document.metadata.get(key)) is not None]
    for name in names or [document.doc_id]:
        yield name
        parts = re.split(r"[/\\]", re.sub(r"(?<=.)[?#].*", "", name) if "://" in name else name)
        for at in range(1, len(parts)):
            if parts[at]:
                yield "/".join(parts[at:])


def span_of(document: Document) -> tuple[int, int] | None:
    """Return the character offsets of a chunk in its source document, or None where it has none."""
    start, end = document.metadata.get("start"), document.metadata.get("end")
    if isinstance(start, int) and isinstance(end, int):
        return start, end
    return None


def label_of(document: Document) -> GoldLabel:
    """Return what a gold document stands for.

    Raises:
        MetricError: its quote is empty, its span reversed, or its grade no whole number.
    """
    grade, doc_id = grade_of(document), document.doc_id
    match document.metadata.get("match") if document.metadata else None:
        case None | "id":
            return GoldLabel(doc_id, grade, "id", (doc_id,), source_of(document))
        case "moved":  # an old id: the chunks that hold its passage now, or any chunk of its document
            ids = tuple(document.metadata.get("ids", ()))
            return GoldLabel(doc_id, grade, "id" if ids else "doc", ids, source_of(document))
        case "doc":
            return GoldLabel(doc_id, grade, "doc", (), doc_id)
        case "quote":
            if not (quote := fold_quote(document.text)):
                raise MetricError(f"the quote of {doc_id!r} is empty")
            if document.metadata.get("anywhere"):
                return GoldLabel(f'"{document.text}"', grade, "quote", (), ANYWHERE, quote)
            return GoldLabel(f'{doc_id}: "{document.text}"', grade, "quote", (), doc_id, quote)
        case "span":
            place = span_of(document)
            if place is None or place[0] >= place[1]:
                raise MetricError(f"the span of {doc_id!r} needs start < end, got {place}")
            name = f"{doc_id}[{place[0]}:{place[1]}]"
            return GoldLabel(name, grade, "span", (), doc_id, fold_quote(document.text), *place)
        case other:
            raise MetricError(f"match of {doc_id!r} must be id, doc, quote or span, got {other!r}")


def labels_of(sample: EvaluationSample, *, level: str = "chunk") -> list[GoldLabel]:
    """Return the labels of *sample*, each once with its highest grade, in the order given.

    At ``level="doc"`` labels of the same source document become one.  ``candidate_docs`` that are no relevant
    document are judged and not relevant: they follow with grade 0.  A document of grade -1 is none: as in trec_eval
    it counts as not judged.

    Raises:
        MetricError: a label cannot be read (empty quote, reversed span, grade that is no whole number).
    """
    labels = [label for d in sample.relevant_docs or () if (label := label_of(d)).grade >= 0]
    labels += [GoldLabel(d.doc_id, 0, "id", (d.doc_id,), source_of(d)) for d in sample.candidate_docs or ()]
    return _merge_by_name(_at_document_level(label) for label in labels) if level == "doc" else _merge_by_name(labels)


def forbidden_labels(sample: EvaluationSample) -> list[GoldLabel]:
    """Return the documents that must not be returned for *sample*; a plain id is that of a chunk or of a document.

    Raises:
        MetricError: one cannot be read.
    """
    labels = []
    for form in read_entries(sample.labels.get(FORBIDDEN_DOCS), FORBIDDEN_DOCS):
        try:
            label = label_of(form if isinstance(form, Document) else document_of(form))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise MetricError(f"{FORBIDDEN_DOCS}: {form!r:.80} names no document") from None
        is_plain = label.kind == "id" and label.source == label.name
        labels.append(label._replace(kind="doc") if is_plain else label)
    return labels


def _at_document_level(label: GoldLabel) -> GoldLabel:
    if label.source == ANYWHERE:
        return label
    return GoldLabel(label.source, label.grade, "doc", label.ids, label.source)


def _merge_by_name(labels: Iterable[GoldLabel]) -> list[GoldLabel]:
    by_name: dict[str, GoldLabel] = {}
    for label in labels:
        first = by_name.get(label.name)
        by_name[label.name] = label if first is None else _merge(first, label)
    return list(by_name.values())


def _merge(first: GoldLabel, other: GoldLabel) -> GoldLabel:
    if other.grade <= first.grade and other.kind == first.kind and set(other.ids) <= set(first.ids):
        return first
    kind = first.kind if first.kind == other.kind else "doc"  # one name for a chunk and for a whole document
    ids = tuple(dict.fromkeys(first.ids + other.ids))
    return first._replace(grade=max(first.grade, other.grade), kind=kind, ids=ids)


class LabelMatcher:
    """Finds the labels that a chunk covers."""

    def __init__(self, labels: Sequence[GoldLabel]) -> None:
        self.labels = labels
        self._by_id: dict[str, list[int]] = {}
        self._by_source: dict[str, list[int]] = {}
        self._incomparable: dict[int, str] = {}
        self._compared: set[int] = set()
        for at, label in enumerate(labels):
            for name in label.ids:
                self._by_id.setdefault(name, []).append(at)
            if label.kind != "id":
                self._by_source.setdefault(canonical(label.source), []).append(at)

    def covered_labels(self, chunk: Document) -> list[int]:
        """Return the indices of the labels that *chunk* covers, ascending."""
        by_id = self._by_id.get(chunk.doc_id, [])
        if not self._by_source:
            return by_id
        covered = set(by_id)
        candidates = {at for name in sources_of(chunk) for at in self._by_source.get(canonical(name), ())}
        for at in sorted(candidates.union(self._by_source.get(ANYWHERE, ()))):
            covers = self.labels[at].covers(chunk)
            if covers is None:
                self._incomparable.setdefault(at, chunk.doc_id)
                continue
            self._compared.add(at)
            if covers:
                covered.add(at)
        return sorted(covered)

    def grades(self, chunk: Document) -> list[int]:
        """Return the grades of the labels that *chunk* covers."""
        return [self.labels[at].grade for at in self.covered_labels(chunk)]

    def check(self, *, every: bool = False) -> None:
        """Check that each label could be compared with a chunk of its document, or with *every* one.

        Raises:
            MetricError: one could not, and would count as missed.
        """
        for at, chunk_id in self._incomparable.items():
            if every or at not in self._compared:
                need = "start and end" if self.labels[at].kind == "span" else "text"
                raise MetricError(
                    f"cannot tell whether chunk {chunk_id!r} covers {self.labels[at].name}: it has no {need}"
                )
