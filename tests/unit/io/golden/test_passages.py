"""Relevant documents as golden files name them: ids, grades, quotes, spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.types import Document
from tests.unit.io.files import only


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("{id: a#1, doc: a.md}", Document("a#1", "", {"document_id": "a.md"})),
        ("policy-4", Document("policy-4")),
        ("{id: p}", Document("p")),
        ("{id: p, grade: 0}", Document("p", metadata={"grade": 0})),
        ("{id: p, text: Hello, metadata: {lang: de}}", Document("p", "Hello", {"lang": "de"})),
        ("{doc: r.md}", Document("r.md", metadata={"match": "doc"})),
        ("{doc: r.md, quote: 'x y', grade: 3}", Document("r.md", "x y", {"match": "quote", "grade": 3})),
        ("{doc: r.md, span: [120, 180]}", Document("r.md", "", {"match": "span", "start": 120, "end": 180})),
        ("{doc: r.md, span: [0, 1], text: R}", Document("r.md", "R", {"match": "span", "start": 0, "end": 1})),
    ],
)
def test_how_relevant_documents_are_named(tmp_path: Path, written: str, read: Document) -> None:
    assert only(tmp_path, f"relevant_docs: [{written}]").sample.relevant_docs == [read]


def test_candidates(tmp_path: Path) -> None:
    sample = only(tmp_path, "candidate_docs: [x, {id: y, text: Y}]").sample
    assert sample.candidate_docs == [Document("x"), Document("y", "Y")]


def test_two_passages_of_one_document_are_two_labels(tmp_path: Path) -> None:
    docs = only(tmp_path, "relevant_docs: [{doc: d, span: [0, 5]}, {doc: d, span: [5, 9]}, {doc: d, quote: q}, d]")
    assert docs.sample.relevant_docs is not None
    assert len(docs.sample.relevant_docs) == 4
