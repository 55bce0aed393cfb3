"""How the hits of two runs are told apart: by chunk while both cut documents alike, else by what outlasts that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ..core.metrics_base import CHUNK_KEYS
from ..core.run import CaseResult, Run
from ..regression.compare import Comparison, provenance_changes

Match = Literal["exact", "span", "fallback_doc"]
"""By chunk id; by passages (quotes, spans, documents) that the labels themselves name; by document."""


def changes(a: Run, b: Run) -> dict[str, tuple[Any, Any]]:
    """Return what differs between the provenance of two runs, with both values."""
    return provenance_changes(a.provenance, b.provenance)


def first_rank(result: CaseResult) -> int | None:
    """Return the 1-based rank of the first relevant chunk that was returned, or None."""
    return min((r for r in result.ranks.values() if r is not None), default=None)


def document_of(said: Mapping[str, Any]) -> str:
    """Return the document that a stored label or a stored hit belongs to."""
    return str(said["doc"] if "doc" in said else said["id"])


class Matcher:
    """Finds the rank of a case's first hit, the same way in both runs."""

    def __init__(self, a: Run, b: Run) -> None:
        self.same_chunks = not any(key in changes(a, b) for key in CHUNK_KEYS)
        self.documents = {} if self.same_chunks else _documents(a)
        self._strangers = not self.same_chunks and _strangers(self.documents, _documents(b))
        cases = [(i, c.expected) for run in (a, b) for i, c in run.cases.items() if "relevant" in c.expected]
        # what a label that moved was matched by holds for both runs
        self._moved = {i: said for i, said in cases if any(r.get("match") == "moved" for r in said["relevant"])}
        self._gold = {**dict(cases), **self._moved}

    def match(self, case_id: str) -> Match:
        """Return how hits of the case are found."""
        if self.same_chunks and case_id not in self._moved:
            return "exact"
        gold = self._relevant(case_id)
        return "span" if gold and all(map(self._by_passage, gold)) else "fallback_doc"

    def _by_passage(self, label: Mapping[str, Any]) -> bool:
        if label.get("match") == "moved":
            return bool(label.get("ids"))
        return "match" in label or "quote" in label or self.same_chunks

    def rank(self, result: CaseResult) -> int | None:
        """Return the 1-based rank of the first hit, or None."""
        if self.match(result.case_id) != "fallback_doc":
            return first_rank(result)
        wanted = {self._document(label) for label in self._relevant(result.case_id)}
        ranked = enumerate(result.outputs.get("retrieved", ()), 1)
        return next((rank for rank, hit in ranked if document_of(hit) in wanted), None)

    def blind(self, result: CaseResult) -> bool:
        """Whether the hits of *result* cannot be told, as what it retrieved is not stored."""
        needs = self.match(result.case_id) == "fallback_doc" and bool(result.ranks)
        return needs and result.state != "error" and "retrieved" not in result.outputs

    def unknown(self, case_id: str) -> bool:
        """Whether hits are told by document, and nobody says to which documents labels or hits belong."""
        if self.match(case_id) != "fallback_doc":
            return False
        return self._strangers or any(self._document(label) is None for label in self._relevant(case_id))

    def _document(self, label: Mapping[str, Any]) -> str | None:
        """Return the document of a label: as it says, or as the hits of the earlier run do."""
        name = str(label.get("id"))
        if "doc" in label or all(chunk == document for chunk, document in self.documents.items()):
            return document_of(label)
        return self.documents.get(name) or (name if name in self.documents.values() else None)

    def _relevant(self, case_id: str) -> list[Mapping[str, Any]]:
        labels = self._gold.get(case_id, {}).get("relevant", ())
        return [label for label in labels if label.get("grade", 1) >= 1]


def unmapped_cases(run: Run, comparison: Comparison | None) -> set[str]:
    """Return the cases of which a label names a chunk that was returned for the baseline, and whose id is gone.

    Documents are cut otherwise than for the baseline, and nothing says which chunk of today the label stands for.
    """
    if comparison is None or comparison.provenance.keys().isdisjoint(CHUNK_KEYS):
        return set()
    out = set()
    for case_id, case in run.cases.items():
        pair = comparison.cases.get(case_id)
        if pair is None or pair.before is None or not case.ranks:
            continue
        ranks = pair.before.ranks
        there = {str(hit["id"]) for hit in case.outputs.get("retrieved", ())}
        plain = [str(label.get("id")) for label in case.expected.get("relevant", ()) if "match" not in label]
        if any(ranks.get(name) is not None and name not in there for name in plain):
            out.add(case_id)
    return out


def _strangers(a: Mapping[str, str], b: Mapping[str, str]) -> bool:
    """Whether two runs returned chunks, and no document of the one is known to the other: one names chunks only."""
    return bool(a and b) and set(a.values()).isdisjoint(b.values())


def _documents(run: Run) -> dict[str, str]:
    """Return the document of every chunk that *run* retrieved."""
    return {hit["id"]: document_of(hit) for c in run.cases.values() for hit in c.outputs.get("retrieved", ())}
