"""The chunks of a corpus, passages in them however they are cut and wrapped, and what labels meant when written."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..adapters.documents import to_document
from ..adapters.shapes import describe
from ..base.files import parse_json, read_json_lines, read_text
from ..base.grouping import grouped
from ..base.text import canonical
from ..core.types import Document
from ..errors import CorpusError, OutputShapeError
from ..metrics.ranking.gold import source_of, sources_of, span_of

MIN_RUN = 16
"""Characters, white space not counted, that a passage and a chunk must share in one run: fewer may be chance."""


def squeeze(text: str) -> str:
    """Return *text* in NFKC without any white space, which is where chunkers differ most."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def covered_share(runs: list[tuple[int, int]], length: int) -> float:
    """Return the share of *length* characters that lie in any of *runs* (start, end exclusive)."""
    covered_to = total = 0
    for start, end in sorted(runs):
        total += max(0, end - max(start, covered_to))
        covered_to = max(covered_to, end)
    return total / length if length else 0.0


_EXPECTED = "an iterable of ids, a mapping of ids to texts, or an iterable of documents"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk.  ``source`` is the document it was cut from, empty where it does not say; ``span`` its place there.

    ``text`` is whole or empty.  Of a chunk that a label once meant, ``origin`` names where that is known from.
    """

    id: str
    text: str = ""
    source: str = ""
    span: tuple[int, int] | None = None
    origin: str = ""

    @classmethod
    def of(cls, document: Document, origin: str = "") -> Chunk:
        """Return the chunk that *document* is."""
        source = source_of(document)
        source = "" if source == document.doc_id else source
        return cls(document.doc_id, document.text, source, span_of(document), origin)

    @property
    def is_known(self) -> bool:
        """Whether more is known of it than its id."""
        return bool(self.text or self.source)


class Corpus:
    """All chunks that a system can return, by id.  Passages are looked for in their squeezed texts."""

    def __init__(self, chunks: Mapping[str, Chunk]) -> None:
        self.chunks = chunks

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self.chunks

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def has_texts(self) -> bool:
        """Whether any chunk's text is known: without, a move cannot be proven."""
        return any(chunk.text for chunk in self.chunks.values())

    @cached_property
    def by_source(self) -> Mapping[str, list[Chunk]]:
        """The chunks of each document that any names."""
        return grouped((chunk.source, chunk) for chunk in self.chunks.values() if chunk.source)

    def of_document(self, name: str) -> list[Chunk]:
        """Return the chunks of the document *name* as scoring finds them: by any end of a path, in any Unicode form."""
        return self._by_name.get(canonical(name), [])

    @cached_property
    def _by_name(self) -> Mapping[str, list[Chunk]]:
        names = ((sources_of(Document(chunk.source or chunk.id)), chunk) for chunk in self.chunks.values())
        return grouped((canonical(name), chunk) for names_of_chunk, chunk in names for name in names_of_chunk)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The squeezed texts by chunk, without empty ones."""
        return {i: squeezed for i, chunk in self.chunks.items() if (squeezed := squeeze(chunk.text))}

    @cached_property
    def _edges(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Ids by the first and by the last characters of their texts."""
        long = [(text, chunk_id) for chunk_id, text in self.texts.items() if len(text) >= MIN_RUN]
        return grouped((text[:MIN_RUN], i) for text, i in long), grouped((text[-MIN_RUN:], i) for text, i in long)

    def runs(self, passage: str) -> dict[str, list[tuple[int, int]]]:
        """Return which characters of *passage* (squeezed) each chunk holds; chunks without a part of it are left out.

        Parts count where a chunk begins or ends inside the passage, from `MIN_RUN` characters on.
        """
        heads, tails = self._edges
        out: dict[str, list[tuple[int, int]]] = {}
        for start in range(len(passage) - MIN_RUN + 1):
            end = start + MIN_RUN
            window = passage[start:end]
            for chunk_id in heads.get(window, ()):
                text = self.texts[chunk_id]
                room = min(len(text), len(passage) - start)
                if passage.startswith(text[:room], start):
                    out.setdefault(chunk_id, []).append((start, start + room))
            for chunk_id in tails.get(window, ()):
                text = self.texts[chunk_id]
                room = min(len(text), end)
                if text.endswith(passage[end - room : end]):
                    out.setdefault(chunk_id, []).append((end - room, end))
        return out


