"""Damaged data sets, recorded outputs and golden files to change: all or nothing is read, and errors have a place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from pytest_auepora.api.recorded import score_recorded
from pytest_auepora.core.types import EvaluationSample
from pytest_auepora.errors import AueporaError, GoldenFileError
from pytest_auepora.io import source
from pytest_auepora.io.edit import LabelFile, with_cases, with_replacement
from pytest_auepora.io.golden.load import load_golden
from pytest_auepora.io.jsonl import load_jsonl_dataset
from pytest_auepora.io.streams import open_dataset

from ...mutations import JUNK, damaged, places, read_all, spoilt, tries

SAMPLES = [
    {"sample_id": "a", "query": "How long?", "relevant_docs": [{"doc_id": "x", "text": "t", "metadata": {"grade": 2}}],
     "candidate_docs": [], "reference_answer": {"text": "Yes.", "structured": {"days": 30}}, "labels": {"n": [1]}},
    {"sample_id": "b", "query": "Why?", "relevant_docs": None, "metadata": {"n": {"b": None}}},
    {"sample_id": "c", "query": "And?", "chat_history": [{"role": "user", "content": "hi"}]},
]  # fmt: skip
GOLDEN = """\
metrics: [recall@2, token_f1, mean_latency, redaction_efficacy, citation_coverage, json_schema_valid]
cases:
  - {id: a, query: "How long?", relevant_docs: [d1, {doc: d2, quote: "30 days"}], reference_answer: 30 days}
  - {id: b, query: "Why?", relevant_docs: [], answer_schema: {type: object}, sensitive: [x]}
  - id: c   # the third
    query: And?
    relevant_docs:
      - d3  # by id
      - {doc: d4, span: [0, 5]}
