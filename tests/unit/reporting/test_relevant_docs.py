"""The relevant documents of a case: grades of quotes and spans, and why none matched."""

from __future__ import annotations

from pytest_auepora.reporting.relevant_docs import relevant_docs

from .builders import result_of
from .test_diagnosis import CASE
from .wording.test_cases import said


def test_grades_are_found_for_quotes_and_spans_too() -> None:
    result = result_of(CASE)
    result.expected["relevant"] = [
        {"id": "refunds.md", "grade": 3, "quote": "30 days", "name": 'refunds.md: "30 days"'},
        {"id": "terms.md", "grade": 2, "span": [10, 20], "name": "terms.md[10:20]"},
    ]
    result.ranks = {'refunds.md: "30 days"': 1, "terms.md[10:20]": None}
    assert [(w.label, w.grade, w.rank) for w in relevant_docs(result)] == [
        ('refunds.md: "30 days"', 3, 1),
        ("terms.md[10:20]", 2, None),
    ]


def test_documents_without_ids_are_the_reason_that_none_matched() -> None:
    told = "; the documents came without an id, so theirs are made from their texts"
    made_up = ["sha:0123456789ab", "sha:ba9876543210"]
    for got, expected in ((made_up, True), ([*made_up, "terms.md"], False)):
        assert said(CASE.with_(got=got)).endswith(told) == expected


def test_two_unicode_forms_of_an_id_are_the_reason() -> None:
    told = said(CASE.with_(relevant=["Gr\u00f6\u00dfe.md"], got=["Gro\u0308\u00dfe.md"]))
    assert told.endswith(r"differ in Unicode form: 'Gr\xf6\xdfe.md' (NFC) and 'Gro\u0308\xdfe.md' (NFD)")
