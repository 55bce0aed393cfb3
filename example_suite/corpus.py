"""The corpus: the Python language reference, which every Python carries as ``pydoc_data.topics``.

``help("assert")`` reads the same pages.  A page (*topic*) is cut at its headings, and a section at its paragraphs
into chunks of some 900 characters, or as many as it is told.  Chunk ids say where a chunk comes from,
``comparisons/value-comparisons#2`` being the second chunk of that section of the page ``comparisons``; text added
elsewhere does not rename it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from pytest_auepora.core.types import Document

__all__ = ["build_corpus", "load_topics"]

CHUNK_CHARS = 900
LONG_CHUNK_CHARS = 1600
"""The other way to cut the corpus, see `simple_rag.Breakage.RECHUNK`."""

_UNDERLINE = re.compile(r"([*=~^\"-])\1{2,}")
_PARAGRAPH = re.compile(r"\S.*?(?=\n\s*\n|\s*\Z)", re.DOTALL)
_FOOTNOTE = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading: characters ``start`` to ``end`` (exclusive) of the page ``topic``."""

    topic: str
    heading: str
    start: int
    end: int
    first: bool


def load_topics() -> dict[str, str]:
    """Return the pages of the running Python, name to text."""
    from pydoc_data.topics import topics

    return dict(topics)


def build_corpus(
    topics: Mapping[str, str] | None = None, *, chunk_chars: int = CHUNK_CHARS, sign: str = "#"
) -> list[Document]:
    """Cut *topics* (default: those of the running Python) into chunks of *chunk_chars*, numbered after a *sign*.

    Each chunk has in its metadata the ``document_id`` (the topic), ``start`` and ``end`` (characters of the topic,
    end exclusive: ``topics[document_id][start:end] == text``) and its ``heading``.

    Pages repeat each other: ``compound`` contains ``if``, ``while`` and ``for`` whole.  A section that stands in
    several pages is taken once, from the shortest of them, or the copies would push each other out of the top k.
    """
    topics = load_topics() if topics is None else topics
    chunks: list[Document] = []
    seen: set[str] = set()
    for topic in sorted(topics, key=lambda name: (len(topics[name]), len(name), name)):
        used: Counter[str] = Counter()
        for section in _sections(topic, topics[topic]):
            body = _same(topics[topic][section.start : section.end])
            if body and body not in seen:
                seen.add(body)
                chunks.extend(_chunks(section, topics[topic], used, chunk_chars, sign))
    return sorted(chunks, key=lambda doc: (doc.metadata["document_id"], doc.metadata["start"]))


def _sections(topic: str, text: str) -> Iterator[Section]:
    """Yield the sections of a page in order: a heading is a line with a row of its own length below."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    heads = [
        i
        for i, (line, below) in enumerate(pairwise(lines))
        if line.strip() and len(line) == len(below) and _UNDERLINE.fullmatch(below)
    ]
    bounds = [starts[head] for head in heads] + [len(text)]
    if bounds[0] > 0:  # text before any heading
        yield Section(topic, topic, 0, bounds[0], True)
    for head, end in zip(heads, bounds[1:], strict=True):
        yield Section(topic, lines[head], starts[head + 2], end, head == 0)


def _chunks(section: Section, text: str, used: Counter[str], chunk_chars: int, sign: str) -> Iterator[Document]:
    prefix = section.topic if section.first else f"{section.topic}/{_slug(section.heading)}"
    for start, end in _spans(text, section.start, section.end, chunk_chars):
        used[prefix] += 1
        yield Document(
            f"{prefix}{sign}{used[prefix]}",
            text[start:end],
            {"document_id": section.topic, "start": start, "end": end, "heading": section.heading},
        )


def _spans(text: str, start: int, end: int, chunk_chars: int) -> list[tuple[int, int]]:
    """Join neighbouring paragraphs while they fit.  Indented ones stay with the line they explain, if they can."""
    paragraphs = [m.span() for m in _PARAGRAPH.finditer(text, start, end)]
    spans: list[tuple[int, int]] = []
    for i, (a, b) in enumerate(paragraphs):
        unit_end = b
        if not _indented(text, a) and i + 1 < len(paragraphs) and _indented(text, paragraphs[i + 1][0]):
            unit_end = paragraphs[i + 1][1]
        if spans and unit_end - spans[-1][0] <= chunk_chars:
            spans[-1] = (spans[-1][0], b)
        else:
            spans.append((a, b))
    return spans


def _indented(text: str, position: int) -> bool:
    return position > 0 and text[position - 1] in " \t"


def _same(text: str) -> str:
    """Return the text as it is compared with other pages, where lines break and footnotes count differently."""
    return " ".join(_FOOTNOTE.sub("[]", text).split())


def _slug(heading: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", heading.lower()).strip("-")
