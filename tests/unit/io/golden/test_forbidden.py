"""Documents that a case forbids, as golden files name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.io.files import load, only, problems

from .test_cases_hash import hash_of


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("salary.md", ["salary.md"]),
        ("[salary.md, {id: hr#1}]", ["salary.md", "hr#1"]),
        ("[{doc: hr.md}, {doc: hr.md, quote: earns}]", [{"doc": "hr.md"}, {"doc": "hr.md", "quote": "earns"}]),
        ("[{quote: The CEO earns}]", [{"quote": "The CEO earns"}]),
        ("[{doc: hr.md, span: [3, 9]}]", [{"doc": "hr.md", "span": [3, 9]}]),
    ],
)
def test_how_forbidden_documents_are_named(tmp_path: Path, written: str, read: list[object]) -> None:
    assert only(tmp_path, f"forbidden_docs: {written}").sample.labels["forbidden_docs"] == read


def test_they_may_be_those_of_the_defaults(tmp_path: Path) -> None:
    text = "defaults: {forbidden_docs: [hr.md]}\ncases: [{id: a, query: Q}, {id: b, query: Q, forbidden_docs: []}]\n"
    assert [case.sample.labels["forbidden_docs"] for case in load(tmp_path, text).cases] == [["hr.md"], []]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("[3]", "expected text (an id), or a mapping with id or doc"),
        ("[{id: a, quote: x}]", "a quote is looked up in a source document: write doc, not id"),
        ("[{doc: a, span: [9, 3]}]", "span: expected [start, end] with start < end"),
        ("[{doc: a, grade: 2}]", "unknown key 'grade'"),
        ("[a, a]", "'a' is listed twice"),
        ("[{}]", "a document has an id, a doc, or both, got nothing"),
        ("[p]", "forbidden_docs: 'p' is relevant to the case as well"),
        ("[{doc: d}]", "forbidden_docs: 'd' is relevant to the case as well"),
    ],
)
def test_what_is_no_document_is_named_at_its_place(tmp_path: Path, written: str, complaint: str) -> None:
    text = f"cases:\n- id: a\n  query: Q\n  relevant_docs: [p, {{doc: d}}]\n  forbidden_docs: {written}\n"
    (problem,) = problems(tmp_path, text)
    assert problem.startswith("5:")
    assert complaint in problem


def test_they_are_part_of_what_the_case_asks_in_any_order(tmp_path: Path) -> None:
    plain = hash_of(tmp_path, "id: a, query: Q")
    forbidding = hash_of(tmp_path, "id: a, query: Q, forbidden_docs: [x, {doc: y}]")
    assert hash_of(tmp_path, "id: a, query: Q, forbidden_docs: []") == plain != forbidding
    assert hash_of(tmp_path, "id: a, query: Q, forbidden_docs: [{doc: y}, {id: x}]") == forbidding
