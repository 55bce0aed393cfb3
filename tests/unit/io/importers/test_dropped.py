"""What an import says it left out, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_auepora.adapters.documents import to_retrieved
from pytest_auepora.core.types import Response, SystemOutputs
from pytest_auepora.errors import UnknownNameError
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import (
    FORMATS,
    ImportedSuite,
    ImportProblem,
    export_cases,
    import_cases,
    write_golden,
)
from pytest_auepora.metrics.ranking.matching import ranks_of_relevant


def imported(folder: Path, fmt: str, data: Any, name: str = "a.json") -> ImportedSuite:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return import_cases(path, fmt)


def exported(folder: Path, fmt: str, *cases: dict[str, Any]) -> list[str]:
    return export_cases(ImportedSuite(list(cases)), folder / "out.json", fmt)


def test_ragas(tmp_path: Path) -> None:
    suite = imported(tmp_path, "ragas", [
        {"user_input": "Why?", "response": "So.", "retrieved_contexts": ["a"], "rubrics": {"score1": "bad"}},
        {"user_input": [{"content": "hi", "type": "human"}]},
        {"question": "Old?", "ground_truths": ["Yes.", "Yes, sir."], "contexts": ["c"]},
        {"reference": "x"},
        {"user_input": "Odd?", "reference_contexts": ["a"], "reference_context_ids": [1, 2]},
    ])  # fmt: skip
    assert [c["id"] for c in suite.cases] == ["why", "old", "odd"]
    assert suite.cases[1]["reference_answer"] == ["Yes.", "Yes, sir."]
    assert suite.cases[2]["relevant_docs"] == ["1", "2"]
    assert suite.dropped == [
        "response: what a system said once (1 time)",
        "retrieved_contexts: what a system said once (1 time)",
        "rubrics: no metric here reads it (1 time)",
        "a conversation: a golden case is one question (1 time)",
        "contexts: what a system said once (1 time)",
        "a sample without a question (1 time)",
        "reference_contexts that are not as many as their ids (1 time)",
    ]


def test_ragas_csv_as_python_writes_lists(tmp_path: Path) -> None:
    suite = imported(tmp_path, "ragas", "user_input,reference_context_ids\nWhy?,\"['a', 'b']\"\n", "a.csv")
    assert suite.cases[0]["relevant_docs"] == ["a", "b"]


def test_a_context_without_an_id_becomes_a_quote(tmp_path: Path) -> None:
    (case,) = imported(tmp_path, "ragas", [{"user_input": "Why?", "reference_contexts": ["Some text, really."]}]).cases
    assert case["relevant_docs"] == [{"quote": "Some text, really."}]
    write_golden(ImportedSuite([case]), tmp_path / "x.golden.yaml")
    (read,) = load_golden(tmp_path / "x.golden.yaml").samples()
    chunk = {"id": "c-17", "text": "A chunk: Some text,\nreally. And more.", "source": "a.md"}
    for found, ranks in ((to_retrieved([chunk]), [1]), (to_retrieved(["other"]), [None])):
        assert list(ranks_of_relevant(read, SystemOutputs(found, Response(""))).values()) == ranks


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


def test_deepeval_in_camel_case(tmp_path: Path) -> None:
    suite = imported(tmp_path, "deepeval", [
        {"input": "Why?", "expectedOutput": "So.", "actualOutput": "x", "expectedTools": [{"name": "t"}]},
        {"scenario": "a talk", "turns": []},
    ])  # fmt: skip
    assert suite.cases == [{"id": "why", "query": "Why?", "reference_answer": "So."}]
    assert suite.dropped == [
        "actual_output: what a system said once (1 time)",
        "expected_tools: no metric here reads it (1 time)",
        "a conversation: a golden case is one question (1 time)",
    ]


def test_promptfoo(tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text(yaml.safe_dump([{"vars": {"q": "More?"}}]), encoding="utf-8")
    suite = imported(tmp_path, "promptfoo", {
        "prompts": ["{{q}}"], "providers": ["x"],
        "defaultTest": {"vars": {"lang": "en"}, "assert": [{"type": "latency", "threshold": 2000}]},
        "tests": [
            {"vars": {"q": "Why?"}, "threshold": 0.5, "assert": [
                {"type": "contains", "value": "So", "weight": 2}, {"type": "contains-any", "value": ["a.b", "c"]},
                {"type": "not-contains-all", "value": "d, e"}, {"type": "llm-rubric", "value": "is nice"},
                {"type": "g-eval", "value": "is kind"}]},
            {"vars": {"a": "1", "b": "2"}},
            "file://more.yaml",
            "https://docs.example/sheet",
        ],
    })  # fmt: skip
    first, second = suite.cases
    assert first["must_contain"] == ["(?i)So", r"(?i)a\.b|c"]
    assert (first["forbidden"], first["match"]) == ([r"(?s)\A(?=.*d)(?=.*e)"], "regex")
    assert first["metadata"] == {"promptfoo": {"query": "q", "vars": {"lang": "en"}}}
    assert first["rubric"] == ["is nice"]
    assert second["query"] == "More?"
    told = " ".join(suite.dropped)
    for what in ("prompts of the config", "the assertion latency (2 times)", "weight of an assertion", "g-eval",
                 "letters count as upper or lower", "threshold of a test",
                 "a test without one of the variables query", "tests from https:"):  # fmt: skip
        assert what in told, what


def test_pydantic_evals(tmp_path: Path) -> None:
    suite = imported(tmp_path, "pydantic-evals", {
        "cases": [{"inputs": {"a": 1}}, {"inputs": "Why?", "evaluators": ["EqualsExpected", {"Contains": "So"}]}],
        "evaluators": [{"IsInstance": "str"}], "report_evaluators": ["x"],
    })  # fmt: skip
    assert suite.cases == [{"id": "why", "query": "Why?", "must_contain": ["So"], "match": "substring"}]
    assert [d.rpartition(" (")[0] for d in suite.dropped] == [
        "a case whose inputs hold no question (query, question, user_input, input, prompt, text)",
        "the evaluator IsInstance", "the evaluator EqualsExpected", "that letters count as upper or lower case",
        "report_evaluators",
    ]  # fmt: skip


def test_qrels_without_topics(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q::1 0 a -1\nq::1 0 b 1\nq::1 0 c 0\n2 0 a -2\n", encoding="utf-8")
    suite = import_cases(tmp_path / "qrels", "trec")
    (case,) = suite.cases
    assert (case["query"], case["metadata"]) == ("q::1", {"topic": "q::1"})
    assert case["relevant_docs"] == ["b", {"id": "c", "grade": 0}]  # bpref of a, b, c is 1.0, not 0.0
    assert "a grade below 0: the document counts as not judged (2 times)" in suite.dropped


def test_trec(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a -2\n1 0 b 1\n1 0 b 2\n9 3 a 1\n", encoding="utf-8")
    (tmp_path / "t.txt").write_text(
        "<top>\n<num> Number: 1\n<title> Topic: polio\n  eradication\n<desc> x\n</top>\n", encoding="utf-8"
    )
    suite = import_cases(tmp_path / "qrels", "trec", topics=tmp_path / "t.txt")
    (case,) = suite.cases
    assert (case["id"], case["query"]) == ("1", "polio eradication")
    assert case["relevant_docs"] == [{"id": "b", "grade": 2}]
    assert len(suite.dropped) == 4


def test_export_says_what_the_format_cannot_hold(tmp_path: Path) -> None:
    case = {"id": "a", "query": "Why?", "reference_answer": ["x", "y"], "scenario": "typo",
            "relevant_docs": [{"doc": "r.md", "quote": "q"}, {"id": "z", "grade": 0}]}  # fmt: skip
    told = exported(tmp_path, "trec", case)
    assert "a quote or span: the format names whole documents (1 time)" in told
    assert "scenario: the format has no place for it (1 time)" in told
    assert "reference_answer: the format has no place for it (1 time)" in told
    told = exported(tmp_path, "ragas", case)
    assert "a document judged not relevant (1 time)" in told
    assert "a further reference answer: the format has one (1 time)" in told
    assert exported(tmp_path, "csv", case) == []


def test_thresholds_of_a_loaded_file_are_not_lost_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "a.golden.yaml"
    path.write_text("cases: [{id: a, query: Why?, thresholds: {token_f1: 0.4}, skip: later}]", encoding="utf-8")
    told = export_cases(load_golden(path), tmp_path / "a.jsonl", "ragas")
    assert told[0].startswith("the metrics, thresholds, policy")
    assert {"skip: the format has no place for it (1 time)", "thresholds: the format has no place for it (1 time)"} < {
        *told
    }


@pytest.mark.parametrize(
    ("fmt", "name", "text", "told"),
    [
        ("ragas", "a.jsonl", '{"user_input": "a"}\n{"user', r"a\.jsonl:2: not JSON"),
        ("ragas", "a.json", "{}", "expected a list of mappings, at the top or under samples or data"),
        ("ragas", "a.txt", "x", r"expected \.json, \.jsonl, \.yaml"),
        ("csv", "a.csv", "query,query\n1,2\n", "a column is named twice"),
        ("csv", "a.csv", "id,query\na\n", "row 2 has 1 columns, the header 2"),
        ("csv", "a.csv", "query,labels\nWhy?,{\n", r"row 1, column labels: expected JSON, got '\{'"),
        ("csv", "a.csv", "query,top_k\nWhy?,many\n", "column top_k: expected a number, got 'many'"),
        ("promptfoo", "a.yaml", "a: [", r"a\.yaml:\d+:\d+: not YAML"),
        ("promptfoo", "a.yaml", "a: 1", "expected a list of tests, or a configuration with tests"),
        ("pydantic-evals", "a.yaml", "cases: 1", "expected a mapping with a list of cases"),
        ("beir", "a.json", "{}", "no test.tsv; there is none"),
    ],
)
def test_file_that_cannot_be_read_says_where(tmp_path: Path, fmt: str, name: str, text: str, told: str) -> None:
    with pytest.raises(ImportProblem, match=told):
        imported(tmp_path, fmt, text, name)


def test_bytes_that_are_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"query\nca\xe9\n")
    with pytest.raises(ImportProblem, match=r"not UTF-8: .* at byte 8"):
        import_cases(tmp_path / "a.csv", "csv")


def test_format_option_and_file_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown format 'raga' \(did you mean 'ragas'\?\)"):
        import_cases(tmp_path, "raga")
    with pytest.raises(ImportProblem, match="ragas has no option 'split'; it takes none"):
        import_cases(tmp_path, "ragas", split="dev")
    with pytest.raises(ImportProblem, match="there is no "):
        import_cases(tmp_path / "nowhere.json", "ragas")


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_format_reads_and_writes(fmt: str) -> None:
    assert callable(FORMATS[fmt].reader())
    assert callable(FORMATS[fmt].writer())


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="there are no cases to write"):
        write_golden(ImportedSuite([]), tmp_path / "a.golden.yaml")
