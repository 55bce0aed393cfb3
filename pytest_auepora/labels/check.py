"""Checks the labels of golden cases against the current corpus: where the passage of each label is now, which labels
can be repaired without asking, and how a case with moved labels is scored.

Texts decide where both sides have them, else character spans of the same document.  Spans show a move and do not
prove it: the document may have changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ..base.records import Record
from ..base.text import forms_words, twin_of
from ..core.types import Document
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import ANYWHERE, SPAN_COVER, fold_quote, label_of
from .corpus import MIN_RUN, Chunk, Corpus, Recall, covered_share, recall_chunks, squeeze

LabelFate = Literal["valid", "re-anchorable", "merged", "split", "orphaned"]
"""Where the passage of a label is: still there; the same text under another id; inside one larger chunk; spread over
chunks of which none holds it whole; nowhere."""

_MOST_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """A chunk that may hold the passage."""

    id: str
    """Its id."""
    share: float | None = None
    """How much of the passage it holds, 0 to 1; null where that is not known."""


@dataclass(frozen=True, slots=True)
class LabelFinding(Record):
    """The fate of a label."""

    kind: LabelFate
    """What became of it."""
    candidates: tuple[Candidate, ...] = ()
    """The chunks to look at, the best first."""
    new_id: str = ""
    """The chunk that provably is, or holds, the passage; empty where people have to decide."""
    origin: str = ""
    """Where the old text is known from."""
    note: str = ""
    """What else is to be known."""
    source: str = ""
    """The document that the passage belongs to, where known."""
    unchecked: bool = False
    """Whether nothing could be checked, for the reason in ``note``."""

    @property
    def moved(self) -> bool:
        """Whether the label no longer points at its passage."""
        return self.kind != "valid"

    @property
    def cover(self) -> tuple[str, ...]:
        """The chunks that hold at least half of the passage."""
        return tuple(c.id for c in self.candidates if c.share is not None and c.share >= SPAN_COVER)


def classify(label: Document, corpus: Corpus, known: Sequence[Chunk] = ()) -> LabelFinding:
    """Say where the passage of *label* is in *corpus*.

    *known* are chunks that had its id, the oldest recording first; labels by quote, span or document need none.
    Raises `MetricError` where the label cannot be read.
    """
    if not _is_by_id(label):
        return _check_document_label(label, corpus)
    in_corpus = label.doc_id in corpus
    # while the corpus has the id, the oldest recording decides: later ones may be of another chunk of that name
    passages = known if in_corpus else reversed(known)
    findings = [finding for passage in passages if (finding := _find_passage(corpus, passage)) is not None]
    for finding in findings:
        if finding.kind != "orphaned":
            return finding
        if in_corpus:
            return LabelFinding("valid", origin=finding.origin, note="its text has changed", source=finding.source)
    source = next((p.source for p in known if p.source), "")
    if in_corpus:
        return LabelFinding("valid", source=source)
    if twin := twin_of(label.doc_id, corpus.chunks):
        note = f"the same name in two Unicode forms: {forms_words(label.doc_id, twin)}"
        return LabelFinding("re-anchorable", (Candidate(twin, 1.0),), twin, note=note)
    if chunks := corpus.by_source.get(label.doc_id):
        note = "it is the name of a document now"
        return LabelFinding("split", _first_candidates(chunks), note=note, source=label.doc_id)
    if findings:
        return findings[0]
    note = "" if corpus.has_texts else "the corpus has ids only, so its text cannot be looked for"
    if not any(p.text for p in known):
        note = "what it said is not known"
    return LabelFinding("orphaned", _first_candidates(corpus.by_source.get(source, ())), note=note, source=source)


def _first_candidates(chunks: Sequence[Chunk]) -> tuple[Candidate, ...]:
    return tuple(Candidate(c.id) for c in chunks[:_MOST_CANDIDATES])


def _find_passage(corpus: Corpus, passage: Chunk) -> LabelFinding | None:
    """Look for *passage*; None where it cannot be compared with the corpus at all."""
    text = squeeze(passage.text)
    if text and corpus.has_texts:
        finding = _find_text(corpus, text, passage)
    elif passage.source and passage.span and (chunk_spans := _spans_of(corpus.by_source.get(passage.source, ()))):
        finding = _find_span(passage.id, chunk_spans, passage.span)
    else:
        return None
    return replace(finding, origin=passage.origin, source=passage.source)


def _find_text(corpus: Corpus, text: str, passage: Chunk) -> LabelFinding:
    label_id = passage.id
    if label_id in corpus and (not (own_text := corpus.texts.get(label_id, "")) or text in own_text):
        return LabelFinding("valid")
    holding = [i for i, chunk_text in corpus.texts.items() if text in chunk_text]
    runs = {} if holding else corpus.runs(text)
    if covered_share(runs.get(label_id, []), len(text)) >= SPAN_COVER:
        return LabelFinding("valid")
    holding, foreign = _of_same_document(holding, corpus, passage)
    if equal := [i for i in holding if corpus.texts[i] == text]:
        if passage.source and passage.span:  # of several, the one at its place
            place = passage.source, passage.span
            equal = [i for i in equal if (corpus.chunks[i].source, corpus.chunks[i].span) == place] or equal
        return _whole_finding("re-anchorable", equal, certain=len(equal) == 1 and not foreign)
    if holding:
        return _whole_finding("merged", holding, certain=len(holding) == 1 and not foreign and len(text) >= MIN_RUN)
    partial, _ = _of_same_document(list(runs), corpus, passage)
    return _partial_finding({i: runs[i] for i in partial}, len(text))


def _whole_finding(kind: LabelFate, chunk_ids: Sequence[str], *, certain: bool) -> LabelFinding:
    candidates = tuple(Candidate(i, 1.0) for i in chunk_ids[:_MOST_CANDIDATES])
    note = "" if certain else "which of them cannot be told" if len(chunk_ids) > 1 else "too little to be sure"
    return LabelFinding(kind, candidates, chunk_ids[0] if certain else "", note=note)


def _of_same_document(ids: Sequence[str], corpus: Corpus, passage: Chunk) -> tuple[list[str], bool]:
    """Return the chunks of the same document, else those of other documents, and whether they are of others.

    While the corpus has the label's id, copies of its old text in other documents are no sign of a move.
    """
    if not passage.source:
        return list(ids), False
    inside = [i for i in ids if corpus.chunks[i].source in ("", passage.source)]
    if inside or passage.id in corpus:
        return inside, False
    return list(ids), bool(ids)


def _partial_finding(runs: Mapping[str, list[tuple[int, int]]], length: int) -> LabelFinding:
    """Return the finding of a passage of so many characters, of which chunks hold parts: *runs* by chunk."""
    shares = {i: covered_share(parts, length) for i, parts in runs.items()}
    total = covered_share([run for parts in runs.values() for run in parts], length)
    best = sorted(shares, key=lambda i: -shares[i])[:_MOST_CANDIDATES]
    candidates = tuple(Candidate(i, round(shares[i], 4)) for i in best)
    if total < SPAN_COVER:
        return LabelFinding("orphaned", candidates, note=f"{total * 100:.0f} % of it is found" if total else "")
    return LabelFinding("split", candidates, note="" if total > 0.9999 else f"{total * 100:.0f} % of it is found")


def _spans_of(chunks: Sequence[Chunk]) -> dict[str, tuple[int, int]]:
    return {chunk.id: chunk.span for chunk in chunks if chunk.span is not None}


def _find_span(label_id: str, chunk_spans: Mapping[str, tuple[int, int]], span: tuple[int, int]) -> LabelFinding:
    length = span[1] - span[0]
    common = {i: (max(a, span[0]), min(b, span[1])) for i, (a, b) in chunk_spans.items()}
    runs = {i: [(start, end)] for i, (start, end) in common.items() if end > start}
    shares = {i: covered_share(parts, length) for i, parts in runs.items()}
    if shares.get(label_id, 0.0) >= SPAN_COVER:
        return LabelFinding("valid")
    holding = [i for i, share in shares.items() if share == 1.0]
    if holding:
        same = [i for i in holding if chunk_spans[i] == span]
        note = "the place is the same; without texts that proves nothing"
        candidates = tuple(Candidate(i, 1.0) for i in same or holding)[:_MOST_CANDIDATES]
        return LabelFinding("re-anchorable" if same else "merged", candidates, note=note)
    return _partial_finding(runs, length)


def _check_document_label(label: Document, corpus: Corpus) -> LabelFinding:
    """Check a label that names a document: its chunks are matched as scoring does."""
    parsed = label_of(label)
    if parsed.source == ANYWHERE:
        return LabelFinding("valid", note="the quote names no document", unchecked=True)
    chunks = corpus.of_document(parsed.source)
    if not corpus.by_source and not chunks:
        return LabelFinding("valid", note="the corpus does not say which document a chunk is of", unchecked=True)
    if not chunks:
        return LabelFinding("orphaned", note=f"there is no document {parsed.source!r}", source=parsed.source)
    documents = [Document(c.id, c.text, dict(zip(("start", "end"), c.span or (), strict=False))) for c in chunks]
    covers = [parsed.covers(document) for document in documents]
    if any(covers):
        return LabelFinding("valid", source=parsed.source)
    if all(cover is None for cover in covers):
        return LabelFinding(
            "valid", note="the corpus has neither texts nor spans", source=parsed.source, unchecked=True
        )
    if parsed.kind == "span":
        span = label.metadata["start"], label.metadata["end"]
        finding = _find_span("", _spans_of(chunks), span)
    else:
        text = squeeze(fold_quote(label.text))
        ids = {chunk.id for chunk in chunks}
        runs = {i: spans for i, spans in corpus.runs(text).items() if i in ids}
        finding = _partial_finding(runs, len(text))
    return replace(finding, source=parsed.source)


@dataclass(frozen=True, slots=True)
class CheckedLabel(Record):
    """One label of a case."""

    case_id: str
    """The id of the case."""
    index: int
    """Its place among ``relevant_docs``, from 0."""
    name: str
    """As reports write it."""
    by_id: bool
    """Whether it is the id of a chunk."""
    finding: LabelFinding
    """Its fate."""


@dataclass(frozen=True, slots=True)
class CheckedCase(Record):
    """The labels of one case in one configuration, as they travel from a worker."""

    path: str
    """The golden file."""
    variant: str
    """The configuration."""
    labels: list[CheckedLabel]
    """All labels of the case."""


def check_case(case: GoldenCase, corpus: Corpus, recalls: Sequence[Recall] = ()) -> list[CheckedLabel]:
    """Say what became of every label of *case*; *recalls* know what ids stood for, the surest first."""
    checked = []
    for index, label in enumerate(case.sample.relevant_docs or ()):
        by_id = _is_by_id(label)
        passages = recall_chunks(case.id, label, recalls) if by_id else ()
        checked.append(CheckedLabel(case.id, index, label_of(label).name, by_id, classify(label, corpus, passages)))
    return checked


def _is_by_id(label: Document) -> bool:
    return bool(label.metadata.get("match", "id") == "id")


def provable_new_ids(labels: Sequence[CheckedLabel]) -> dict[int, str]:
    """Return the new id of each label of one case that provably is, or lies in, one chunk, by the label's index.

    Two labels that would come to name the same chunk are left alone: which of them to drop, and which grade
    holds, is for people to say.
    """
    by_id = [label for label in labels if label.by_id]
    new_ids = {label.index: new for label in by_id if label.finding.moved and (new := label.finding.new_id)}
    name_counts = Counter(new_ids.get(label.index, label.name) for label in by_id)
    return {index: new for index, new in new_ids.items() if name_counts[new] == 1}


MatchLevel = Literal["exact", "span", "fallback_doc", "none"]
"""How labels are matched, the strictest first: by chunk (its id, or the same text under another id); by chunks that
hold at least half of the passage; by any chunk of the document; not at all."""


def relabel(case: GoldenCase, labels: Sequence[CheckedLabel], corpus: Corpus, *, strict: bool = False) -> GoldenCase:
    """Return *case* as it is to be scored; itself where none of its labels by id moved.

    ``moved`` of the result says what became of each moved label, and under ``match`` how the case is matched: as its
    weakest label.  Where one cannot be matched, nothing is known to be relevant, so that retrieval is n/a: a share of
    the others would be another score.  *labels* are what `check_case` found in *corpus*; *strict* matches by chunk or
    not at all.
    """
    moved = {checked.index: checked for checked in labels if checked.by_id and checked.finding.moved}
    if not moved or case.sample.relevant_docs is None:
        return case
    fates: dict[str, dict[str, Any]] = {}
    gold = list(case.sample.relevant_docs)
    for index, checked in moved.items():
        match, gold[index] = _match_label(gold[index], checked.finding, corpus)
        if strict and match != "exact":
            match = "none"
        chunk_ids = [candidate.id for candidate in checked.finding.candidates]
        fates[checked.name] = {"became": checked.finding.kind, "match": match, "chunks": chunk_ids}
    weakest = max((fate["match"] for fate in fates.values()), key=get_args(MatchLevel).index)
    sample = replace(case.sample, relevant_docs=None if weakest == "none" else gold)
    return replace(case, sample=sample, moved={"match": weakest, "labels": fates})


def _match_label(label: Document, finding: LabelFinding, corpus: Corpus) -> tuple[MatchLevel, Document]:
    ids = finding.cover
    source = finding.source or next((s for i in ids if (s := corpus.chunks[i].source)), "")
    metadata = {**label.metadata, "match": "moved", "ids": ids, **({"document_id": source} if source else {})}
    if ids:
        match: MatchLevel = "exact" if finding.kind == "re-anchorable" and finding.new_id else "span"
    elif source and (source in corpus.by_source or source in corpus or not corpus.by_source):
        match = "fallback_doc"
    else:  # no system can find a document that is gone as well
        return "none", label
    return match, Document(label.doc_id, label.text, metadata)
