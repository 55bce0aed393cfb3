"""Spans of OpenTelemetry, in the forms that files have them in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.drafting.spans import TraceProblem, read_spans

from .trace_files import span, write_otlp

SDK = {
    "name": "rag", "context": {"trace_id": "0xAB", "span_id": "0x1"}, "parent_id": None,
    "start_time": "2024-05-01T10:00:00.000000Z", "attributes": {"input.value": "Q", "n": 3},
    "events": [{"name": "e", "timestamp": "2024-05-01T10:00:01Z", "attributes": {"a": 1}}],
}  # fmt: skip
CHILD = {
    **SDK,
    "context": {"trace_id": "0xAB", "span_id": "0x2"},
    "parent_id": "0x1",
    "start_time": "2024-05-01T10:00:01Z",
}
TABLE = {
    "name": "rag", "context.trace_id": "ab", "context.span_id": "1", "parent_id": None, "start_time": 1714557600000,
    "attributes.input.value": "Q", "attributes.output.value": None,
    "attributes.retrieval.documents": [{"document.id": "a", "document.content": "A"}], "attributes.llm": {"n": 3},
}  # fmt: skip


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_values_of_otlp_are_plain(tmp_path: Path) -> None:
    path = write_otlp(
        tmp_path / "a.jsonl", span("2", "1", start=5, a__b="x", n=3, f=0.5, t=True, l=["p", "q"]), span("1")
    )
    first, second = read_spans(path)["t1"]
    assert (first.id, second.id, second.parent) == ("1", "2", "1"), "in the order they began"
    assert second.attributes == {"a.b": "x", "n": 3, "f": 0.5, "t": True, "l": ["p", "q"]}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("as_list", [False, True])
def test_spans_as_the_sdk_prints_them(tmp_path: Path, indent: int | None, as_list: bool) -> None:
    rows = [CHILD, SDK]
    texts = [json.dumps(rows, indent=indent)] if as_list else [json.dumps(row, indent=indent) for row in rows]
    (spans,) = read_spans(written(tmp_path / "a.jsonl", "\n".join(texts))).values()
    assert [(s.trace, s.id, s.parent) for s in spans] == [("ab", "1", ""), ("ab", "2", "1")]
    assert spans[0].attributes == {"input.value": "Q", "n": 3}
    assert spans[0].events == [("e", {"a": 1})]


def test_spans_of_a_table_with_nested_attributes(tmp_path: Path) -> None:
    ((only,),) = read_spans(written(tmp_path / "a.jsonl", json.dumps(TABLE))).values()
    assert only.attributes == {
        "input.value": "Q", "retrieval.documents.0.document.id": "a", "retrieval.documents.0.document.content": "A",
        "llm.n": 3,
    }  # fmt: skip


def test_one_object_and_names_with_underscores(tmp_path: Path) -> None:
    one: Any = {"trace_id": "t", "span_id": "s", "name": "x", "start_time_unix_nano": 1,
                "attributes": [{"key": "a", "value": {"string_value": "x"}}]}  # fmt: skip
    path = written(tmp_path / "a.json", json.dumps({"resource_spans": [{"scope_spans": [{"spans": [one]}]}]}, indent=1))
    assert read_spans(path)["t"][0].attributes == {"a": "x"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no spans; expected OTLP as JSON, or one span a line"),
        ('{"resourceSpans": []}', "no spans"),
        ("{}\n", ":1: a span has a trace id and a span id, got"),
        ("\n{broken", ":2: not JSON"),
        ("3", ":1: expected a span or OTLP, got int"),
        ('{"resourceSpans": 3}', "expected OTLP: resourceSpans, scopeSpans and spans are lists"),
    ],
)
def test_what_are_no_spans(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(TraceProblem) as caught:
        read_spans(written(tmp_path / "a.jsonl", text))
    assert told in str(caught.value)
