"""Damaged and hostile files: an import reads them or says what is wrong, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from pytest_auepora.errors import AueporaError
from pytest_auepora.io.importers import import_cases

TRIES = 150


def tried(path: Path, data: bytes, fmt: str) -> None:
    path.write_bytes(data)
    try:
        import_cases(path, fmt)
    except AueporaError as exc:
        assert str(path) in str(exc)  # noqa: PT017 - either is fine


def damaged(raw: bytes, pick: Random) -> bytes:
    """Return *raw* with a few bytes exchanged, or cut."""
    made = bytearray(raw)
    for _ in range(pick.randrange(1, 4)):
        made[pick.randrange(len(made))] = pick.randrange(256)
    return bytes(made[: pick.randrange(len(made))] if pick.random() < 0.2 else made)


def test_damaged_parquet(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, pick = tmp_path / "a.parquet", Random(1)
    columns = {"id": ["a", "b"], "query": ["Why?", "How?"], "relevant_docs": ['["x"]', None], "top_k": [1, 2]}
    parquet.write_table(pyarrow.table(columns), path)
    raw = path.read_bytes()
    for _ in range(TRIES):
        tried(path, damaged(raw, pick), "parquet")


ROWS = {
    "ragas": ("a.jsonl", {"user_input": "Why?", "reference_contexts": ["c"], "reference": "So."}),
    "deepeval": ("a.json", [{"input": "Why?", "context": ["c"], "expected_output": "So."}]),
    "promptfoo": ("a.json", {"tests": [{"vars": {"q": "Why?"}, "assert": [{"type": "contains", "value": "x"}]}]}),
    "csv": ("a.csv", "query,relevant_docs,top_k\nWhy?,a|b,5\n"),
}


@pytest.mark.parametrize("fmt", ROWS)
def test_damaged_texts(tmp_path: Path, fmt: str) -> None:
    name, said = ROWS[fmt]
    raw = (said if isinstance(said, str) else json.dumps(said)).encode()
    pick = Random(2)
    for _ in range(TRIES):
        tried(tmp_path / name, damaged(raw, pick), fmt)


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("fmt", "name", "text"),
    [
        ("csv", "a.csv", f"query,relevant_docs\nWhy?,{DEEP}\n"),
        ("csv", "a.csv", f'query,metadata\nWhy?,"{DEEP}"\n'),
        ("csv", "a.csv", f"query,top_k\nWhy?,{'9' * 5000}\n"),
        ("ragas", "a.json", f'[{{"user_input": "Why?", "reference_contexts": {DEEP}}}]'),
        ("ragas", "a.json", f'[{{"user_input": "Why?", "n": {"9" * 5000}}}]'),
        ("promptfoo", "a.yaml", DEEP),
        ("promptfoo", "a.yaml", "tests: [{vars: {q: 2024-99-99}}]"),
        ("promptfoo", "a.yaml", f"tests: [{{vars: {{q: {'9' * 5000}}}}}]"),
    ],
)
def test_deep_literals_and_huge_numbers(tmp_path: Path, fmt: str, name: str, text: str) -> None:
    tried(tmp_path / name, text.encode(), fmt)
