"""Rows of files: one reader for every suffix, errors with the line, cells that hold lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.io.importers.imported import ImportProblem
from pytest_auepora.io.importers.rows import as_text, first_filled, read_data, read_rows, write_csv


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '[{"q": "x", "n": "1"}]'),
        ("a.jsonl", '{"q": "x", "n": "1"}\n\n'),
        ("a.yaml", '- {q: x, n: "1"}\n'),
        ("a.csv", "q,n\nx,1\n"),
        ("a.tsv", "\ufeffq\tn\nx\t1\n"),
        ("under.json", '{"tests": [{"q": "x", "n": "1"}]}'),
    ],
)
def test_the_same_rows_from_every_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read_rows(path, "tests") == [{"q": "x", "n": "1"}]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.json", '[\n{"q": }]', "a.json:2:7: not JSON"),
        ("a.jsonl", '{"q": 1}\n{', "a.jsonl:2:2: not JSON"),
        ("a.csv", "a,a\n1,2\n", "a.csv:1: a column is named twice"),
        ("a.csv", "a,b\n1\n", "row 2 has 1 columns, the header 2"),
        ("a.csv", 'a\n"open\n', "not CSV"),
        ("a.yaml", "a: b: c\n", "a.yaml:1:5: not YAML"),
        ("a.txt", "x", "expected .json, .jsonl"),
        ("a.json", '{"tests": 1}', "expected a list of mappings, at the top or under tests"),
    ],
)
def test_what_cannot_be_read_says_where(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ImportProblem, match=r"a\.") as caught:
        read_rows(path, "tests")
    assert words in str(caught.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match="cannot be read: No such file"):
        read_data(tmp_path / "none.json")
    (tmp_path / "b.json").write_bytes(b"\xff")
    with pytest.raises(ImportProblem, match=r"not UTF-8: .* at byte 0"):
        read_data(tmp_path / "b.json")


@pytest.mark.parametrize(
    "text",
    [
        "q;n\nx, y;1\n",
        "q\tn\nx, y\t1\n",
        "q|n\nx, y|1\n",
        "sep=;\nq;n\nx, y;1\n",
        "sep=\t\r\nq\tn\nx, y\t1\n",
        'q;"n"\n"x, y";1\n',
    ],
)
def test_other_separators_than_the_comma_are_recognised(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    assert read_rows(tmp_path / "a.csv") == [{"q": "x, y", "n": "1"}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("q;n\nx\n", "row 2 has 1 columns, the header 2 (separated by ';')"),
        ("q;n\nx;1;2\n", "row 2 has 3 columns, the header 2 (separated by ';')"),
        ("sep=;\nq;n\nx,1\n", "row 3 has 1 columns, the header 2 (separated by ';')"),
    ],
)
def test_separators_that_do_not_fit_all_rows_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ImportProblem) as caught:
        read_rows(tmp_path / "a.csv")
    assert words in str(caught.value)


def test_rows_know_where_they_stand(tmp_path: Path) -> None:
    for name, text, place in (("a.csv", "q\nx\n\ny\n", "a.csv: row 4"), ("a.jsonl", '\n{"q": 1}\n', "a.jsonl:2"),
                              ("a.json", '[{"q": 1}]', "a.json: row 1")):  # fmt: skip
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert read_rows(tmp_path / name)[-1].place == str(tmp_path / place)


def test_a_key_given_twice_in_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- {q: a, q: b}\n", encoding="utf-8")
    with pytest.raises(ImportProblem, match=r"a\.yaml:1:10: 'q' is given twice"):
        read_data(tmp_path / "a.yaml")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.csv"
    rows: list[dict[str, Any]] = [{"q": 'say "x",\nplease', "n": None}, {"q": "y", "n": "2"}]
    write_csv(path, ["q", "n"], rows)
    assert read_rows(path) == [{"q": 'say "x",\nplease', "n": ""}, {"q": "y", "n": "2"}]
    assert first_filled(rows[0], ["n", "q"]) == "q"
    assert (as_text("a"), as_text({"a": "é"})) == ("a", '{"a": "é"}')


def test_tabs_where_the_file_ends_in_tsv(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.tsv", ["q", "n"], [{"q": "x, y", "n": "1"}])
    assert read_rows(tmp_path / "a.tsv") == [{"q": "x, y", "n": "1"}]


def test_a_line_separator_in_a_text_ends_no_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"q": "a\u2028b\x85c"}\n{"q": "d"}\n', encoding="utf-8")
    assert read_rows(tmp_path / "a.jsonl") == [{"q": "a\u2028b\x85c"}, {"q": "d"}]
