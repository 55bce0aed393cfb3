"""Each format: import → golden file → `load_golden` → export gives the same file again."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.api.evaluation import evaluate
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.golden.model import GoldenSuite
from pytest_auepora.io.importers import FORMATS, export_cases, import_cases
from pytest_auepora.io.importers.golden import case_mapping
from pytest_auepora.io.importers.imported import ImportedSuite
from tests.unit.io.files import write_golden

QUERY = "How long do I have to ask for a refund?"
RAGAS = [
    {"user_input": QUERY, "reference": "Within 30 days.", "reference_contexts": ["A refund: 30 days.", "B, really."],
     "reference_context_ids": ["policy-4", "policy-7"], "synthesizer_name": "single_hop"},
    {"user_input": "Who ships?\nAnd when?", "reference_contexts": ["Parcels leave in two days."]},
    {"user_input": "yes", "reference": "no", "reference_context_ids": ["x"]},
]  # fmt: skip
DEEPEVAL_EMPTY = dict.fromkeys((
    "input", "actual_output", "expected_output", "retrieval_context", "context", "name", "comments", "source_file",
    "tools_called", "expected_tools", "additional_metadata", "custom_column_key_values",
))  # fmt: skip
DEEPEVAL = [
    {**DEEPEVAL_EMPTY, "input": QUERY, "expected_output": "Within 30 days.", "context": ["30 days; not more."],
     "name": "refund", "source_file": "refunds.md", "comments": "checked", "additional_metadata": {"topic": "money"}},
    {**DEEPEVAL_EMPTY, "input": "Who ships?", "name": "ships", "context": ["Parcels leave.", "By lorry."]},
]  # fmt: skip
PROMPTFOO = {"tests": [
    {"description": "refund window", "vars": {"question": QUERY, "lang": "en"}, "metadata": {"team": "search"},
     "assert": [{"type": "similar", "value": "Within 30 days.", "threshold": 0.8},
                {"type": "icontains", "value": "30 days"}, {"type": "not-icontains", "value": "60 days"}]},
    {"description": "salary", "vars": {"query": "What does the CEO earn?"}, "assert": [{"type": "is-refusal"}]},
    {"description": "pattern", "vars": {"query": "How many?"},
     "assert": [{"type": "regex", "value": r"\d+ days"}, {"type": "not-regex", "value": "^No"},
                {"type": "is-json", "value": {"type": "object"}}]},
    {"description": "exact", "vars": {"query": "Where?"},
     "assert": [{"type": "equals", "value": "Here (there)."}, {"type": "is-json"}]},
]}  # fmt: skip
PYDANTIC = {"name": "shop", "cases": [
    {"name": "refund window", "inputs": {"question": QUERY, "context": None}, "metadata": {"difficulty": "easy"},
     "expected_output": {"answer": "Within 30 days.", "confidence": 0.9},
     "evaluators": [{"Contains": {"value": "30 days", "case_sensitive": False}}]},
    {"name": "plain", "inputs": "Who ships?", "expected_output": "A lorry."},
    {"name": "number", "inputs": "How many days?", "expected_output": 30},
]}  # fmt: skip

OPENAI = [
    {"messages": [{"role": "user", "content": QUERY}, {"role": "assistant", "content": "Within 30 days."}]},
    {"messages": [{"role": "user", "content": "Who ships?\nAnd when?"}], "metadata": {"topic": "parcels"}},
]  # fmt: skip
CSV = {
    "ragas": (
        "user_input,reference_contexts,reference_context_ids,reference\n"
        'How long?,"[""A, b."", ""C|d""]","[""x"", ""y""]",Within 30 days.\n'
    ),
    "deepeval": (
        "input,actual_output,expected_output,retrieval_context,context,name,comments,source_file,tools_called,"
        "expected_tools,additional_metadata,custom_column_key_values\n"
        'How long?,,Within 30 days.,,A b.|C d.,refund,,r.md,,,"{""topic"": ""money""}",\n'
    ),
    "csv": (
        "id,query,relevant_docs,reference_answer,must_contain,match,expect_change,tags,labels,metadata\n"
        'a,How long?,policy-4|policy-7,Within 30 days.,30|days,word,true,smoke,"{""lang"": ""en""}","{""n"": 1}"\n'
        'b,Why?,"[""c"", {""id"": ""d"", ""grade"": 2}, {""doc"": ""r.md"", ""quote"": ""a|b""}]",'
        '"[""Yes."", ""Yes, so.""]",,,,,,\nc,Salary?,[],,,,,,,\n'
    ),
}


def through_golden(suite: ImportedSuite, folder: Path) -> GoldenSuite:
    path = folder / "made.golden.yaml"
    write_golden(suite, path)
    loaded = load_golden(path)
    assert [case_mapping(c) for c in loaded.cases] == suite.cases
    return loaded


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def write_lines(path: Path, value: Any) -> None:
    path.write_text("".join(json.dumps(v) + "\n" for v in value), encoding="utf-8")


def write_yaml(path: Path, value: Any) -> None:
    path.write_text(yaml.safe_dump(value), encoding="utf-8")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_lines(path: Path) -> Any:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


ROUND_TRIPS = [
    ("ragas", "a.jsonl", RAGAS, write_lines, read_lines),
    ("ragas", "a.json", RAGAS, write_json, read_json),
    ("deepeval", "a.json", DEEPEVAL, write_json, read_json),
    ("deepeval", "a.jsonl", DEEPEVAL, write_lines, read_lines),
    ("promptfoo", "a.yaml", PROMPTFOO, write_yaml, read_yaml),
    ("promptfoo", "a.json", PROMPTFOO, write_json, read_json),
    ("pydantic-evals", "a.yaml", PYDANTIC, write_yaml, read_yaml),
    ("pydantic-evals", "a.json", PYDANTIC, write_json, read_json),
    ("openai", "a.jsonl", OPENAI, write_lines, read_lines),
    ("openai", "a.json", OPENAI, write_json, read_json),
]


def test_every_format_comes_back_in_some_test() -> None:
    assert {*CSV, *(fmt for fmt, *_ in ROUND_TRIPS), "trec", "beir", "parquet"} == FORMATS.keys()


@pytest.mark.parametrize(("fmt", "name", "data", "write", "read"), ROUND_TRIPS)
def test_same_data_comes_back(
    tmp_path: Path, fmt: str, name: str, data: Any, write: Callable[..., None], read: Callable[..., Any]
) -> None:
    write(tmp_path / name, data)
    loaded = through_golden(import_cases(tmp_path / name, fmt), tmp_path)
    export_cases(loaded, tmp_path / f"back-{name}", fmt)
    assert read(tmp_path / f"back-{name}") == data


@pytest.mark.parametrize(("fmt", "text"), CSV.items())
def test_same_csv_comes_back(tmp_path: Path, fmt: str, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    loaded = through_golden(import_cases(path, fmt), tmp_path)
    export_cases(loaded, tmp_path / "back.csv", fmt)
    assert (tmp_path / "back.csv").read_text(encoding="utf-8") == text


def test_promptfoo_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([
            ["question", "__expected", "__expected2", "__description", "__metadata:team"],
            ["How long?", "icontains:30 days", "similar(0.8): Within 30 days.", "refund", "search"],
            ["Why?", "Because.", "", "", ""],
        ])  # fmt: skip
    suite = import_cases(path, "promptfoo")
    assert suite.dropped == []
    first, second = suite.cases
    assert first["must_contain"] == ["30 days"]
    assert first["reference_answer"] == "Within 30 days."
    assert first["metadata"]["promptfoo"] == {"query": "question", "reference": {"type": "similar", "threshold": 0.8}}
    assert first["metadata"]["team"] == "search"
    assert (second["id"], second["reference_answer"]) == ("why", "Because.")


def answer_always(answer: str, query: str) -> tuple[str, list[str]]:
    return answer, []


@pytest.mark.parametrize(
    ("kind", "value", "kept", "broken"),
    [
        ("equals", "Yes.", "Yes.", "Yes. And no."),
        ("not-equals", "Yes.", "Yes. And no.", "Yes."),
        ("contains-all", ["a1", "b2"], "b2 a1", "a1 only"),
        ("not-contains-all", ["a1", "b2"], "a1 only", "b2\na1"),
        ("not-icontains-all", ["a1", "b2"], "a1 only", "B2 A1"),
        ("icontains", "30 Days", "in 30 days", "in 60 days"),
        ("not-contains", "60 days", "in 30 days", "in 60 days"),
        ("regex", r"\d+ days", "30 days", "thirty days"),
        ("is-json", None, '{"a": 1}', "a: 1"),
    ],
)
def test_assertions_of_promptfoo_are_contracts(tmp_path: Path, kind: str, value: Any, kept: str, broken: str) -> None:
    said = {"type": kind, **({} if value is None else {"value": value})}
    write_yaml(tmp_path / "a.yaml", {"tests": [{"vars": {"query": "Q?"}, "assert": [said]}]})
    loaded = through_golden(import_cases(tmp_path / "a.yaml", "promptfoo"), tmp_path)
    for answer, state in ((kept, "passed"), (broken, "failed")):
        done = evaluate(loaded, partial(answer_always, answer))
        assert [case.state for case in done.run.cases.values()] == [state], answer


def test_trec(tmp_path: Path) -> None:
    qrels = "301 0 FBIS-1 1\n301 0 FBIS-2 0\n301 0 FBIS-3 2\n302 0 FT-1 1\n"
    topics = "301\tinternational organized crime\n302\tpolio\n"
    (tmp_path / "qrels.txt").write_text(qrels, encoding="utf-8")
    (tmp_path / "topics.tsv").write_text(topics, encoding="utf-8")
    suite = import_cases(tmp_path, "trec")
    assert suite.dropped == []
    assert suite.cases[0]["relevant_docs"] == ["FBIS-1", {"id": "FBIS-2", "grade": 0}, {"id": "FBIS-3", "grade": 2}]
    out = tmp_path / "out"
    export_cases(through_golden(suite, tmp_path), out / "qrels.txt", "trec")
    assert (out / "qrels.txt").read_text(encoding="utf-8") == qrels
    assert (out / "topics.tsv").read_text(encoding="utf-8") == topics


def tree(folder: Path) -> dict[str, list[Any]]:
    return {str(p.relative_to(folder)): p.read_text(encoding="utf-8").splitlines() for p in folder.rglob("*.*")}


def test_beir(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "d1", "title": "Refunds", "text": "30 days.", "metadata": {"url": "r.md"}},
        {"_id": "d2", "title": "", "text": "Two days.", "metadata": {}},
    ]
    write_lines(folder / "corpus.jsonl", corpus)
    write_lines(folder / "queries.jsonl", [{"_id": "q1", "text": "How long?", "metadata": {"topic": "money"}}])
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\n", encoding="utf-8")
    suite = import_cases(folder, "beir", texts=True)
    assert (suite.dropped, suite.suite) == ([], "shop")
    export_cases(through_golden(suite, tmp_path), tmp_path / "back", "beir")
    assert tree(tmp_path / "back") == tree(folder)


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    cases: list[dict[str, Any]] = [
        {"id": "a", "query": QUERY, "relevant_docs": ["x", {"id": "y", "grade": 2}], "reference_answer": "Yes.",
         "must_contain": ["a|b", "c"], "tags": ["smoke"], "metadata": {"n": 1}, "expect_change": True},
        {"id": "b", "query": "Salary?", "relevant_docs": [], "reference_answer": ["No.", "Never."]},
    ]  # fmt: skip
    assert export_cases(ImportedSuite(cases), tmp_path / "a.parquet", "parquet") == []
    suite = import_cases(tmp_path / "a.parquet", "parquet")
    assert suite.cases == cases
    through_golden(suite, tmp_path)


def test_parquet_of_other_tools_has_lists_of_its_own(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    table = pyarrow.table({"question": ["Why?"], "doc_ids": [["a", "b"]], "ground_truth": ["Because."], "lang": ["en"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    (case,) = import_cases(tmp_path / "a.parquet", "parquet").cases
    assert case == {"id": "why", "query": "Why?", "relevant_docs": ["a", "b"], "reference_answer": "Because.",
                    "metadata": {"lang": "en"}}  # fmt: skip
