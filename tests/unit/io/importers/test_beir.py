"""BEIR directories: queries, judgments of a split, and the texts of judged documents where they are asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_auepora.io.importers import export_cases, import_cases
from pytest_auepora.io.importers.imported import ImportedSuite, ImportProblem


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq9\td1\t1\n")
    queries = [{"_id": "q1", "text": "Who ships?", "metadata": {"lang": "en"}}, {"_id": "q2", "text": "Unjudged?"}]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    documents = [{"_id": "d1", "title": "", "text": "A lorry."}, {"_id": "d2", "title": "T", "text": "Other."}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    return tmp_path


def test_judged_queries_become_cases(beir: Path) -> None:
    found = import_cases(beir, "beir")
    (case,) = found.cases
    assert (case["id"], case["query"], case["metadata"]) == ("q1", "Who ships?", {"lang": "en"})
    assert case["relevant_docs"] == [{"id": "d1", "grade": 2}, {"id": "d2", "grade": 0}]
    assert found.suite == beir.name


def test_texts_come_along_where_they_are_asked_for(beir: Path) -> None:
    (case,) = import_cases(beir, "beir", texts=True).cases
    assert [doc["text"] for doc in case["relevant_docs"]] == ["A lorry.", "Other."]


def test_a_split_that_is_not_there_names_those_that_are(beir: Path) -> None:
    with pytest.raises(ImportProblem, match=r"no dev\.tsv; available: test"):
        import_cases(beir, "beir", split="dev")
    (beir / "qrels" / "test.tsv").write_text("q1\td1\n")
    with pytest.raises(ImportProblem, match=r"test\.tsv:1"):
        import_cases(beir, "beir")


def test_a_quote_has_its_text_under_the_id_that_is_judged(tmp_path: Path) -> None:
    case = {"id": "a", "query": "Why?", "relevant_docs": [{"quote": "so it is"}]}
    export_cases(ImportedSuite([case]), tmp_path / "shop", "beir")
    (read,) = import_cases(tmp_path / "shop", "beir", texts=True).cases
    assert [doc["text"] for doc in read["relevant_docs"]] == ["so it is"]


def test_of_a_document_that_is_judged_twice_the_last_counts(beir: Path) -> None:
    (beir / "qrels" / "test.tsv").write_text("q1\td1\t2\nq1\td1\t1\n")
    assert import_cases(beir, "beir").cases[0]["relevant_docs"] == ["d1"]


@pytest.mark.parametrize("line", ["q1 d1 2", "q1,d1,2", "x" * 10_000_000])
def test_judgements_with_other_separators_are_refused(beir: Path, line: str) -> None:
    (beir / "qrels" / "test.tsv").write_text(f"{line}\n")
    with pytest.raises(ImportProblem, match=r"test\.tsv:1: expected query-id, corpus-id and score, got ") as caught:
        import_cases(beir, "beir")
    assert len(str(caught.value)) < 500


def test_a_document_whose_id_is_no_name_is_refused(beir: Path) -> None:
    (beir / "queries.jsonl").write_text('{"_id": 1.0, "text": "Why?"}\n')
    with pytest.raises(ImportProblem, match=r"queries\.jsonl:1, _id: expected text or a whole number"):
        import_cases(beir, "beir")


def test_an_import_of_beir_tells_what_it_left_out(beir: Path) -> None:
    assert import_cases(beir, "beir").dropped == [
        "the texts of the judged documents, which stay in the corpus (--texts takes them along) (1 time)",
        "a query that this split does not judge (1 time)", "a judged query that is not there (1 time)",
    ]  # fmt: skip
