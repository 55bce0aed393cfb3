"""TREC: topics, qrels and runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.io.importers import import_cases
from pytest_auepora.io.importers.imported import ImportProblem
from pytest_auepora.io.importers.trec import read_run, read_topics


def test_qrels_without_topics(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q::1 0 a -1\nq::1 0 b 1\nq::1 0 c 0\n2 0 a -2\n", encoding="utf-8")
    suite = import_cases(tmp_path / "qrels", "trec")
    (case,) = suite.cases
    assert (case["query"], case["metadata"]) == ("q::1", {"topic": "q::1"})
    assert case["relevant_docs"] == [{"id": "a", "grade": -1}, "b", {"id": "c", "grade": 0}]


def test_trec(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a -2\n1 0 b 1\n1 0 b 2\n9 3 a 1\n", encoding="utf-8")
    (tmp_path / "t.txt").write_text(
        "<top>\n<num> Number: 1\n<title> Topic: polio\n  eradication\n<desc> x\n</top>\n", encoding="utf-8"
    )
    suite = import_cases(tmp_path / "qrels", "trec", topics=tmp_path / "t.txt")
    (case,) = suite.cases
    assert (case["id"], case["query"]) == ("1", "polio eradication")
    assert case["relevant_docs"] == [{"id": "a", "grade": -1}, {"id": "b", "grade": 2}]
    assert len(suite.dropped) == 4


def test_trec_run_is_ranked_by_score(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 a 1 0.5 x\nq1 Q0 b 2 0.9 x\nq1 Q0 c 3 0.5 x\n", encoding="utf-8")
    (docs,) = read_run(path).values()
    assert [(d.doc.doc_id, d.score, d.rank) for d in docs] == [("b", 0.9, 1), ("c", 0.5, 2), ("a", 0.5, 3)]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("q1 Q0 a 1 high x", r"column 5 \(score\): expected a number, got 'high'"),
        ("q1 Q0 a 1 nan x", r"column 5 \(score\): expected a number, got 'nan'"),
        ("q1 Q0 a 0.5 x", "expected 6 columns, 'topic Q0 document rank score tag', got 5"),
    ],
)
def test_trec_run_with_a_line_that_is_none(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "a.run").write_text(f"# by bm25\n{line}\n", encoding="utf-8")
    with pytest.raises(ImportProblem, match=rf"a\.run:2: {told}"):
        read_run(tmp_path / "a.run")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("1 0 a high", r"column 4 \(grade\): expected a whole number, got 'high'"),
        ("1 0 a 1.0", r"column 4 \(grade\): expected a whole number, got '1\.0'"),
        ("1 0 a 1 more", "expected 4 columns, 'topic iteration document grade', got 5: '1 0 a 1 more'"),
        ("1 0 a", "expected 4 columns, 'topic iteration document grade', got 3"),
    ],
)
def test_a_bad_column_of_judgements_is_named(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "qrels").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ImportProblem, match=f"qrels:1: {told}"):
        import_cases(tmp_path / "qrels", "trec")


def test_comments_and_further_columns_as_trec_eval_reads_them(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("# pool of 2024\n1 0 a\u00a0b 1\n", encoding="utf-8")
    assert import_cases(tmp_path / "qrels", "trec").cases[0]["relevant_docs"] == ["a\u00a0b"]
    (tmp_path / "a.run").write_text("  # top 1\n1 Q0 a 1 0.5 x more words\n", encoding="utf-8")
    assert [docs[0].doc.doc_id for docs in read_run(tmp_path / "a.run").values()] == ["a"]


def test_of_a_long_line_only_the_beginning_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("[" * 50_000, encoding="utf-8")
    for read in (read_run, read_topics, lambda place: import_cases(place, "trec")):
        with pytest.raises(ImportProblem) as caught:
            read(path)
        assert len(str(caught.value)) < len(str(path)) + 150


def test_a_line_separator_in_a_query_ends_no_line(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("1\twhy\u2028so\n2\twho\n", encoding="utf-8")
    assert read_topics(tmp_path / "topics.tsv") == {"1": "why\u2028so", "2": "who"}


def test_a_topic_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    topic = "<top>\n<num> Number: 1\n<title> a\n</top>\n"
    for text in (topic * 2, "1\ta\n1\tb\n"):
        (tmp_path / "t.txt").write_text(text, encoding="utf-8")
        with pytest.raises(ImportProblem, match="topic '1' is there twice"):
            read_topics(tmp_path / "t.txt")


def test_a_topic_of_which_nothing_is_judged_is_no_case(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a -1\n", encoding="utf-8")
    suite = import_cases(tmp_path / "qrels", "trec")
    assert [case["id"] for case in suite.cases] == ["1"]
