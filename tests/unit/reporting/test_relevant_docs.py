"""The relevant documents of a case: grades of quotes and spans."""

from __future__ import annotations

from pytest_auepora.reporting.relevant_docs import relevant_docs

from .builders import result_of
from .test_diagnosis import CASE


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
