"""Tables: which column is read as what."""

from __future__ import annotations

from pathlib import Path

from pytest_auepora.io.importers import (
    import_cases,
)


def test_a_table_says_which_column_was_read_as_what(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,contexts\nWhy?,So.,\"['a']\"\n", encoding="utf-8")
    assert import_cases(path, "csv").notes == [
        "the column question is read as query",
        "the column answer is read as reference_answer",
        "the column contexts is kept as metadata, which no metric reads",
    ]


def test_of_two_answers_the_ground_truth_is_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,ground_truth\nWhy?,What it said,So.\n", encoding="utf-8")
    assert import_cases(path, "csv").cases[0]["reference_answer"] == "So."
