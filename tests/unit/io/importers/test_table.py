"""Tables: which column is read as what."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite, ImportProblem


def test_a_table_says_which_column_was_read_as_what(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,contexts\nWhy?,So.,\"['a']\"\n", encoding="utf-8")
    words = [set(note.replace(",", "").split()) for note in import_cases(path, "csv").notes]
    read_as = [{"question", "query"}, {"answer", "reference_answer"}, {"contexts", "metadata"}]
    assert [names <= said for names, said in zip(read_as, words, strict=True)] == [True] * 3


def test_of_two_answers_the_ground_truth_is_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,ground_truth\nWhy?,What it said,So.\n", encoding="utf-8")
    assert import_cases(path, "csv").cases[0]["reference_answer"] == "So."


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_odd_cells_come_back(tmp_path: Path, name: str) -> None:
    cases = [{"id": "a", "query": "Why, oh\twhy?\u2028", "reference_answer": '["one"]', "must_contain": ["[x", "y"]}]
    assert export_cases(ImportedSuite(cases), tmp_path / name, "csv") == []
    assert import_cases(tmp_path / name, "csv").cases == cases


def test_false_skips_no_case(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("query,skip,xfail\nWhy?,false,TRUE\nWho?,no key,no\n", encoding="utf-8")
    assert [(c["skip"], c["xfail"]) for c in import_cases(path, "csv").cases] == [(False, True), ("no key", False)]


def test_metadata_that_is_no_mapping_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("query,metadata,lang\nWhy?,[1],en\n", encoding="utf-8")
    assert import_cases(path, "csv").cases[0]["metadata"] == {"metadata": [1], "lang": "en"}


def test_columns_left_out_are_told_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("query,thresholds,benchmark,status\nWhy?,{},true,draft\n", encoding="utf-8")
    told = [f"the column {name} (1 time)" for name in ("thresholds", "benchmark", "status")]
    assert import_cases(path, "csv").dropped == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ID,Query\na,Why?\n", r"available: 'ID', 'Query' \(did you mean 'Query'\?\)"),
    ],
)
def test_a_table_without_questions_says_what_it_has(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ImportProblem, match=rf"x\.csv: no column holds questions \(query, question, .*{told}"):
        import_cases(tmp_path / "x.csv", "csv")


@pytest.mark.parametrize(("cell", "value"), [("TRUE", True), (" yes", True), ("0", False)])
def test_a_flag_is_a_word_for_yes_or_no(tmp_path: Path, cell: str, value: bool) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"query,must_pass\nWhy?,{cell}\n", encoding="utf-8")
    assert import_cases(path, "csv").cases[0]["must_pass"] is value


def test_a_flag_of_another_word_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("query,must_pass\nWhy?,y\n", encoding="utf-8")
    with pytest.raises(ImportProblem, match="row 2, column must_pass: expected true or false, got 'y'"):
        import_cases(path, "csv")


def test_expected_ids_are_relevant_documents(tmp_path: Path) -> None:
    for column, docs in (("expected_chunk_ids", ["a", "b"]), ("expected_doc_ids", [{"doc": "a"}, {"doc": "b"}])):
        (tmp_path / "x.csv").write_text(f"query,{column}\nWhy?,a|b\n", encoding="utf-8")
        assert import_cases(tmp_path / "x.csv", "csv").cases[0]["relevant_docs"] == docs
