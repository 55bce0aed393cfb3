"""Relevant documents as golden files name them: ids, grades, quotes, spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.core.types import Document
from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.edit import LabelFile
from pytest_auepora.io.golden.load import load_golden
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


@pytest.mark.parametrize(
    ("expected", "relevant"),
    [
        ("expected_chunk_ids: [a, b]", "relevant_docs: [a, b]"),
        ("expected_doc_ids: [d, e]", "relevant_docs: [{doc: d}, {doc: e}]"),
        ("expected_chunk_ids: [a, b], expected_doc_ids: [d]", "relevant_docs: [{id: a, doc: d}, {id: b, doc: d}]"),
        ("expected_doc_ids: []", "relevant_docs: []"),
        ("expected_chunk_ids: [], expected_doc_ids: []", "relevant_docs: []"),
    ],
)
def test_expected_ids_are_relevant_documents(tmp_path: Path, expected: str, relevant: str) -> None:
    case, other = only(tmp_path, expected), only(tmp_path, relevant)
    assert case.sample.relevant_docs == other.sample.relevant_docs
    assert case.content_hash == other.content_hash


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("expected_chunk_ids: [a], relevant_docs: [b]", "expected_chunk_ids is another name of relevant_docs"),
        (
            "expected_chunk_ids: [a], expected_doc_ids: [d, e]",
            r"relevant_docs: \[\{id: CHUNK, doc: DOCUMENT\}, …\]",
        ),
        ("expected_doc_ids: [1]", "expected text, got `1`"),
        ("expected_docs_ids: [a]", "did you mean 'expected_doc_ids'"),
    ],
)
def test_expected_ids_that_say_too_much(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(GoldenFileError, match=told):
        only(tmp_path, text)


def test_expected_ids_go_before_what_all_cases_inherit(tmp_path: Path) -> None:
    path = tmp_path / "a.golden.yaml"
    path.write_text("defaults: {relevant_docs: [x]}\ncases: [{id: a, query: Q, expected_chunk_ids: [y, z]}]\n")
    (case,) = load_golden(path).cases
    assert [doc.doc_id for doc in case.sample.relevant_docs or ()] == ["y", "z"]
    labels = LabelFile(path)
    assert labels.name(("a", 1)) == "z"
    assert b"expected_chunk_ids: [y, new]" in labels.with_new_ids({("a", 1): "new"})
