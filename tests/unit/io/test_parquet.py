"""Data sets in Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.types import Document, EvaluationSample, Response
from pytest_auepora.errors import AueporaError, GoldenFileError
from pytest_auepora.io.parquet import load_parquet_dataset, save_parquet_dataset

pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")

SAMPLES = [
    EvaluationSample("a", "How long?", [Document("x", "30 days", {"grade": 2})], [], Response("Yes.", {"days": 30}),
                     {"scenario": "typo"}, {"n": [1, {"b": None}]}),
    EvaluationSample("b", "Why?\nü"),
    EvaluationSample("c", "Salary?", []),
    EvaluationSample("d", "And then?", chat_history=[{"role": "user", "content": "hi"}]),
]  # fmt: skip


def test_samples_come_back(tmp_path: Path) -> None:
    path = tmp_path / "shop.parquet"
    save_parquet_dataset(InMemoryDataset("x", SAMPLES), path)
    loaded = load_parquet_dataset(path)
    assert (loaded.name, list(loaded)) == ("shop", SAMPLES)
    assert load_parquet_dataset(path, "other").name == "other"


def test_schema_is_the_same_whatever_is_in_it(tmp_path: Path) -> None:
    from pyarrow.parquet import read_schema

    for name, samples in (("a", SAMPLES), ("b", [])):
        save_parquet_dataset(InMemoryDataset("x", samples), tmp_path / name)
    assert read_schema(tmp_path / "a").equals(read_schema(tmp_path / "b"))
    assert list(load_parquet_dataset(tmp_path / "b")) == []


def test_nested_columns_are_read_too(tmp_path: Path) -> None:
    write(tmp_path, {"sample_id": ["a"], "query": ["Why?"], "relevant_docs": [[{"doc_id": "x", "text": "t"}]]})
    (sample,) = load_parquet_dataset(tmp_path / "a.parquet")
    assert sample.relevant_docs == [Document("x", "t")]


def write(folder: Path, columns: dict[str, list[Any]]) -> None:
    from pyarrow.parquet import write_table

    write_table(pyarrow.table(columns), folder / "a.parquet")


def test_row_that_is_no_sample_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"sample_id": ["a", "b"], "query": ["Why?", None]})
    with pytest.raises(GoldenFileError, match=r"a\.parquet:2:1: a sample has no query"):
        load_parquet_dataset(tmp_path / "a.parquet")


def test_file_that_is_no_parquet_and_cell_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("id,query")
    with pytest.raises(AueporaError, match="cannot be read as Parquet"):
        load_parquet_dataset(tmp_path / "a.parquet")
    write(tmp_path, {"sample_id": ["a"], "query": ["Why?"], "labels": ["{"]})
    with pytest.raises(GoldenFileError, match=r"a\.parquet:1:\d+: labels: "):
        load_parquet_dataset(tmp_path / "a.parquet")


def test_sample_that_is_no_json_writes_nothing(tmp_path: Path) -> None:
    odd = EvaluationSample("a", "Why?", metadata={"x": object()})
    with pytest.raises(AueporaError, match="sample 'a' cannot be written as JSON"):
        save_parquet_dataset(InMemoryDataset("x", [odd]), tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()
