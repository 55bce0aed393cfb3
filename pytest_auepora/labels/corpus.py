"""What a system can return: the chunks of its corpus, and where a passage is in them however they were cut and wrapped;
and what a label meant when it was written.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..adapters.documents import to_document
from ..adapters.shapes import describe
from ..core.files import json_of, read_json_lines, read_text
from ..core.types import Document
from ..errors import CorpusError, OutputShapeError
from ..metrics.ranking.gold import source_of, span_of

MIN_RUN = 16
"""Characters, white space not counted, that a passage and a chunk must share in one run: fewer may be chance."""


def squeeze(text: str) -> str:
    """Return *text* in NFKC without any white space, which is where chunkers differ most."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def covered_share(runs: list[tuple[int, int]], length: int) -> float:
    """Return the share of *length* characters that lie in any of *runs* (start, end exclusive)."""
    done = total = 0
    for start, end in sorted(runs):
        total += max(0, end - max(start, done))
        done = max(done, end)
    return total / length if length else 0.0


class TextIndex:
    """The squeezed texts of many chunks.

    Args:
        texts: by chunk id, as they are.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = {chunk_id: squeezed for chunk_id, text in texts.items() if (squeezed := squeeze(text))}

    @cached_property
    def _edges(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Ids by the first and by the last characters of their texts."""
        heads: dict[str, list[str]] = {}
        tails: dict[str, list[str]] = {}
        for chunk_id, text in self._texts.items():
            if len(text) >= MIN_RUN:
                heads.setdefault(text[:MIN_RUN], []).append(chunk_id)
                tails.setdefault(text[-MIN_RUN:], []).append(chunk_id)
        return heads, tails

    def text(self, chunk_id: str) -> str:
        """Return the squeezed text of a chunk, empty where it is not known."""
        return self._texts.get(chunk_id, "")

    def holding(self, passage: str) -> list[str]:
        """Return the ids of the chunks that hold all of *passage* (squeezed), in the order of the corpus."""
        return [chunk_id for chunk_id, text in self._texts.items() if passage in text] if passage else []

    def runs(self, passage: str) -> dict[str, list[tuple[int, int]]]:
        """Return which characters of *passage* (squeezed) each chunk holds that holds a part of it.

        Parts count where a chunk begins or ends inside the passage, from `MIN_RUN` characters on.
        """
        heads, tails = self._edges
        out: dict[str, list[tuple[int, int]]] = {}
        for start in range(len(passage) - MIN_RUN + 1):
            end = start + MIN_RUN
            window = passage[start:end]
            for chunk_id in heads.get(window, ()):
                text = self._texts[chunk_id]
                room = min(len(text), len(passage) - start)
                if passage.startswith(text[:room], start):
                    out.setdefault(chunk_id, []).append((start, start + room))
            for chunk_id in tails.get(window, ()):
                text = self._texts[chunk_id]
                room = min(len(text), end)
                if text.endswith(passage[end - room : end]):
                    out.setdefault(chunk_id, []).append((end - room, end))
        return out


_WANTED = "an iterable of ids, a mapping of ids to texts, or an iterable of documents"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk.  ``source`` is the document it was cut from, empty where it does not say; ``span`` its place there."""

    id: str
    text: str = ""
    source: str = ""
    span: tuple[int, int] | None = None

    @classmethod
    def of(cls, document: Document) -> Chunk:
        """Take what is known of *document*."""
        source = source_of(document)
        return cls(document.doc_id, document.text, "" if source == document.doc_id else source, span_of(document))


class Corpus:
    """All chunks that a system can return."""

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
        out: dict[str, list[Chunk]] = {}
        for chunk in self.chunks.values():
            if chunk.source:
                out.setdefault(chunk.source, []).append(chunk)
        return out

    @cached_property
    def texts(self) -> TextIndex:
        """Finds passages in the texts of the chunks."""
        return TextIndex({chunk.id: chunk.text for chunk in self.chunks.values() if chunk.text})


def corpus_of(given: Any) -> Corpus:
    """Read what a fixture or hook gave: ids, ids with texts, or documents in any form an answer may have.

    Of an id given twice the first counts.

    Raises:
        CorpusError: it is of another shape, or empty, which would make every label an orphan.
    """
    if isinstance(given, Corpus):
        return given
    if isinstance(given, (str, bytes, Document)) or not isinstance(given, Iterable):
        raise CorpusError(f"the corpus came as {describe(given)}; expected {_WANTED}")
    return _collected(_of_mapping(given) if isinstance(given, Mapping) else map(_chunk, given))


def _collected(found: Iterable[Chunk]) -> Corpus:
    chunks: dict[str, Chunk] = {}
    for chunk in found:
        chunks.setdefault(chunk.id, chunk)
    if not chunks:
        raise CorpusError("the corpus is empty; no label could be found in it")
    return Corpus(chunks)


def _of_mapping(given: Mapping[Any, Any]) -> Iterator[Chunk]:
    for chunk_id, value in given.items():
        if value is None or isinstance(value, str):
            yield Chunk(str(chunk_id), value or "")
            continue
        found = _chunk(value) if not isinstance(value, Mapping) else _chunk({**value, "chunk_id": str(chunk_id)})
        yield Chunk(str(chunk_id), found.text, found.source, found.span)


def _chunk(item: Any) -> Chunk:
    if isinstance(item, (str, int)) and not isinstance(item, bool):
        return Chunk(str(item))
    try:
        document = to_document(item)
    except OutputShapeError:
        raise CorpusError(f"the corpus holds {describe(item)}; expected {_WANTED}") from None
    if document.metadata.get("id_source") == "text":
        raise CorpusError(f"a document of the corpus has no id: {document.text[:60]!r}")
    return Chunk.of(document)


def load_corpus(path: Path) -> Corpus:
    """Read a corpus from JSON Lines (an id, or a document with ``id``, ``text``, ``doc``, ``start``, ``end``, a line),
    or from a ``.json`` file that maps ids to texts or lists documents.

    Raises:
        CorpusError: it cannot be read; the message names the line.
    """
    if path.suffix.lower() == ".json":
        said = json_of(read_text(path, CorpusError), path, error=CorpusError)
        with _of(path):
            return corpus_of(said)
    chunks = []
    for where, item in read_json_lines(path, CorpusError):
        with _of(where):
            chunks.append(_chunk(item))
    with _of(path):
        return _collected(chunks)


@contextmanager
def _of(where: Path | str) -> Iterator[None]:
    """Say of what is no corpus where it stands."""
    try:
        yield
    except CorpusError as exc:
        raise CorpusError(f"{where}: {exc}") from None


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
    said = Chunk.of(label)
    found = Passage(said.text, said.source, said.span, "the golden file")
    return found if found.text or found.source else None


def corpus_recall(corpus: Corpus, path: Path) -> Recall:
    """Remember by a corpus of old."""

    def recall(_case_id: str, chunk_id: str) -> Sequence[Passage]:
        old = corpus.chunks.get(chunk_id)
        if old is None or not (old.text or old.source):
            return []
        return [Passage(old.text, old.source, old.span, path.name)]

    return recall


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