def corpus_of(raw: Any, place: str = "") -> Corpus:
    """Read the corpus that a fixture or hook gave: ids, ids with texts, or documents in any form of an answer.

    Of an id given twice the first counts.  Raises `CorpusError`, its message after *place*, for another shape, or an
    empty corpus.
    """
    if isinstance(raw, Corpus):
        return raw
    if isinstance(raw, (str, bytes, Document)) or not isinstance(raw, Iterable):
        raise CorpusError(f"{place}the corpus came as {describe(raw)}; expected {_EXPECTED}")
    if isinstance(raw, Mapping):
        return _build_corpus(_chunks_of_mapping(raw, place), place)
    return _build_corpus((_to_chunk(item, place) for item in raw), place)


def _build_corpus(chunks: Iterable[Chunk], place: str) -> Corpus:
    by_id: dict[str, Chunk] = {}
    for chunk in chunks:
        by_id.setdefault(chunk.id, chunk)
    if not by_id:
        raise CorpusError(f"{place}the corpus is empty; no label could be found in it")
    return Corpus(by_id)


def _chunks_of_mapping(mapping: Mapping[Any, Any], place: str) -> Iterator[Chunk]:
    for chunk_id, value in mapping.items():
        if value is None or isinstance(value, str):
            yield Chunk(str(chunk_id), value or "")
        else:
            item = {**value, "chunk_id": str(chunk_id)} if isinstance(value, Mapping) else value
            yield replace(_to_chunk(item, place), id=str(chunk_id))


def _to_chunk(item: Any, place: str) -> Chunk:
    if isinstance(item, (str, int)) and not isinstance(item, bool):
        return Chunk(str(item))
    try:
        document = to_document(item)
    except OutputShapeError:
        raise CorpusError(f"{place}the corpus holds {describe(item)}; expected {_EXPECTED}") from None
    if document.metadata.get("id_source") == "text":
        raise CorpusError(f"{place}a document of the corpus has no id: {document.text[:60]!r}")
    return Chunk.of(document)


def load_corpus(path: Path) -> Corpus:
    """Read a corpus from JSON Lines (an id, or a document with ``id``, ``text``, ``doc``, ``start``, ``end``, a line),
    or from a ``.json`` file that maps ids to texts or lists documents; raises `CorpusError`, which names the line.
    """
    if path.suffix.lower() == ".json":
        return corpus_of(parse_json(read_text(path, CorpusError), path, error=CorpusError), f"{path}: ")
    lines = read_json_lines(path, CorpusError)
    return _build_corpus((_to_chunk(item, f"{where}: ") for where, item in lines), f"{path}: ")


Recall = Callable[[str, str], Sequence[Chunk]]
"""Returns for a case id and a chunk id the chunks known to have had that id, the oldest first."""


def corpus_recall(corpus: Corpus, path: Path) -> Recall:
    """Return a `Recall` that looks chunks up in an earlier corpus."""

    def recall(_case_id: str, chunk_id: str) -> Sequence[Chunk]:
        chunk = corpus.chunks.get(chunk_id)
        return [replace(chunk, origin=path.name)] if chunk is not None and chunk.is_known else []

    return recall


def recall_chunks(case_id: str, label: Document, recalls: Sequence[Recall]) -> list[Chunk]:
    """Return the chunks known for *label*, by the first source that has any, completed by the golden file."""
    declared = Chunk.of(label, "the golden file")
    if declared.text:
        return [declared]
    chunks = next((known for recall in recalls if (known := list(recall(case_id, label.doc_id)))), [])
    if not declared.is_known:
        return chunks
    return [replace(c, source=declared.source, span=declared.span or c.span) for c in chunks if c.text] or [declared]