"""
OUTPUTS = [
    {"id": "a", "answer": "30 days [1]", "timings": {"total": 0.5}, "usage": {"total_tokens": 5}, "documents": [
        {"id": "d1", "text": "In 30 days.", "score": 0.5, "metadata": {"source": "d2", "start": 3}}, "d2"]},
    {"sample_id": "b", "error": "no answer", "documents": []},
    {"id": "c", "answer": {"x": 1}, "contexts": ["t"], "metadata": {"request_id": "r"}},
]  # fmt: skip


def lines(rows: list[Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def outcome(read: Callable[[], Any]) -> Any:
    """What is read, or the complaints."""
    try:
        return read()
    except GoldenFileError as exc:
        return [str(problem) for problem in exc.problems]


@tries(100, 3_000)
def test_data_sets_are_read_alike_in_blocks(tmp_path: Path, tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK_BYTES", 100)
    path = tmp_path / "a.jsonl"

    def read(pick: Random) -> bool:
        path.write_bytes(spoilt(lines(SAMPLES), pick, "lines"))
        whole, streamed = outcome(lambda: list(load_jsonl_dataset(path))), outcome(lambda: list(open_dataset(path)))
        refused = bool(whole) and not isinstance(whole[0], EvaluationSample)
        assert streamed == (whole[: len(streamed)] if refused else whole)
        return refused

    assert tries / 10 < read_all(tries, 1, read) < tries


def exchanged(rows: list[dict[str, Any]], pick: Random) -> None:
    """Put junk in one place of *rows*, as JSON in its cell."""
    node, key = pick.choice(list(places(rows)))
    node[key] = pick.choice(JUNK)


@tries(50, 2_000)
def test_data_sets_and_outputs_in_parquet(tmp_path: Path, tries: int) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, golden = tmp_path / "a.parquet", tmp_path / "a.golden.yaml"
    golden.write_text(GOLDEN, encoding="utf-8")
    suite = load_golden(golden)

    def read(pick: Random) -> bool:
        rows = json.loads(json.dumps(pick.choice((SAMPLES, OUTPUTS))))
        exchanged(rows, pick)
        keys = dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row)
        cells = [[row.get(key) if isinstance(row, dict) else None for key in keys] for row in rows]
        as_cell = [[one if isinstance(one, str) or one is None else json.dumps(one) for one in row] for row in cells]
        try:
            table = pyarrow.table(dict(zip(keys, map(list, zip(*as_cell, strict=True)), strict=True)))
            parquet.write_table(table, path)
        except UnicodeEncodeError:  # half a character, which Parquet cannot hold
            return True
        if pick.random() < 0.2:
            path.write_bytes(damaged(path.read_bytes(), pick))
        try:
            list(open_dataset(path)) if "query" in keys else score_recorded(suite, path)
        except AueporaError as exc:
            assert str(path) in str(exc)  # noqa: PT017 - either is fine
            return True
        return False

    assert 0 < read_all(tries, 2, read) < tries


@tries(100, 3_000)
def test_recorded_outputs(tmp_path: Path, tries: int) -> None:
    path, golden = tmp_path / "a.jsonl", tmp_path / "a.golden.yaml"
    golden.write_text(GOLDEN, encoding="utf-8")
    suite = load_golden(golden)

    def read(pick: Random) -> bool:
        path.write_bytes(spoilt(lines(OUTPUTS), pick, "lines"))
        try:
            run = score_recorded(suite, path).run
        except GoldenFileError as exc:
            assert all(problem.path == str(path) for problem in exc.problems)  # noqa: PT017 - either is fine
            return True
        for case in run.cases.values():
            assert not case.error or case.wrong_shape or case.error.startswith("RecordedError: "), case.error
            assert all(s.reason == case.error_line for s in case.scores.values() if s.state == "error")
        return False

    assert tries / 10 < read_all(tries, 3, read) < tries


@tries(60, 1_000)
def test_runs_of_trec(tmp_path: Path, tries: int) -> None:
    path, golden = tmp_path / "a.run", tmp_path / "a.golden.yaml"
    golden.write_text(GOLDEN, encoding="utf-8")
    suite = load_golden(golden)

    def read(pick: Random) -> bool:
        path.write_bytes(spoilt("a Q0 d1 1 0.9 bm25\na Q0 d2 2 0.8 bm25\n# one\nb Q0 d3 1 1e-3 bm25\n", pick))
        try:
            score_recorded(suite, path)
        except AueporaError as exc:
            assert str(path) in str(exc)  # noqa: PT017 - either is fine
            return True
        return False

    assert 0 < read_all(tries, 4, read) < tries


@tries(60, 2_000)
@pytest.mark.parametrize("name", ["a.golden.yaml", "a.golden.jsonl"])
def test_golden_files_are_changed_or_left(tmp_path: Path, tries: int, name: str) -> None:
    path = tmp_path / name
    of_lines = lines([{"metrics": ["recall@2"]}, *yaml.safe_load(GOLDEN)["cases"]])

    def read(pick: Random) -> bool:
        made = spoilt(of_lines, pick, "lines") if name.endswith("jsonl") else spoilt(GOLDEN, pick, "yaml")
        path.write_bytes(made)
        before = path.read_bytes()
        try:
            suite = load_golden(path)
            first, last = suite.cases[0].id, suite.cases[-1].id
            new = {"id": "new", "query": "Q: [x]", "relevant_docs": ["y"]}
            changes = [with_cases(path, [new]).text, with_replacement(path, first, {**new, "id": first}),
                    with_replacement(path, last, None)]  # fmt: skip
            labels = LabelFile(path)
            changes.append(labels.with_new_ids(dict.fromkeys(list(labels.places())[:1], "n: 1")).decode())
        except GoldenFileError:
            return True
        finally:
            assert path.read_bytes() == before
        for number, changed in enumerate(changes):
            path.write_bytes(changed.encode())
            if len(suite.cases) > 1 or number != 2:
                load_golden(path)
        return False

    assert tries / 10 < read_all(tries, 5, read) < tries
