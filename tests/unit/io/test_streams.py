"""Data sets read bit by bit: the same samples, the same complaints in the same places."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.types import Document, EvaluationSample
from pytest_auepora.errors import AueporaError, GoldenFileError
from pytest_auepora.io import source, streams
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.jsonl import load_jsonl_dataset, save_jsonl_dataset
from pytest_auepora.io.streams import open_dataset, read_recorded

from .parquet_rows import rows_taken


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK_BYTES", 100)
    monkeypatch.setattr(streams, "BLOCK_ROWS", 4)


def samples(size: int) -> list[EvaluationSample]:
    return [EvaluationSample(f"s{n}", "wie groß?" * n, [Document("ü")], labels={"n": n}) for n in range(size)]


@pytest.mark.parametrize("size", [0, 1, 4, 11])
def test_lines_are_read_as_the_whole_is(tmp_path: Path, size: int) -> None:
    path = tmp_path / "shop.jsonl"
    save_jsonl_dataset(InMemoryDataset("x", samples(size)), path)
    data = open_dataset(path)
    assert (data.name, len(data), list(data), list(data)) == ("shop", size, samples(size), samples(size))
    assert open_dataset(str(path), "other").name == "other"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\r"])
def test_line_ends_blank_lines_and_a_mark_at_the_start(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"sample_id": f"s{n}", "query": "q"}) for n in range(9)]
    path.write_bytes(b"\xef\xbb\xbf" + end.join(lines).encode())
    assert [s.sample_id for s in open_dataset(path)] == [f"s{n}" for n in range(9)]
    assert len(open_dataset(path)) == 9


@pytest.mark.parametrize(
    "last", [b'{"sample_id": 3, "query": "q"}', b"[]", b"{", b'{"sample_id": "s", "qury": "q"}', b"\xff"]
)
def test_complaints_are_those_of_the_whole_file(tmp_path: Path, last: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"sample_id": "s", "query": "q"}\n' * 9 + b"\n" + last)
    with pytest.raises(GoldenFileError) as whole:
        load_jsonl_dataset(path)
    with pytest.raises(GoldenFileError) as streamed:
        list(open_dataset(path))
    assert [p.line for p in streamed.value.problems] == [11] * len(streamed.value.problems)
    assert [(p.line, p.col) for p in streamed.value.problems] == [(p.line, p.col) for p in whole.value.problems]
    assert streamed.value.problems == whole.value.problems


def test_what_comes_before_a_complaint_was_given(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"sample_id": "s", "query": "q"}\n' * 5 + "{", encoding="utf-8")
    rest = iter(open_dataset(path))
    assert [next(rest).sample_id for _ in range(4)] == ["s"] * 4
    with pytest.raises(GoldenFileError, match=r"a\.jsonl:6:"):
        next(rest)


def test_a_file_that_is_not_there_or_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GoldenFileError, match=r"lost\.jsonl: cannot be read: there is no such file"):
        open_dataset(tmp_path / "lost.jsonl")
    with pytest.raises(GoldenFileError, match="cannot be read: it is no file"):
        open_dataset(tmp_path)
    monkeypatch.setattr(source, "MAX_BYTES", 100)
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n" * 5 + "x" * 101, encoding="utf-8")
    with pytest.raises(GoldenFileError, match=r"a\.jsonl:6:1: is longer than 100 bytes"):
        list(source.line_blocks(path))


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow import table
    from pyarrow.parquet import write_table

    from pytest_auepora.io.parquet import save_parquet_dataset

    path = tmp_path / "shop.parquet"
    save_parquet_dataset(InMemoryDataset("x", samples(11)), path)
    data = open_dataset(path)
    assert (data.name, len(data), list(data)) == ("shop", 11, samples(11))
    write_table(table({"sample_id": ["s"] * 10, "query": ["q"] * 9 + [None]}), path)
    with pytest.raises(GoldenFileError, match=r"shop\.parquet:10:1: a sample has no query"):
        list(open_dataset(path))
    path.write_text("x")
    for read in (len, list):
        with pytest.raises(AueporaError, match="cannot be read as Parquet"):
            read(open_dataset(path))


def test_of_parquet_a_block_of_rows_is_held_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    from pyarrow import table

    path = tmp_path / "shop.parquet"
    parquet.write_table(table({"sample_id": [f"s{n}" for n in range(11)], "query": ["q"] * 11}), path)
    taken = rows_taken(monkeypatch)
    rest = iter(open_dataset(path))
    assert next(rest).sample_id == "s0"
    assert taken == [4]
    assert [sample.sample_id for sample in rest] == [f"s{n}" for n in range(1, 11)]
    assert taken == [4, 4, 3]


def test_a_group_as_large_as_the_file_is_not_held_whole(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    from pyarrow.parquet import ParquetFile, write_table

    size, path = 20_000, tmp_path / "shop.parquet"
    texts = [random.Random(n).randbytes(500).hex() for n in range(size)]
    write_table(pyarrow.table({"sample_id": texts, "query": texts}), path, row_group_size=size)
    assert ParquetFile(path).num_row_groups == 1
    before = pyarrow.total_allocated_bytes()
    rest = iter(open_dataset(path))
    assert next(rest).sample_id == texts[0]
    assert pyarrow.total_allocated_bytes() - before < path.stat().st_size / 2


def recorded(folder: Path, *rows: object) -> list[str]:
    golden, outputs = folder / "s.golden.yaml", folder / "outputs.jsonl"
    golden.write_text('cases: [{id: "7", query: Why?}]', encoding="utf-8")
    outputs.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return [done.case.id for done in read_recorded(outputs, load_golden(golden))]


def test_an_id_of_a_recorded_output_may_be_a_whole_number(tmp_path: Path) -> None:
    assert recorded(tmp_path, {"id": 7, "answer": "x"}) == ["7"]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": 7.0}, r"outputs\.jsonl:1:8: an id is text or a whole number, got 7\.0 \(a number\)"),
        ({"id": [7]}, "an id is text or a whole number, got a list"),
        ({"id": None}, "no id: which case is this the output of"),
        ({"answer": "x"}, "no id: which case is this the output of"),
        ({"id": "a b " * 1_000_000}, "has no case 'a b "),
    ],
)
def test_an_id_that_is_no_name_is_told(tmp_path: Path, row: object, told: str) -> None:
    with pytest.raises(GoldenFileError, match=told) as caught:
        recorded(tmp_path, row)
    assert len(str(caught.value)) < 3_000
