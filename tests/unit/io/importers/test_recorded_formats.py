"""Rows with the columns that current versions of the other tools write, most of them empty."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_auepora.io.importers import import_cases

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


def test_a_test_set_of_ragas(tmp_path: Path) -> None:
    path = tmp_path / "testset.jsonl"
    row = {"user_input": "Q?", "reference_contexts": ["c1"], "reference": "A", "synthesizer_name": "single_hop"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (case,) = import_cases(path, "ragas").cases
    assert (case["query"], case["reference_answer"]) == ("Q?", "A")
    assert case["relevant_docs"] == [{"quote": "c1"}]
    assert case["metadata"] == {"synthesizer_name": "single_hop"}


def test_pydantic_evals(tmp_path: Path) -> None:
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
    assert [d.startswith("the evaluator EqualsExpected") for d in found.dropped] == [True]
    assert found.cases == [
        {"id": "a", "query": "What?", "reference_answer": "R", "must_contain": ["R"], "match": "substring",
         "metadata": {"k": 1}}
    ]  # fmt: skip
