"""A document is given in the form that a system's own documents have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_auepora.adapters.documents import to_retrieved
from pytest_auepora.adapters.parts import with_documents
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.types import Document

from .asking import ask


@dataclass
class Chunk:
    chunk_id: str
    body: str
    meta: dict[str, Any] = field(default_factory=dict)


@pytest.mark.parametrize(
    "own",
    [
        "a passage of words",
        {"id": "a", "text": "t", "score": 0.5, "title": "T", "url": "U"},
        {"doc_id": "file", "chunk_id": "a", "content": "t", "metadata": {"page": 3}},
        {"document": {"id": "a", "text": "t"}, "score": 0.25},
        Chunk("a", "t", {"page": 2, "source": "file.md"}),
        ("another passage of words", 0.5),
        (0.5, {"id": "a", "text": "t", "page": 1}),
        Document("a", "t", {"page": 1}),
    ],
)
def test_recorded_documents_come_back_in_the_form_they_had(own: Any) -> None:
    given: list[Any] = []

    def write(query: str, documents: list[Any]) -> str:
        given.append(documents)
        return "an answer"

    other = with_text(own, "other words")
    system = as_system((lambda query: [other], write))
    ask(system)
    ask(with_documents(system, to_retrieved([own])))
    assert given == [[other], [own]]


def with_text(own: Any, text: str) -> Any:
    """Return a document like *own* with another text and nothing else of its own."""
    if isinstance(own, str):
        return text
    if isinstance(own, tuple):
        return tuple(part if isinstance(part, float) else with_text(part, text) for part in own)
    if isinstance(own, Mapping):
        return {key: with_text(value, text) if key != "id" else "o" for key, value in own.items()}
    if isinstance(own, Chunk):
        return Chunk("o", text, {"page": 9})
    return Document("o", text) if isinstance(own, Document) else own
