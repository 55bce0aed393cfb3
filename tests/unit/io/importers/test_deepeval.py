"""Goldens of deepeval: in JSON Lines, CSV and camel case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite

from .test_files import imported


def test_deepeval_in_camel_case(tmp_path: Path) -> None:
    suite = imported(tmp_path, "deepeval", [
        {"input": "Why?", "expectedOutput": "So.", "actualOutput": "x", "expectedTools": [{"name": "t"}]},
        {"scenario": "a talk", "turns": []},
    ])  # fmt: skip
    assert suite.cases == [{"id": "why", "query": "Why?", "reference_answer": "So."}]
    assert suite.answers == [{"id": "why", "answer": "x", "documents": []}]


DEEPEVAL = {
    "input": 'What, "now"?', "actual_output": None, "expected_output": "Now.", "retrieval_context": None,
    "context": "one|two", "name": "n1", "comments": "hm", "source_file": "doc.md", "tools_called": None,
    "expected_tools": None, "token_cost": None, "input_token_count": None, "output_token_count": None,
    "additional_metadata": {"k": 1}, "custom_column_key_values": None, "expectations": None,
}  # fmt: skip


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_deepeval(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"goldens.{form}"
    if form == "jsonl":
        path.write_text(json.dumps(DEEPEVAL) + "\n", encoding="utf-8")
    else:
        cells = ['"What, ""now""?"', "", "Now.", "", "one|two", "n1", "hm", "doc.md", *[""] * 5, '"{""k"": 1}"', "", ""]
        path.write_text(f"{','.join(DEEPEVAL)}\n{','.join(cells)}\n", encoding="utf-8")
    found = import_cases(path, "deepeval")
    assert found.dropped == []
    assert found.cases == [
        {
            "id": "n1",
            "query": 'What, "now"?',
            "relevant_docs": [{"doc": "doc.md", "quote": "one"}, {"doc": "doc.md", "quote": "two"}],
            "reference_answer": "Now.",
            "metadata": {"k": 1, "comments": "hm", "source_file": "doc.md"},
        }
    ]


def test_what_is_not_relevant_is_no_context(tmp_path: Path) -> None:
    docs = [
        {"doc": "a.md", "quote": "one", "grade": 2},
        {"id": "b", "text": "no", "grade": 0},
        {"id": "c", "text": "two"},
    ]
    cases: list[dict[str, Any]] = [
        {"id": "n", "query": "Why?", "relevant_docs": docs},
        {"id": "m", "query": "Who?", "relevant_docs": []},
    ]
    export_cases(ImportedSuite(cases), tmp_path / "a.json", "deepeval")
    assert import_cases(tmp_path / "a.json", "deepeval").cases[0]["relevant_docs"] == [
        {"quote": "one"},
        {"quote": "two"},
    ]


@pytest.mark.parametrize("metadata", [{"additional_metadata": "a", "k": 1}, {"additional_metadata": {"a": 1}}])
def test_metadata_of_any_name_comes_back(tmp_path: Path, metadata: dict[str, Any]) -> None:
    suite = ImportedSuite([{"id": "n", "query": "Why?", "metadata": metadata}])
    assert export_cases(suite, tmp_path / "a.json", "deepeval") == []
    assert import_cases(tmp_path / "a.json", "deepeval").cases == suite.cases


def test_a_test_run_of_deepeval_has_recorded_answers_and_scores(tmp_path: Path) -> None:
    case = {"input": "Why?", "actualOutput": "So.", "retrievalContext": ["a", "b"], "success": True,
            "metricsData": [{"name": "Faithfulness", "score": 0.5}]}  # fmt: skip
    suite = imported(tmp_path, "deepeval", {"testCases": [case]})
    assert suite.answers == [{"id": "why", "answer": "So.", "documents": [{"text": "a"}, {"text": "b"}]}]
    assert [sentence.partition(":")[0] for sentence in suite.dropped] == ["metrics_data", "success"]
