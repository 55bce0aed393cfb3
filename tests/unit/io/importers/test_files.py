"""What an import says it left out, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import FORMATS, export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite, ImportProblem
from tests.unit.io.files import write_golden


def imported(folder: Path, fmt: str, data: Any, name: str = "a.json") -> ImportedSuite:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return import_cases(path, fmt)


def exported(folder: Path, fmt: str, *cases: dict[str, Any]) -> list[str]:
    return export_cases(ImportedSuite(list(cases)), folder / ("out.csv" if fmt == "csv" else "out.json"), fmt)


def test_thresholds_of_a_loaded_file_are_not_lost_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "a.golden.yaml"
    path.write_text("cases: [{id: a, query: Why?, thresholds: {token_f1: 0.4}, skip: later}]", encoding="utf-8")
    told = export_cases(load_golden(path), tmp_path / "a.jsonl", "ragas")
    assert [line.partition(":")[0] for line in told[2:]] == ["skip", "thresholds"]


@pytest.mark.parametrize(
    ("fmt", "name", "text", "told"),
    [
        ("ragas", "a.jsonl", '{"user_input": "a"}\n{"user', r"a\.jsonl:2:2: not JSON"),
        ("ragas", "a.json", "{}", "expected a list of mappings, at the top or under samples or data"),
        ("ragas", "a.txt", "x", r"expected \.json, \.jsonl, \.yaml"),
        ("csv", "a.csv", "query,query\n1,2\n", "a column is named twice"),
        ("csv", "a.csv", "id,query\na\n", "row 2 has 1 columns, the header 2"),
        ("csv", "a.csv", "query,labels\nWhy?,{\n", r"row 2, column labels: expected JSON, got '\{'"),
        ("csv", "a.csv", "query,top_k\nWhy?,many\n", "column top_k: expected a number, got 'many'"),
        ("promptfoo", "a.yaml", "a: [", r"a\.yaml:\d+:\d+: not YAML"),
        (
            "promptfoo",
            "a.yaml",
            "a: 1",
            "expected a list of tests, a configuration with tests, or results of promptfoo eval",
        ),
        ("pydantic-evals", "a.yaml", "cases: 1", "expected a mapping with a list of cases"),
        ("promptfoo", "a.yaml", "tests: [a.yaml]", r"a\.yaml: its tests are in itself"),
        ("beir", "a.json", "{}", "no test.tsv; available: none"),
    ],
)
def test_file_that_cannot_be_read_says_where(tmp_path: Path, fmt: str, name: str, text: str, told: str) -> None:
    with pytest.raises(ImportProblem, match=told):
        imported(tmp_path, fmt, text, name)


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"query\nca\xe9\n")
    with pytest.raises(ImportProblem, match=r"not UTF-8: .* at byte 8"):
        import_cases(tmp_path / "a.csv", "csv")


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="there are no cases to write"):
        write_golden(ImportedSuite([]), tmp_path / "a.golden.yaml")


FORMS = [(fmt, end) for fmt, form in FORMATS.items() if fmt != "parquet" for end in form.written or ("",)]


@pytest.mark.parametrize(("fmt", "end"), FORMS)
def test_metadata_that_json_does_not_know(tmp_path: Path, fmt: str, end: str) -> None:
    """A day that nobody quoted; and what an import would note there, were it no text."""
    path = tmp_path / "a.golden.yaml"
    for said in ("{day: 2024-02-03}", "{promptfoo: x}", "{promptfoo: {vars: x, query: [1], reference: {a: 1}}}",
                 "{pydantic_evals: query}", "{pydantic_evals: {query: q, inputs: x, answer: a, expected_output: x}}",
                 "{pydantic_evals: {query: [1], answer: [1]}}"):  # fmt: skip
        path.write_text(f"cases: [{{id: a, query: Why?, reference_answer: So., metadata: {said}}}]", encoding="utf-8")
        export_cases(load_golden(path), tmp_path / f"out{end}", fmt)
        if "day" in said and fmt != "trec":
            written = [
                file.read_text(encoding="utf-8") for file in (tmp_path / f"out{end}").rglob("*") if file.is_file()
            ]
            assert "2024-02-03" in "".join(written or [(tmp_path / f"out{end}").read_text(encoding="utf-8")])


def test_a_number_that_is_none_is_not_written_as_json(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="cannot be written as JSON: "):
        exported(tmp_path, "ragas", {"id": "a", "query": "Why?", "metadata": {"x": float("nan")}})


def test_days_in_yaml_of_others_are_texts(tmp_path: Path) -> None:
    assertion = "{type: icontains, value: 2024-02-03}"
    suite = imported(tmp_path, "promptfoo", f"tests: [{{vars: {{q: Why?}}, assert: [{assertion}]}}]", "a.yaml")
    assert suite.cases[0]["must_contain"] == ["2024-02-03"]
    case = "{inputs: Why?, expected_output: {at: 2024-02-03 10:30:00}}"
    suite = imported(tmp_path, "pydantic-evals", f"cases: [{case}]", "b.yaml")
    assert suite.cases[0]["reference_answer"] == '{"at": "2024-02-03T10:30:00"}'
