"""Cases appended, replaced and taken out: the rest of the file stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.errors import GoldenFileError
from pytest_auepora.io.edit import raw_cases, with_cases, with_replacement

TEXT = """\
# the shop
suite: shop  # ours

cases:
  - id: one
    query: First?   # asked daily
    status: draft

  # about parcels
  - id: two
    query: Second?
    tags: [a]
  - id: three
    query: Third?
# the end
"""
ROWS = '{"suite": "shop"}\n{"id": "one", "query": "First?"}\n{"id": "two", "query": "Second?"}\n'
NEW: dict[str, Any] = {"id": "two", "query": "2nd?", "relevant_docs": [{"doc": "d", "quote": "of: it"}]}


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "shop.golden.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_case_is_replaced_where_it_stands(golden: Path) -> None:
    text = with_replacement(golden, "two", NEW)
    before, after = TEXT.split("  - id: two\n    query: Second?\n    tags: [a]\n")
    assert text.startswith(before)
    assert text.endswith(after)
    golden.write_text(text, encoding="utf-8")
    assert raw_cases(golden)[1] == NEW


@pytest.mark.parametrize(("case_id", "left"), [("one", ["two", "three"]), ("three", ["one", "two"])])
def test_a_case_is_taken_out_with_its_comments(golden: Path, case_id: str, left: list[str]) -> None:
    text = with_replacement(golden, case_id, None)
    assert "# about parcels" in text
    assert "# the end" in text
    golden.write_text(text, encoding="utf-8")
    assert [case["id"] for case in raw_cases(golden)] == left


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "shop.golden.jsonl"
    path.write_text(ROWS, encoding="utf-8")
    assert with_replacement(path, "one", None) == ROWS.replace('{"id": "one", "query": "First?"}\n', "")
    assert with_replacement(path, "one", {"id": "x", "query": "?"}).splitlines()[1] == '{"id": "x", "query": "?"}'
    assert with_cases(path, [{"id": "x", "query": "?"}]).text == ROWS + '{"id": "x", "query": "?"}\n'


def test_where_it_cannot_be_done_nothing_is_guessed(golden: Path) -> None:
    with pytest.raises(KeyError):
        with_replacement(golden, "four", None)
    golden.write_text('cases: [{id: one, query: "First?"}, {id: two, query: "Second?"}]\n', encoding="utf-8")
    with pytest.raises(GoldenFileError, match="block style"):
        with_replacement(golden, "one", None)
    with pytest.raises(GoldenFileError, match="block style"):
        with_cases(golden, [NEW])


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_line_separator_in_a_text_ends_no_line(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "a.golden.jsonl"
    path.write_text(f'{{"id": "a", "query": "x{separator}y"}}\n{{"id": "b", "query": "z"}}\n', encoding="utf-8")
    assert with_replacement(path, "b", {"id": "b", "query": "w"}).endswith('y"}\n{"id": "b", "query": "w"}\n')
    path = tmp_path / "b.golden.yaml"
    path.write_text(TEXT.replace("First?", f'"What{separator} is first?"'), encoding="utf-8")
    text = with_replacement(path, "two", NEW)
    assert text.endswith("  - id: three\n    query: Third?\n# the end\n")
    path.write_text(text, encoding="utf-8")
    assert raw_cases(path)[1] == NEW
    assert "\n  - id: four\n" in with_cases(path, [{"id": "four", "query": "4th?"}]).text


@pytest.mark.parametrize(("mark", "end"), [("\ufeff", "\r\n"), ("", "\r\n"), ("\ufeff", "\n")])
def test_line_ends_and_mark_stay(golden: Path, mark: str, end: str) -> None:
    golden.write_bytes((mark + TEXT.replace("\n", end)).encode())
    short = TEXT.replace("    tags: [a]\n", "")
    assert with_replacement(golden, "two", {"id": "two", "query": "Second?"}) == mark + short.replace("\n", end)
    added = with_cases(golden, [{"id": "four", "query": "4th?"}]).text
    assert added == mark + (TEXT + "  - id: four\n    query: 4th?\n").replace("\n", end)


def test_what_a_golden_file_may_hold_is_read(tmp_path: Path) -> None:
    """In braces Python's own parser of YAML takes a question mark for a key."""
    path = tmp_path / "b.golden.yaml"
    path.write_text(
        "suite: b\nmetrics: [mrr]\ncases:\n- {id: a, query: How long?, relevant_docs: [x]}\n", encoding="utf-8"
    )
    assert raw_cases(path) == [{"id": "a", "query": "How long?", "relevant_docs": ["x"]}]


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "shop.golden.JSONL"
    path.write_text(ROWS, encoding="utf-8")
    assert [case["id"] for case in raw_cases(path)] == ["one", "two"]
    assert with_cases(path, [{"id": "x", "query": "?"}]).text == ROWS + '{"id": "x", "query": "?"}\n'


@pytest.mark.parametrize("status", ["    status: draft\n", "    status: draft  # of the bot\n"])
def test_a_draft_that_is_accepted_keeps_its_comments(golden: Path, status: str) -> None:
    text = TEXT.replace("    status: draft\n", status)
    golden.write_text(text, encoding="utf-8")
    assert with_replacement(golden, "one", {"id": "one", "query": "First?"}) == text.replace(status, "")


@pytest.mark.parametrize(
    "case", ["  - status: draft\n    id: x\n    query: Q\n", "  - {id: x, query: Q, status: draft}\n"]
)
def test_a_status_that_has_no_line_of_its_own(golden: Path, case: str) -> None:
    golden.write_text(f"cases:\n{case}", encoding="utf-8")
    assert with_replacement(golden, "x", {"id": "x", "query": "Q"}) == "cases:\n  - id: x\n    query: Q\n"
