"""Golden files and data sets as JSON Lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_auepora.core.dataset import InMemoryDataset
from pytest_auepora.core.types import Document, EvaluationSample, Response
from pytest_auepora.errors import AueporaError, GoldenFileError
from pytest_auepora.io.golden.turns import ROLES
from pytest_auepora.io.jsonl import load_jsonl_dataset, save_jsonl_dataset

from .files import write

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
    max_leaves=12,
)


SEED_LINE = {
    "sample_id": "1",
    "query": "Who wrote 'Attention Is All You Need'?",
    "relevant_docs": [{"doc_id": "d1", "text": "... Vaswani et al ...", "metadata": {}}],
    "reference_answer": {"text": "Ashish Vaswani et al.", "metadata": {}},
}


def test_a_data_set_as_the_specification_writes_it(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        json.dumps(SEED_LINE) + "\n\n" + '{"sample_id": "2", "query": "Q", "source": "x"}\n',
        "attention.jsonl",
    )
    dataset = load_jsonl_dataset(path)
    assert (dataset.name, len(dataset)) == ("attention", 2)
    assert list(dataset) == [
        EvaluationSample(
            "1", SEED_LINE["query"], [Document("d1", "... Vaswani et al ...")],  # type: ignore[arg-type]
            reference_answer=Response("Ashish Vaswani et al."),
        ),
        EvaluationSample("2", "Q"),
    ]  # fmt: skip
    assert load_jsonl_dataset(str(path), name="mine").name == "mine"


def test_an_empty_data_set_is_a_data_set(tmp_path: Path) -> None:
    assert len(load_jsonl_dataset(write(tmp_path, "", "none.jsonl"))) == 0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"query": "Q"}', "1:1: a sample has no sample_id"),
        ('{"sample_id": "1"}', "1:1: a sample has no query"),
        ('{"sample_id": 1, "query": "Q"}', "1:15: sample_id: expected text"),
        ('{"sample_id": "1", "query": "Q", "relevent_docs": []}', "1:34: unknown key 'relevent_docs' (did you mean"),
        ('{"sample_id": "1", "query": "Q", "relevant_docs": [{"id": "d"}]}', "1:53: unknown key 'id'"),
        ('{"sample_id": "1", "query": "Q", "relevant_docs": ["d"]}', "expected a mapping with doc_id, text, metadata"),
        (
            '{"sample_id": "1", "query": "Q", "reference_answer": "x"}',
            "expected a mapping with text, structured, metadata",
        ),
        ('{"sample_id": "1", "query": "Q", "labels": []}', "labels: expected a mapping"),
        ('{"sample_id": ', "not JSON"),
        ("[]", "expected a mapping on each line"),
    ],
)
def test_a_data_set_that_is_none(tmp_path: Path, line: str, told: str) -> None:
    path = write(tmp_path, line, "x.jsonl")
    with pytest.raises(GoldenFileError) as caught:
        load_jsonl_dataset(path)
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"{path}:1:")


FREE = st.dictionaries(st.text(max_size=4), JSON, max_size=3)
DOCUMENTS = st.none() | st.lists(st.builds(Document, st.text("ab1", min_size=1), st.text(max_size=8), FREE), max_size=3)
TURNS = st.builds(
    lambda role, said: {"role": role, "content": said}, st.sampled_from(ROLES), st.text("ab1", min_size=1)
)
SAMPLES = st.builds(
    EvaluationSample,
    st.text("ab1", min_size=1),
    st.text(max_size=10),
    DOCUMENTS,
    DOCUMENTS,
    st.none() | st.builds(Response, st.text(max_size=8), st.none() | FREE, FREE),
    FREE,
    FREE,
    st.lists(TURNS, max_size=2),
)


@given(st.lists(SAMPLES, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_saved_comes_back(tmp_path: Path, samples: list[EvaluationSample]) -> None:
    path = tmp_path / "saved.jsonl"
    save_jsonl_dataset(InMemoryDataset("x", samples), path)
    assert list(load_jsonl_dataset(path)) == samples
    first = path.read_bytes()
    save_jsonl_dataset(load_jsonl_dataset(path), path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("odd", [{1, 2}, float("nan"), b"x", object(), "\ud800"])
def test_what_is_no_json_is_not_saved_and_nothing_is_lost(tmp_path: Path, odd: Any) -> None:
    path = write(tmp_path, "before", "kept.jsonl")
    samples = [EvaluationSample("1", "Q"), EvaluationSample("2", "Q", metadata={"x": odd})]
    with pytest.raises(AueporaError, match="sample '2' cannot be written as JSON"):
        save_jsonl_dataset(InMemoryDataset("x", samples), path)
    assert path.read_text() == "before"
