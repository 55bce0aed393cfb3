"""The file of labels: every form of it, and all that is wrong with one."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_auepora.calibration.labels import read_label_file
from pytest_auepora.errors import GoldenFileError, MetricError


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_json_lines(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "l.jsonl",
        {"id": "a", "label": True, "score": 0.75, "query": "q", "answer": "x", "evidence": "only"},
        {"labels": {"anna": "yes", "ben": 0, "cleo": 1}, "score": 0.25, "evidence": ["one", "two"]},
        {"id": "c", "query": "q"},
    )
    found = read_label_file(path)
    assert (found.scale, found.unlabelled, len(found.items)) == ("boolean", 1, 2)
    first, second = found.items
    assert (first.score, first.texts, first.cluster) == (0.75, ["only"], "q")
    assert (second.name, second.score, second.line, found.majority(second)) == ("2", 0.25, 2, True)


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text(
        "id,label_anna,label_ben,score,query,answer,evidence,evidence_2\n"
        'a,yes,no,0.5,"What, now?","two\nlines",one,two\n'
        "b,true,,1,q,x,one,\n\n",
        encoding="utf-8",
    )
    found = read_label_file(path)
    a, b = found.items
    assert (a.people, a.score, a.texts, a.answer) == ([True, False], 0.5, ["one", "two"], "two\nlines")
    assert (b.people, b.score, b.line) == ([True], 1.0, 4)
    assert found.majority(a) is None


def test_grades_and_words(tmp_path: Path) -> None:
    grades = lines(tmp_path / "g.jsonl", *({"label": n} for n in (1, 3, 4, 5)))
    found = read_label_file(grades)
    assert (found.scale, [found.majority(i) for i in found.items]) == ("grade", [False, False, True, True])
    found = read_label_file(grades, ["3"])
    assert [found.majority(i) for i in found.items] == [False, True, True, True]
    words = lines(tmp_path / "w.jsonl", {"label": "good"}, {"label": "bad"}, {"label": "fair"})
    found = read_label_file(words, ["good", "fair"])
    assert [found.majority(i) for i in found.items] == [True, False, True]


@pytest.mark.parametrize(
    ("positive", "said"),
    [([], "name them with --positive; available: bad, good"), (["godo"], "no label is 'godo' (did you mean 'good'?)")],
)
def test_words_need_to_be_told_which_mean_yes(tmp_path: Path, positive: list[str], said: str) -> None:
    path = lines(tmp_path / "w.jsonl", {"label": "good"}, {"label": "bad"})
    with pytest.raises(MetricError) as caught:
        read_label_file(path, positive)
    assert said in str(caught.value)


def test_columns_named_twice_are_told_in_their_order(tmp_path: Path) -> None:
    names = ["score", "label", "id", "model", "group"]
    path = tmp_path / "l.csv"
    path.write_text(",".join(names * 2) + "\n", encoding="utf-8")
    with pytest.raises(GoldenFileError) as caught:
        read_label_file(path)
    told = caught.value.problems
    assert [name for name, problem in zip(names, told, strict=True) if repr(name) in problem.message] == names


@pytest.mark.parametrize("word", ["--5", "1" * 5000])
def test_a_label_that_looks_like_a_number_is_a_word(tmp_path: Path, word: str) -> None:
    path = tmp_path / "w.csv"
    path.write_text(f"label\n{word}\n", encoding="utf-8")
    assert read_label_file(path, [word]).items[0].people == [word]


def test_ids_may_be_counted_from_nought(tmp_path: Path) -> None:
    path = lines(tmp_path / "l.jsonl", {"id": 0, "label": 1}, {"id": 1, "label": 0}, {"id": "", "label": 0})
    assert [item.name for item in read_label_file(path).items] == ["0", "1", "3"]


def test_positive_has_to_fit(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="need no --positive"):
        read_label_file(lines(tmp_path / "b.jsonl", {"label": True}), ["yes"])
    with pytest.raises(MetricError, match="2 to 5; got 6"):
        read_label_file(lines(tmp_path / "g.jsonl", {"label": 5}), ["6"])


def test_all_that_is_wrong_is_told_at_its_place(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "l.jsonl",
        {"id": "a", "label": 2, "scor": 0.5},
        {"id": "a", "label": 3, "score": "high"},
        {"label": 7},
        {"label": [{}]},
        {"id": "b", "label": 2},
        {"id": "b", "label": 3},
    )
    with pytest.raises(GoldenFileError) as caught:
        read_label_file(path)
    told = {(problem.line, problem.col): problem.message for problem in caught.value.problems}
    named = {(1, 25): ["'scor'", "'score'"], (2, 34): ["score: ", '"high"'], (3, 1): [" 7"],
             (4, 11): ["label: ", "[{}]"], (6, 1): ["'b'", " 5 "]}  # fmt: skip
    assert {place: [part for part in parts if part in told[place]] for place, parts in named.items()} == named
    assert told.keys() == named.keys()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("l.jsonl", "", "holds no label"),
        ("l.jsonl", '{"id": "a"}\n', "holds no label"),
        ("l.csv", "id,lable\na,1\n", "unknown column 'lable' (did you mean 'label'"),
        ("l.csv", 'id,label\n"a,1\n', "not CSV"),
        ("l.csv", "id,answer,label\na,No, never,yes\n", "2:1: 4 columns, and the header has 3; quote a text"),
        ("l.csv", "label,label\nyes,no\n", "1:1: the column 'label' is named twice"),
        ("l.jsonl", f'{{"label": 1, "score": {10**400}}}\n', "1:23: score: expected a number;"),
        ("l.jsonl", '{"label": "good"}\n{"label": true}\n', "labels are of one kind in a file"),
    ],
)
def test_a_file_that_cannot_do(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GoldenFileError) as caught:
        read_label_file(path)
    assert said in str(caught.value)


def test_several_labels_in_one_cell(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("id,labels,label_ann,score\na,yes | no,yes,0.5\n", encoding="utf-8")
    (item,) = read_label_file(path).items
    assert (item.people, item.score) == ([True, False, True], 0.5)


def test_a_score_in_a_cell_that_is_no_number_is_told(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("label,score\nyes,high\nyes,nan\n", encoding="utf-8")
    with pytest.raises(GoldenFileError, match=r'2:1: score: expected a number; .*found "high"') as seen:
        read_label_file(path)
    problem = seen.value.problems[1]
    assert (problem.line, problem.col, problem.message.rpartition(" ")[2]) == (3, 1, "NaN")


def test_evidence_in_csv_may_be_a_long_document(tmp_path: Path) -> None:
    csv.field_size_limit(131_072)  # the default, which an import of CSV raises
    path, document = tmp_path / "l.csv", "word " * 40_000
    path.write_text(f"label,answer,evidence\nyes,x,{document}\n", encoding="utf-8")
    (item,) = read_label_file(path).items
    assert item.texts == [document]
