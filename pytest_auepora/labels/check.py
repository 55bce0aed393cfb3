"""What became of the labels of golden cases: where the passage each stood for is in the corpus as it is now, which can
be repaired without asking, and how a case whose labels moved is scored.

Texts decide where they are known on both sides, else character spans of the same document, which show a move but do
not prove it: the document may have changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ..core.types import Document
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import ANYWHERE, SPAN_COVER, fold_quote, label_of
from .corpus import MIN_RUN, Chunk, Corpus, Passage, Recall, covered_share, recalled, squeeze

Kind = Literal["valid", "re-anchorable", "merged", "split", "orphaned"]

KINDS: Mapping[Kind, str] = {
    "valid": "still there",
    "re-anchorable": "the same text under another id",
    "merged": "inside one larger chunk",
    "split": "spread over chunks of which none holds it whole",
    "orphaned": "nowhere",
}
"""Every kind, and what it means."""

MOST_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that holds the share ``share`` (0 to 1) of the passage; None where that is not known."""

    id: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of a label.

    ``new_id`` is the chunk that provably is, or holds, the passage; empty where people have to decide.
    ``candidates`` are the chunks to look at, the best first; ``origin`` says where the old text is known from;
    ``source`` is the document that the passage belongs to, where known.
    """

    kind: Kind
    candidates: tuple[Candidate, ...] = ()
    new_id: str = ""
    origin: str = ""
    note: str = ""
    source: str = ""

    @property
    def moved(self) -> bool:
        """Whether the label no longer points at its passage."""
        return self.kind != "valid"

    @property
    def cover(self) -> tuple[str, ...]:
        """The chunks that hold at least half of the passage."""
        return tuple(c.id for c in self.candidates if c.share is not None and c.share >= SPAN_COVER)


def classify(label: Document, corpus: Corpus, known: Sequence[Passage] = ()) -> Finding:
    """Say what became of *label*.

    Args:
        label: a golden label.
        corpus: what can be returned now.
        known: what an id stood for, the oldest recording first; labels by quote, span or document need none.

    Raises:
        MetricError: the label cannot be read.
    """
    if label.metadata.get("match", "id") != "id":
        return _place(label, corpus)
    there = label.doc_id in corpus
    # while the id is there, what it was first is asked: later recordings may be of another chunk of that name
    found = [_by_passage(label.doc_id, corpus, passage) for passage in (known if there else reversed(known))]
    told = next((f for f in found if f is not None and (there or f.kind != "orphaned")), None)
    if there and told is not None and told.kind == "orphaned":
        return Finding("valid", origin=told.origin, note="its text has changed", source=told.source)
    if told is not None:
        return told
    source = next((p.source for p in known if p.source), "")
    if there:
        return Finding("valid", source=source)
    if chunks := corpus.by_source.get(label.doc_id):
        return Finding("split", _listed(chunks), note="it is the name of a document now", source=label.doc_id)
    lost = next((f for f in found if f is not None), None)
    if lost is not None:
        return lost
    beside = _listed(corpus.by_source.get(source, ()))
    return Finding("orphaned", beside, note=_blind(corpus, known), source=source)


def _blind(corpus: Corpus, known: Sequence[Passage]) -> str:
    if not any(p.text for p in known):
        return "what it said is not known"
    return "" if corpus.has_texts else "the corpus has ids only, so its text cannot be looked for"


def _listed(chunks: Sequence[Chunk]) -> tuple[Candidate, ...]:
    return tuple(Candidate(c.id) for c in chunks[:MOST_CANDIDATES])


def _by_passage(label_id: str, corpus: Corpus, passage: Passage) -> Finding | None:
    """Look for *passage*; None where it cannot be compared with the corpus at all."""
    text = squeeze(passage.text)
    if text and corpus.has_texts:
        found = _by_text(label_id, corpus, text, passage)
    elif passage.source and passage.span and (spots := _spots(corpus, passage.source)):
        found = _by_span(label_id, spots, passage.span)
    else:
        return None
    return replace(found, origin=passage.origin, source=passage.source)


def _by_text(label_id: str, corpus: Corpus, text: str, passage: Passage) -> Finding:
    index = corpus.texts
    if label_id in corpus and (not (own := index.text(label_id)) or text in own):
        return Finding("valid")
    holding = index.holding(text)
    runs = {} if holding else index.runs(text)
    if covered_share(runs.get(label_id, []), len(text)) >= SPAN_COVER:
        return Finding("valid")
    holding, foreign = _of_document(label_id, holding, corpus, passage.source)
    if same := [i for i in holding if index.text(i) == text]:
        same = _at_place(same, corpus, passage)
        return _whole("re-anchorable", same, sure=len(same) == 1 and not foreign)
    if holding:
        return _whole("merged", holding, sure=len(holding) == 1 and not foreign and len(text) >= MIN_RUN)
    ids, _ = _of_document(label_id, list(runs), corpus, passage.source)
    shares = {i: covered_share(runs[i], len(text)) for i in ids}
    return _parts(shares, covered_share([run for i in ids for run in runs[i]], len(text)))


def _whole(kind: Kind, ids: Sequence[str], *, sure: bool) -> Finding:
    candidates = tuple(Candidate(i, 1.0) for i in ids[:MOST_CANDIDATES])
    note = "" if sure else "which of them cannot be told" if len(ids) > 1 else "too little to be sure"
    return Finding(kind, candidates, ids[0] if sure else "", note=note)


def _of_document(label_id: str, ids: Sequence[str], corpus: Corpus, source: str) -> tuple[list[str], bool]:
    """Keep the chunks of the same document; where there are none, those of others, which prove nothing.

    While the label's own id is there, copies of its old text in other documents are no sign of a move.
    """
    if not source:
        return list(ids), False
    own = [i for i in ids if corpus.chunks[i].source in ("", source)]
    if own or label_id in corpus:
        return own, False
    return list(ids), bool(ids)


def _at_place(ids: list[str], corpus: Corpus, passage: Passage) -> list[str]:
    """Tell equal texts apart by their place, where that is known."""
    if len(ids) > 1 and passage.source and passage.span:
        exact = [i for i in ids if (corpus.chunks[i].source, corpus.chunks[i].span) == (passage.source, passage.span)]
        return exact or ids
    return ids


def _parts(shares: Mapping[str, float], total: float) -> Finding:
    ranked = sorted(shares, key=lambda i: -shares[i])[:MOST_CANDIDATES]
    candidates = tuple(Candidate(i, round(shares[i], 4)) for i in ranked)
    if total < SPAN_COVER:
        return Finding("orphaned", candidates, note=f"{total * 100:.0f} % of it is found" if total else "")
    return Finding("split", candidates, note="" if total > 0.9999 else f"{total * 100:.0f} % of it is found")


Spots = Mapping[str, tuple[int, int]]


def _spots(corpus: Corpus, source: str) -> Spots:
    return {c.id: c.span for c in corpus.by_source.get(source, ()) if c.span is not None}


def _by_span(label_id: str, spots: Spots, span: tuple[int, int]) -> Finding:
    length = span[1] - span[0]
    runs = {i: (max(a, span[0]), min(b, span[1])) for i, (a, b) in spots.items() if min(b, span[1]) > max(a, span[0])}
    shares = {i: covered_share([run], length) for i, run in runs.items()}
    if shares.get(label_id, 0.0) >= SPAN_COVER:
        return Finding("valid")
    whole = [i for i, share in shares.items() if share == 1.0]
    if whole:
        same = [i for i in whole if spots[i] == span]
        note = "the place is the same; without texts that proves nothing"
        candidates = tuple(Candidate(i, 1.0) for i in same or whole)[:MOST_CANDIDATES]
        return Finding("re-anchorable" if same else "merged", candidates, note=note)
    return _parts(shares, covered_share(list(runs.values()), length))


def _place(label: Document, corpus: Corpus) -> Finding:
    """A label that names a document: its chunks are looked at as scoring does."""
    read = label_of(label)
    if read.source == ANYWHERE:
        return Finding("valid", note="not checked: the quote names no document")
    if not corpus.by_source and read.source not in corpus:
        return Finding("valid", note="not checked: the corpus does not say which document a chunk is of")
    chunks = corpus.by_source.get(read.source, [])
    if not chunks and read.source in corpus:
        chunks = [corpus.chunks[read.source]]
    if not chunks:
        return Finding("orphaned", note=f"there is no document {read.source!r}", source=read.source)
    told = [read.covers(Document(c.id, c.text, _metadata(c))) for c in chunks]
    if any(told):
        return Finding("valid", source=read.source)
    if all(t is None for t in told):
        return Finding("valid", note="not checked: the corpus has neither texts nor spans", source=read.source)
    return replace(_torn(read.kind, label, corpus, read.source), source=read.source)


def _metadata(chunk: Chunk) -> dict[str, int]:
    return {} if chunk.span is None else {"start": chunk.span[0], "end": chunk.span[1]}


def _torn(kind: str, label: Document, corpus: Corpus, source: str) -> Finding:
    """A quote or span that no chunk of its document holds."""
    if kind == "span":
        return _by_span("", _spots(corpus, source), (label.metadata["start"], label.metadata["end"]))
    text = squeeze(fold_quote(label.text))
    runs = {i: r for i, r in corpus.texts.runs(text).items() if corpus.chunks[i].source == source}
    shares = {i: covered_share(r, len(text)) for i, r in runs.items()}
    return _parts(shares, covered_share([run for r in runs.values() for run in r], len(text)))


@dataclass(frozen=True, slots=True)
class CheckedLabel:
    """One label of a case.  ``index`` is its place among ``relevant_docs``; ``name`` is as reports write it."""

    case_id: str
    index: int
    name: str
    by_id: bool
    finding: Finding

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> CheckedLabel:
        """Read what `to_dict` gave."""
        said = dict(raw["finding"])
        said["candidates"] = tuple(Candidate(**c) for c in said["candidates"])
        return cls(**{**raw, "finding": Finding(**said)})


def check_case(case: GoldenCase, corpus: Corpus, recalls: Sequence[Recall] = ()) -> list[CheckedLabel]:
    """Say what became of every label of *case*; *recalls* know what ids stood for, the surest first."""
    out = []
    for index, label in enumerate(case.sample.relevant_docs or ()):
        by_id = _by_id(label)
        known = recalled(case.id, label, recalls) if by_id else ()
        out.append(CheckedLabel(case.id, index, label_of(label).name, by_id, classify(label, corpus, known)))
    return out


def _by_id(label: Document) -> bool:
    return bool(label.metadata.get("match", "id") == "id")


def repairs(labels: Sequence[CheckedLabel]) -> dict[int, str]:
    """Return the new id of each label of one case that provably is, or lies in, one chunk, by the label's index.

    Two labels that would come to name the same chunk are left alone: which of them to drop, and which grade
    holds, is for people to say.
    """
    wanted = {one.index: one.finding.new_id for one in labels if one.by_id and one.finding.moved and one.finding.new_id}
    names = Counter(wanted.get(one.index, one.name) for one in labels if one.by_id)
    return {index: new for index, new in wanted.items() if names[new] == 1}


def tally(labels: Iterable[CheckedLabel]) -> Counter[Kind]:
    """Count the labels by what became of them."""
    return Counter(one.finding.kind for one in labels)


Match = Literal["exact", "span", "fallback_doc", "none"]

MATCHES: tuple[Match, ...] = ("exact", "span", "fallback_doc", "none")
"""How labels are matched, the strictest first: by chunk (its id, or the same text under another id); by chunks that
hold at least half of the passage; by any chunk of the document; not at all."""


def relabel(case: GoldenCase, labels: Sequence[CheckedLabel], corpus: Corpus, *, strict: bool = False) -> GoldenCase:
    """Return *case* as it is to be scored; itself where none of its labels by id moved.

    ``moved`` of the result says what became of each moved label, and under ``match`` how the case is matched: as its
    weakest label.  Where one cannot be matched, nothing is known to be relevant, so that retrieval is n/a: a share of
    the others would be another score.  *labels* are what `check_case` found in *corpus*; *strict* matches by chunk or
    not at all.
    """
    moved = {one.index: one for one in labels if one.by_id and one.finding.moved}
    if not moved or case.sample.relevant_docs is None:
        return case
    told: dict[str, dict[str, Any]] = {}
    gold = list(case.sample.relevant_docs)
    for index, one in moved.items():
        match, gold[index] = _matched(gold[index], one, corpus)
        if strict and match != "exact":
            match = "none"
        told[one.name] = {"became": one.finding.kind, "match": match, "chunks": [c.id for c in one.finding.candidates]}
    weakest = max((t["match"] for t in told.values()), key=MATCHES.index)
    sample = replace(case.sample, relevant_docs=None if weakest == "none" else gold)
    return replace(case, sample=sample, moved={"match": weakest, "labels": told})


def _matched(label: Document, one: CheckedLabel, corpus: Corpus) -> tuple[Match, Document]:
    found = one.finding
    ids = found.cover
    source = found.source or next((s for i in ids if (s := corpus.chunks[i].source)), "")
    metadata = {**label.metadata, "match": "moved", "ids": ids, **({"document_id": source} if source else {})}
    if ids:
        same = found.kind == "re-anchorable" and bool(found.new_id)
        return "exact" if same else "span", Document(label.doc_id, label.text, metadata)
    # a document that is gone, too, could not be found by any system
    if source and (source in corpus.by_source or source in corpus or not corpus.by_source):
        return "fallback_doc", Document(label.doc_id, label.text, metadata)
    return "none", label
