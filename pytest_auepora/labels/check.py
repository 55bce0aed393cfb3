"""The labels of golden cases against a corpus: what became of each, and which can be repaired without asking,
and how a case whose labels moved is scored: by the same passage where it is now, else by document, else not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ..core.types import Document
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import label_of
from .classify import Candidate, Finding, Kind, classify
from .corpus import Corpus, Recall, recalled


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


def settle(case: GoldenCase, labels: Sequence[CheckedLabel], corpus: Corpus, *, strict: bool = False) -> GoldenCase:
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
