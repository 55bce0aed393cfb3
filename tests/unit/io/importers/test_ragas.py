"""Data sets of ragas: test sets, evaluation samples, CSV."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_auepora.adapters.documents import to_retrieved
from pytest_auepora.core.types import Response, SystemOutputs
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite
from pytest_auepora.metrics.ranking.matching import ranks_of_relevant
from tests.unit.io.files import write_golden

from .test_files import imported


def test_ragas(tmp_path: Path) -> None:
    suite = imported(tmp_path, "ragas", [
        {"user_input": "Why?", "response": "So.", "retrieved_contexts": ["a"], "rubrics": {"score1": "bad"}},
        {"user_input": [{"content": "hi", "type": "ai"}]},
        {"question": "Old?", "ground_truths": ["Yes.", "Yes, sir."], "contexts": ["c"]},
        {"reference": "x"},
        {"user_input": "Odd?", "reference_contexts": ["a"], "reference_context_ids": [1, 2]},
    ])  # fmt: skip
    assert [c["id"] for c in suite.cases] == ["why", "old", "odd"]
    assert suite.cases[1]["reference_answer"] == ["Yes.", "Yes, sir."]
    assert suite.cases[2]["relevant_docs"] == ["1", "2"]


def test_ragas_csv_as_python_writes_lists(tmp_path: Path) -> None:
    suite = imported(tmp_path, "ragas", "user_input,reference_context_ids\nWhy?,\"['a', 'b']\"\n", "a.csv")
    assert suite.cases[0]["relevant_docs"] == ["a", "b"]


def test_a_context_without_an_id_becomes_a_quote(tmp_path: Path) -> None:
    suite = imported(tmp_path, "ragas", [{"user_input": "Why?", "reference_contexts": ["Some text, really."]}])
    (case,) = suite.cases
    assert (suite.dropped, [note.partition(" ")[0] for note in suite.notes]) == ([], ["1"])
    assert case["relevant_docs"] == [{"quote": "Some text, really."}]
    write_golden(ImportedSuite([case]), tmp_path / "x.golden.yaml")
    (read,) = load_golden(tmp_path / "x.golden.yaml").cases
    chunk = {"id": "c-17", "text": "A chunk: Some text,\nreally. And more.", "source": "a.md"}
    for found, ranks in ((to_retrieved([chunk]), [1]), (to_retrieved(["other"]), [None])):
        assert list(ranks_of_relevant(read.sample, SystemOutputs(found, Response(""))).values()) == ranks


def test_a_test_set_of_ragas(tmp_path: Path) -> None:
    path = tmp_path / "testset.jsonl"
    row = {"user_input": "Q?", "reference_contexts": ["c1"], "reference": "A", "synthesizer_name": "single_hop"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (case,) = import_cases(path, "ragas").cases
    assert (case["query"], case["reference_answer"]) == ("Q?", "A")
    assert case["relevant_docs"] == [{"quote": "c1"}]
    assert case["metadata"] == {"synthesizer_name": "single_hop"}


def test_a_column_of_ragas_is_not_overwritten(tmp_path: Path) -> None:
    case = {"id": "mine", "query": "Why?", "metadata": {"user_input": "Who?", "lang": "en"}}
    export_cases(ImportedSuite([case]), tmp_path / "a.jsonl", "ragas")
    assert import_cases(tmp_path / "a.jsonl", "ragas").cases == [
        {"id": "why", "query": "Why?", "metadata": {"lang": "en"}}
    ]


def test_several_ground_truths_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,ground_truths\nWhy?,\"['So.', 'Thus.']\"\nHow?,['So.']\n", encoding="utf-8")
    answers = [case["reference_answer"] for case in import_cases(path, "ragas").cases]
    assert answers == [["So.", "Thus."], "So."]


COLUMNS = "user_input,retrieved_contexts,retrieved_context_ids,response,reference"
RESULTS = f"""{COLUMNS},faithfulness,rouge_score(mode=fmeasure),team
Who pays?,"['It is free.' 'Nobody pays.']","['a' 'b']",Nobody.,"Nobody, it is free.",1.0,0.5,shop
When?,['On Monday.'],,,Monday.,,1.0,shop
"""


def test_results_of_ragas_are_cases_and_recorded_answers(tmp_path: Path) -> None:
    """Their columns of scores are left out; other columns are metadata, as in a data set."""
    suite = imported(tmp_path, "ragas", RESULTS, "results.csv")
    assert [case["metadata"] for case in suite.cases] == [{"team": "shop"}] * 2
    found = [{"id": "a", "text": "It is free."}, {"id": "b", "text": "Nobody pays."}]
    assert suite.answers == [{"id": "who-pays", "answer": "Nobody.", "documents": found}]


def test_ids_that_are_not_as_many_as_the_texts_name_none(tmp_path: Path) -> None:
    row = {"user_input": "Why?", "response": "So.", "retrieved_contexts": ["a", "b"], "retrieved_context_ids": ["x"]}
    (answer,) = imported(tmp_path, "ragas", [row]).answers
    assert answer["documents"] == [{"text": "a"}, {"text": "b"}]


def test_the_last_answer_of_a_conversation_is_recorded(tmp_path: Path) -> None:
    turns = [{"type": "human", "content": "Hi, why?"}, {"type": "ai", "content": "So."}]
    assert imported(tmp_path, "ragas", [{"user_input": turns}]).answers[0]["answer"] == "So."
