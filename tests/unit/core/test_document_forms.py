"""Documents as golden files name them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.document_forms import document_of
from pytest_auepora.core.types import Document, id_of_text


@pytest.mark.parametrize(
    ("form", "document"),
    [
        ("a", Document("a")),
        ({"id": "a", "grade": 2, "text": "t", "metadata": {"x": 1}}, Document("a", "t", {"x": 1, "grade": 2})),
        ({"id": "a#1", "doc": "a"}, Document("a#1", "", {"document_id": "a"})),
        ({"doc": "a"}, Document("a", "", {"match": "doc"})),
        ({"doc": "a", "quote": "q"}, Document("a", "q", {"match": "quote"})),
        ({"quote": "q"}, Document(id_of_text("q"), "q", {"match": "quote", "anywhere": True})),
        ({"doc": "a", "span": [1, 2], "text": "t"}, Document("a", "t", {"match": "span", "start": 1, "end": 2})),
    ],
)
def test_each_form_is_one_label(form: Any, document: Document) -> None:
    assert document_of(form) == document
