"""What importers share: ids that pytest can live with, counts of what is left out, documents and answers of a case."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.io.importers.imported import (
    Cases,
    Dropped,
    as_quotes,
    ids_and_grades,
    quote_notes,
    reference_text,
    split_metadata,
)  # fmt: skip


def test_a_name_is_made_from_the_query_and_numbered() -> None:
    cases = Cases(Dropped())
    assert [cases.unique_id(None, "Who pays, and when?") for _ in range(3)] == [
        "who-pays-and-when", "who-pays-and-when-2", "who-pays-and-when-3",
    ]  # fmt: skip


def test_a_name_that_had_to_change_is_counted() -> None:
    dropped = Dropped()
    cases = Cases(dropped)
    assert [cases.unique_id(given, "q") for given in ("x::y[7]", "fine", "fine")] == ["x-y-7-", "fine", "fine-2"]
    assert dropped.total() == 2


def test_what_is_left_out_is_said_once_with_its_count() -> None:
    dropped = Dropped()
    for what in ("x", "y", "x"):
        dropped.add(what)
    dropped.add("z", 0)
    assert dropped.sentences() == ["x (2 times)", "y (1 time)"]


def test_contexts_without_ids_are_quotes_each_once() -> None:
    assert as_quotes(["a", " ", "b", "a"]) == [{"quote": "a"}, {"quote": "b"}]
    cases: list[dict[str, Any]] = [
        {"relevant_docs": as_quotes(["a", "b"])},
        {"relevant_docs": ["c", {"doc": "d", "quote": "e"}]},
        {},
    ]
    (note,) = quote_notes(cases)
    assert note.startswith("2 ")
    assert quote_notes(cases[1:]) == []


@pytest.mark.parametrize(
    ("docs", "found"),
    [
        (None, []),
        ([], []),
        (["a", {"id": "b", "grade": 2}, {"id": "a", "grade": 3}], [("a", 3), ("b", 2)]),
        ([{"doc": "d.md", "quote": "text"}], [("d.md", 1)]),
    ],
)
def test_ids_and_grades_of_relevant_documents(docs: Any, found: Any) -> None:
    assert ids_and_grades({"relevant_docs": docs}, Dropped()) == found


def test_of_several_answers_the_first_counts() -> None:
    case = {"relevant_docs": ["a"], "reference_answer": ["x", "y"]}
    dropped = Dropped()
    assert reference_text(case, dropped) == "x"
    dropped.add_unsupported(case, ("relevant_docs",))
    assert dropped.total() == 2


def test_other_columns_that_hold_something_are_metadata() -> None:
    row: dict[str, Any] = {"query": "q", "lang": "en", "empty": "", "none": None, "zero": 0, "list": []}
    assert split_metadata(row, ["query"]) == {"lang": "en", "zero": 0}


def test_what_is_left_out_is_told_in_the_order_of_the_case() -> None:
    dropped, keys = Dropped(), ["timeout", "xfail", "cluster", "tags", "rubric", "top_k", "status", "skip"]
    dropped.add_unsupported(dict.fromkeys(["id", *keys]), ("id",))
    assert [told.partition(":")[0] for told in dropped.sentences()] == keys
