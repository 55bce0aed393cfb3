"""Cells of tables: a list, a text or an id is read whole, or refused with its row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.importers import import_cases
from pytest_auepora.io.importers.cells import list_cell, text_cell, texts_cell
from pytest_auepora.io.importers.imported import ImportedSuite, ImportProblem

from .test_files import imported


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        (None, []), ("", []), (["a"], ["a"]), (3, ["3"]), ('["a", "b"]', ["a", "b"]), ("['a', 'b']", ["a", "b"]),
        ("a | b|", ["a", "b"]), ("[not a list", ["[not a list"]), ("[1] Smith|[2]: x", ["[1] Smith", "[2]: x"]),
        ("[1, 2] as Smith says", ["[1, 2] as Smith says"]), ("[12 monkeys", ["[12 monkeys"]),
        ("['a.md' 'b.md']", ["a.md", "b.md"]), ("['a' \"it's\"\n 'b']", ["a", "it's", "b"]), ("['a']", ["a"]),
        ("('a', 'b')", ["a", "b"]), ("('a',)", ["a"]), ("[1, 2]", ["1", "2"]), ("[]", []), (r"['a\d']", [r"a\d"]),
    ],
)  # fmt: skip
def test_a_cell_of_texts_is_read_whole(cell: Any, parts: list[str]) -> None:
    assert texts_cell(cell, "x", "|") == parts


@pytest.mark.parametrize(
    "cell",
    [
        "['a' 'b' ... 'y' 'z']", "[1 2 3]", "['a' 'b', 'c']", "['a', 'b", '["a", "b', "[1.0, 2.0]", "[None]", "[NaN]",
        "['a', ['b']]", "{'a', 'b'}", "array(['a'], dtype=object)", "[b'a']", "[True]", "[x](y) and [z]", 7.0, True,
        [None], [float("nan")], [{"a": 1}], "[1, ", "[11, 12, 1", "[11", "[None, 'a", "[ -1.5,", "[nan, 1",
    ],
)  # fmt: skip
def test_a_cell_that_cannot_be_read_whole_is_refused(cell: Any) -> None:
    with pytest.raises(ImportProblem, match=r"^x\.csv: row 2: ") as caught:
        texts_cell(cell, "x.csv: row 2", "|")
    assert len(str(caught.value)) < 200


def test_half_a_character_in_a_cell_is_refused() -> None:
    with pytest.raises(ImportProblem, match=r"^place: .\\ud800. is half a character$"):
        list_cell('["\\ud800"]', "place")


@pytest.mark.parametrize(("cell", "text"), [("Why?", "Why?"), ("['Why?']", "Why?"), (12, "12"), ('["a"] x', '["a"] x')])
def test_a_list_of_one_text_is_that_text(cell: Any, text: str) -> None:
    assert text_cell(cell, "x") == text


def test_megabytes_are_not_repeated() -> None:
    with pytest.raises(ImportProblem) as caught:
        texts_cell(f"['{'a' * 10_000_000}' ...]", "x")
    assert len(str(caught.value)) < 200


NUMPY = "['Ten days.' \"It's tea.\"]"


@pytest.mark.parametrize(
    ("fmt", "text", "docs"),
    [
        ("ragas", f'user_input,reference_contexts\nQ,"{NUMPY}"\n'.replace('\\"', '""'), ["Ten days.", "It's tea."]),
        ("deepeval", "input,context\nQ,['Ten days.' 'Tea.']\n", ["Ten days.", "Tea."]),
        ("deepeval", "input,context\nQ,\"('Ten days.', 'Tea.')\"\n", ["Ten days.", "Tea."]),
        ("ragas", "user_input;reference_contexts\nQ;['a, b' 'c']\n", ["a, b", "c"]),
        ("ragas", "user_input,reference_contexts\nQ,| a | b |\n", ["| a | b |"]),
    ],
)
def test_arrays_of_contexts_stay_apart(tmp_path: Path, fmt: str, text: str, docs: list[str]) -> None:
    suite = imported(tmp_path, fmt, text.replace("\"It's", '""It\'s').replace('tea."', 'tea.""'), "a.csv")
    assert [doc["quote"] for doc in suite.cases[0]["relevant_docs"]] == docs


def test_arrays_in_a_table_are_lists(tmp_path: Path) -> None:
    text = "query,relevant_docs,tags,must_contain,reference_answer\n"
    text += "Q,['a.md' 'b.md'],['smoke' 'de'],['ten' 'days'],\"['Ten.', '10']\"\n"
    (case,) = imported(tmp_path, "csv", text, "a.csv").cases
    assert (case["relevant_docs"], case["tags"]) == (["a.md", "b.md"], ["smoke", "de"])
    assert (case["must_contain"], case["reference_answer"]) == (["ten", "days"], ["Ten.", "10"])


@pytest.mark.parametrize(
    ("fmt", "text", "told"),
    [
        ("csv", "query,relevant_docs\nQ,a\nQ,[1 2]\n", "row 3, column relevant_docs: expected a list as JSON"),
        ("csv", "query\n\"['a', 'b']\"\n", "row 2, column query: expected one text"),
        ("csv", "query,timeout\nQ,nan\n", "row 2, column timeout: expected a number, got 'nan'"),
        ("ragas", "user_input,reference_context_ids\nQ,[1. 2.]\n", "row 2, column reference_context_ids: expected"),
        ("deepeval", "input,context\nQ,['a' ... 'b']\n", "row 2, column context: expected a list as JSON"),
    ],
)
def test_what_cannot_be_read_names_row_and_column(tmp_path: Path, fmt: str, text: str, told: str) -> None:
    with pytest.raises(ImportProblem) as caught:
        imported(tmp_path, fmt, text, "a.csv")
    assert f"a.csv: {told}" in str(caught.value)


@pytest.mark.parametrize(
    ("fmt", "row"),
    [
        ("ragas", {"user_input": "Q", "reference_contexts": [None]}),
        ("ragas", {"user_input": "Q", "reference_context_ids": [7.0]}),
        ("ragas", {"user_input": "Q", "reference": {"a": 1}}),
        ("deepeval", {"input": "Q", "expected_output": {"a": 1}}),
        ("deepeval", {"input": "Q", "context": [["a"]]}),
    ],
)
def test_no_value_is_kept_as_python_writes_it(tmp_path: Path, fmt: str, row: dict[str, Any]) -> None:
    with pytest.raises(ImportProblem, match=r"a\.json: row 1, column .*expected"):
        imported(tmp_path, fmt, [row])


def test_messages_as_python_writes_them_are_a_conversation(tmp_path: Path) -> None:
    suite = imported(tmp_path, "ragas", "user_input,reference\n\"[HumanMessage(content='hi')]\",x\n", "a.csv")
    assert (suite.cases, len(suite.dropped)) == ([], 1)


def test_a_mapping_as_python_writes_it_is_metadata(tmp_path: Path) -> None:
    suite = imported(tmp_path, "deepeval", "input,additional_metadata\nQ,\"{'k': 1}\"\n", "a.csv")
    assert suite.cases[0]["metadata"] == {"k": 1}


def of_parquet(folder: Path, **columns: list[Any]) -> ImportedSuite:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), folder / "a.parquet")
    return import_cases(folder / "a.parquet", "parquet")


def test_nan_in_parquet_is_nothing(tmp_path: Path) -> None:
    (case,) = of_parquet(tmp_path, query=["Q"], top_k=[float("nan")], lang=[float("nan")]).cases
    assert case == {"id": "q", "query": "Q"}


@pytest.mark.parametrize("value", [b"x", [7.0]])
def test_labels_in_parquet_that_are_no_names_are_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ImportProblem, match="row 1, column relevant_docs: expected"):
        of_parquet(tmp_path, query=["Q"], relevant_docs=[value])
