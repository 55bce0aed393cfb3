"""What a label meant when it was written: the text, the document and the place of its chunk, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.types import Document
from ..metrics.ranking.gold import source_of, span_of
from .corpus import Chunk, Corpus

__all__ = ["Passage", "Recall", "corpus_recall", "passage_of", "recalled"]


@dataclass(frozen=True, slots=True)
class Passage:
    """What a chunk was.  ``text`` is whole or empty; ``origin`` names where it is known from."""

    text: str = ""
    source: str = ""
    span: tuple[int, int] | None = None
    origin: str = ""


Recall = Callable[[str, str], Sequence[Passage]]
"""From a case id and a chunk id to what is known of that chunk, the oldest first; empty where nothing is."""


def passage_of(label: Document) -> Passage | None:
    """Return what the golden file itself says of a label by id: ``text``, and place in its ``metadata``."""
    source = source_of(label)
    found = Passage(label.text, "" if source == label.doc_id else source, span_of(label), "the golden file")
    return found if found.text or found.source else None


def corpus_recall(corpus: Corpus, path: Path) -> Recall:
    """Remember by a corpus of old."""

    def recall(_case_id: str, chunk_id: str) -> Sequence[Passage]:
        old = corpus.chunks.get(chunk_id)
        return [_passage(old, path.name)] if old is not None and (old.text or old.source) else []

    return recall


def _passage(chunk: Chunk, origin: str) -> Passage:
    return Passage(chunk.text, chunk.source, chunk.span, origin)


def recalled(case_id: str, label: Document, recalls: Sequence[Recall]) -> list[Passage]:
    """Return what is known of *label*, the surest source first; each completes what the golden file leaves out."""
    own = passage_of(label)
    if own is not None and own.text:
        return [own]
    found: list[Passage] = []
    for recall in recalls:
        if found := list(recall(case_id, label.doc_id)):
            break
    if own is None:
        return found
    return [Passage(p.text, own.source, own.span or p.span, p.origin) for p in found if p.text] or [own]
