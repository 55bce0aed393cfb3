"""RAG calls read from traces: of real instrumentation packages, and of what they write rarely."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.drafting.spans import read_spans
from pytest_auepora.drafting.traces import TraceCall, calls_of

from .trace_files import TRACES, rag_trace, span, write_otlp

CATS = "LIVE text about cats"
LOST: dict[str, dict[str, Any]] = {
    "langchain.openllmetry": {"id": "", "model": ""},  # it writes neither
    "llamaindex.openllmetry": {"conversation": ""},
}


def only(path: Path) -> TraceCall:
    (call,) = calls_of(read_spans(path))
    return call


def calls(tmp_path: Path, *spans: Any) -> list[TraceCall]:
    return calls_of(read_spans(write_otlp(tmp_path / "a.jsonl", *spans)))


@pytest.mark.parametrize("path", sorted(TRACES.glob("[!f]*.jsonl")), ids=lambda path: path.name.removesuffix(".jsonl"))
def test_what_real_instrumentations_wrote_is_read_without_loss(path: Path) -> None:
    framework, lost = path.name.partition(".")[0], LOST.get(path.name.removesuffix(".jsonl"), {})
    uuid = "00000000-0000-0000-0000-000000000001"
    query, said, doc_id, doc, text, model, tokens = {
        "langchain": ("What lives?", "one two three", "live", "a.md", "LIVE", "m-1", (12, 3)),
        "llamaindex": ("What lives?", "one two three", uuid, "a.md", "LIVE text", "m-1", (12, 3)),
        "haystack": ("Live cats?", f"{CATS} Q: Live cats?", "live", "", CATS, "mock-model", (7, 7)),
    }[framework]
    call = only(path)
    assert (call.query, call.said) == (query, said)
    (document,) = call.documents
    assert (document.id, document.doc, document.text) == (lost.get("id", doc_id), doc, text)
    assert call.model == lost.get("model", model)
    assert (call.input_tokens, call.output_tokens) == tokens
    assert call.conversation == lost.get("conversation", "conversation-1")


def test_feedback_is_an_attribute_or_an_event() -> None:
    call = only(TRACES / "feedback.openinference.jsonl")
    assert (call.query, call.said, call.feedback) == ("Q", "A", {"thumbs": "up"})


def test_turns_of_a_conversation_have_the_earlier_ones_before(tmp_path: Path) -> None:
    first, second, other = calls(
        tmp_path,
        *rag_trace("t2", "And shipping?", "Two days.", start=10, session="c"),
        *rag_trace("t1", "Refunds?", "30 days.", session="c"),
        *rag_trace("t3", "Alone?", "Yes.", start=20),
    )
    assert (first.query, first.history) == ("Refunds?", [])
    assert (second.query, second.history) == ("And shipping?", [{"user": "Refunds?"}, {"assistant": "30 days."}])
    assert (other.conversation, other.history) == ("", [])


HISTORY = [{"user": "hi"}, {"assistant": "hello"}]
TURNS = [{"type": "human", "content": "hi"}, {"type": "ai", "content": "hello"}]
PARTS = [{"role": r, "parts": [{"type": "text", "content": c}]} for r, c in (("user", "hi"), ("assistant", "hello"))]


@pytest.mark.parametrize(
    ("attributes", "history"),
    [
        ({"input.value": json.dumps({"input": "Q", "chat_history": TURNS})}, HISTORY),
        ({"input.value": json.dumps({"messages": [*TURNS, {"type": "human", "content": "Q"}]})}, HISTORY),
        ({"input.value": json.dumps({"data": {"a": {"query": "Q"}, "b": {"query": "Q"}}})}, []),
        ({"gen_ai.input.messages": json.dumps([*PARTS, {"role": "user", "parts": [{"content": "Q"}]}])}, HISTORY),
        ({"traceloop.entity.input": json.dumps({"inputs": {"question": "Q"}, "tags": []})}, []),
        ({"input.value": "Q"}, []),
    ],
)
def test_the_question_is_that_of_the_whole_call(tmp_path: Path, attributes: dict[str, str], history: list[Any]) -> None:
    named: dict[str, Any] = {key.replace(".", "__"): value for key, value in attributes.items()}
    rewritten = span("2", "1", start=1, openinference__span__kind="RETRIEVER", input__value="rewritten")
    (call,) = calls(tmp_path, span("1", **named), rewritten)
    assert (call.query, call.history) == ("Q", history)


def test_a_question_that_the_root_does_not_show(tmp_path: Path) -> None:
    (call,) = calls(tmp_path, span("1"), span("2", "1", gen_ai__operation__name="retrieval", input__value="Q"))
    assert call.query == "Q"


@pytest.mark.parametrize(
    "attributes",
    [
        {"output__value": json.dumps({"answer": "A", "context": []})},
        {"output__value": json.dumps({"messages": [*TURNS, {"type": "ai", "content": "A"}]})},
        {"gen_ai__output__messages": json.dumps([{"role": "assistant", "parts": [{"content": "A"}]}])},
        {"output__value": "Answer(text='A')", "unused": "x"},
    ],
)
def test_the_answer_is_that_of_the_whole_call(tmp_path: Path, attributes: dict[str, Any]) -> None:
    (call,) = calls(tmp_path, span("1", input__value="Q", **attributes))
    assert call.said in ("A", "Answer(text='A')")


def test_what_a_reranker_kept_is_what_was_found(tmp_path: Path) -> None:
    spans = rag_trace("t1", "Q", "A", docs=[{"id": "a", "content": "A"}, {"id": "b", "content": "B"}])
    assert [d.id for d in calls(tmp_path, *spans)[0].documents] == ["a", "b"]
    kept = {f"reranker__output_documents__0__document__{key}": value for key, value in (("id", "b"), ("content", "B"))}
    ranked = span("4", "1", start=9, openinference__span__kind="RERANKER", **kept)
    assert [d.id for d in calls(tmp_path, *spans, ranked)[0].documents] == ["b"]


def test_retrievers_side_by_side_both_count_and_those_inside(tmp_path: Path) -> None:
    found = {"retrieval__documents__0__document__content": "A", "openinference__span__kind": "RETRIEVER"}
    (call,) = calls(
        tmp_path, span("1", input__value="Q"),
        span("2", "1", start=1, retrieval__documents__0__document__id="a", **found),
        span("3", "2", start=2, retrieval__documents__0__document__id="inner", **found),
        span("4", "1", start=3, retrieval__documents__0__document__id="b", **found),
    )  # fmt: skip
    assert [d.id for d in call.documents] == ["a", "b"]


def test_a_trace_of_something_else_has_no_question(tmp_path: Path) -> None:
    (call,) = calls(tmp_path, span("1", name="GET /health"))
    assert (call.query, call.said, call.documents) == ("", "", [])
