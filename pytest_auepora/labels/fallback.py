"""Scoring a case whose labels moved: by the same passage where it is now, else by document, else not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from ..core.types import Document
from ..io.golden.load import GoldenCase
from .check import CheckedLabel
from .corpus import Corpus

__all__ = ["MATCHES", "Match", "settle"]

Match = Literal["exact", "span", "fallback_doc", "none"]

MATCHES: tuple[Match, ...] = ("exact", "span", "fallback_doc", "none")
"""How labels are matched, the strictest first: by chunk (its id, or the same text under another id); by chunks that
hold at least half of the passage; by any chunk of the document; not at all."""


def settle(case: GoldenCase, labels: Sequence[CheckedLabel], corpus: Corpus, *, strict: bool = False) -> GoldenCase:
    """Return *case* as it is to be scored; itself where none of its labels by id moved.

    ``moved`` of the result says what became of each moved label, and under ``match`` how the case is matched: as its
    weakest label.  Where one cannot be matched, nothing is known to be relevant, so that retrieval is n/a: a share of
    the others would be another score.

    Args:
        case: a golden case.
        labels: what `check_case` found.
        corpus: where it looked.
        strict: match by chunk or not at all.
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
