"""Data sets of pydantic-evals."""

from __future__ import annotations

from pathlib import Path

from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite

from .test_files import imported


def test_pydantic_evals(tmp_path: Path) -> None:
    suite = imported(tmp_path, "pydantic-evals", {
        "cases": [{"inputs": {"a": 1}}, {"inputs": "Why?", "evaluators": ["EqualsExpected", {"Contains": "So"}]}],
        "evaluators": [{"IsInstance": "str"}], "report_evaluators": ["x"],
    })  # fmt: skip
    assert suite.cases == [{"id": "why", "query": "Why?", "must_contain": ["So"], "match": "substring"}]


def test_a_file_as_pydantic_evals_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(
        "# yaml-language-server: $schema=p_schema.json\n"
        "name: d\n"
        "cases:\n"
        "- name: a\n  inputs: What?\n  metadata:\n    k: 1\n  expected_output: R\n"
        "  evaluators:\n  - Contains:\n      value: R\n      case_sensitive: false\n"
        "evaluators:\n- EqualsExpected: {}\n",
        encoding="utf-8",
    )
    found = import_cases(path, "pydantic-evals")
    assert len(found.dropped) == 1
    assert found.cases == [
        {"id": "a", "query": "What?", "reference_answer": "R", "must_contain": ["R"], "match": "substring",
         "metadata": {"k": 1}}
    ]  # fmt: skip


def test_an_answer_that_was_edited_is_what_is_written(tmp_path: Path) -> None:
    case = {"id": "a", "query": "How many?", "reference_answer": "31",
            "metadata": {"pydantic_evals": {"expected_output": 30}}}  # fmt: skip
    export_cases(ImportedSuite([case]), tmp_path / "a.json", "pydantic-evals")
    assert import_cases(tmp_path / "a.json", "pydantic-evals").cases[0]["reference_answer"] == "31"
