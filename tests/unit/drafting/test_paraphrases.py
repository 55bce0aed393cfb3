"""Other wordings of queries from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_auepora.drafting.paraphrases import load_paraphrases
from pytest_auepora.errors import AueporaError


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": "x", "query": "one"}\n\n{"id": "x", "query": "two"}\n{"id": "y", "query": "three"}'),
        ("a.json", '{"x": ["one", "two"], "y": "three"}'),
        ("a.yaml", "x: [one, two]\ny: three\n"),
    ],
)
def test_forms(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert load_paraphrases(path) == {"x": ["one", "two"], "y": ["three"]}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"id": "x", "query": "one"}\n{"id"', "a.jsonl:2: not JSON"),
        ("a.jsonl", '{"id": "x"}', "a.jsonl:1: expected a row with id and query"),
        ("a.jsonl", '{"id": "x", "query": 3}', "a.jsonl:1: expected a text, got 3"),
        ("a.yaml", "- x", "a.yaml: expected JSON Lines with id and query, or"),
        ("a.yaml", "x: [", "a.yaml: cannot be read"),
        ("a.json", '{"x": [" "]}', "a.json: x: expected a text"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, name: str, text: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AueporaError) as error:
        load_paraphrases(path)
    assert told in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AueporaError, match="cannot be read: No such file"):
        load_paraphrases(tmp_path / "a.yaml")
