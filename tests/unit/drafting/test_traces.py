"""RAG calls read from traces: of real instrumentation packages, and of what they write rarely."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.drafting.spans import read_spans
from pytest_auepora.drafting.traces import TraceCall, calls_of

from .trace_files import TRACES, check_spoken, otlp_value, rag_trace, span, write_otlp

LOST: dict[str, dict[str, Any]] = {  # by what was recorded: what is not in it
    "langchain.openllmetry": {"ids": False, "model": "", "conversation": ""},
    "langgraph.openllmetry": {"ids": False, "model": "", "conversation": ""},
    "llamaindex.openllmetry": {"model": "", "conversation": "", "history": [], "tokens": (0, 0)},
}


def calls(tmp_path: Path, *spans: Any) -> list[TraceCall]:
    return calls_of(read_spans(write_otlp(tmp_path / "a.jsonl", *spans)))


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.jsonl")), ids=lambda path: path.name.removesuffix(".jsonl"))
def test_what_real_instrumentations_wrote_is_read_without_loss(path: Path) -> None:
    check_spoken(calls_of(read_spans(path)), **LOST.get(path.name.removesuffix(".jsonl"), {}))


def test_feedback_is_an_attribute_or_an_event(tmp_path: Path) -> None:
    labelled: dict[str, Any] = {
        "trace__annotations__0__annotation__name": "thumbs",
        "trace__annotations__0__annotation__label": "up",
    }
    scored = {"gen_ai.evaluation.name": "stars", "gen_ai.evaluation.score.value": 0.5}
    one = span("1", input__value="Q", **labelled)
    one["events"] = [{"name": "gen_ai.evaluation.result", "attributes": [
        {"key": key, "value": otlp_value(value)} for key, value in scored.items()]}]  # fmt: skip
    (call,) = calls(tmp_path, one)
    assert call.feedback == {"thumbs": "up", "stars": "0.5"}


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
PAIRS = [["user", "hi"], ["assistant", "hello"]]
WRAPPED = [
    {"type": "human", "data": {"content": "hi"}},
    {"lc": 1, "id": ["AIMessage"], "kwargs": {"content": "hello", "type": "ai"}},
]
FIRST = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])
"""The first message of several: all that a graph's instrumentation tells of them there."""
PARTS = [{"role": r, "parts": [{"type": "text", "content": c}]} for r, c in (("user", "hi"), ("assistant", "hello"))]


@pytest.mark.parametrize(
    ("attributes", "history"),
    [
        ({"input.value": json.dumps({"input": "Q", "chat_history": TURNS})}, HISTORY),
        ({"input.value": json.dumps({"messages": [*TURNS, {"type": "human", "content": "Q"}]})}, HISTORY),
        ({"input.value": json.dumps({"messages": [*PAIRS, ["user", "Q"]]})}, HISTORY),
        ({"input.value": json.dumps({"messages": "Q"})}, []),
        ({"input.value": json.dumps({"messages": [*WRAPPED, ["user", "Q"]]}), "gen_ai.input.messages": FIRST}, HISTORY),
        (
            {
                f"llm.input_messages.{i}.message.{key}": value
                for i, turn in enumerate([*TURNS, {"type": "human", "content": "Q"}])
                for key, value in (("role", turn["type"]), ("content", turn["content"]))
            },
            HISTORY,
        ),
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
        span("4", "1", start=3, retrieval__documents__0__document__id="b", retrieval__documents__1__document__id="a",
             retrieval__documents__1__document__content="A", **found),
    )  # fmt: skip
    assert [d.id for d in call.documents] == ["a", "b"]


def test_a_trace_of_something_else_has_no_question(tmp_path: Path) -> None:
    (call,) = calls(tmp_path, span("1", name="GET /health"))
    assert (call.query, call.said, call.documents) == ("", "", [])


def test_a_call_inside_a_request_is_the_whole_call(tmp_path: Path) -> None:
    inner = rag_trace("t1", "Q", "A", tag__tags=["web"])
    for one in inner:
        one["parentSpanId"] = one["parentSpanId"] or "http"
    (call,) = calls(tmp_path, span("http", name="POST /chat", http__route="/chat"), *inner)
    assert (call.query, call.said, call.tags) == ("Q", "A", ["web"])
    assert call.attributes["http.route"] == "/chat"


def test_a_chain_inside_that_knows_the_turns_tells_them(tmp_path: Path) -> None:
    outer = span("1", input__value=json.dumps({"input": "Q"}))
    knows = span("2", "1", start=1, input__value=json.dumps({"input": "Q", "chat_history": TURNS}))
    other = span("3", "1", start=2, input__value=json.dumps({"input": "hi hello Q", "chat_history": [*TURNS, *TURNS]}))
    (call,) = calls(tmp_path, outer, knows, other)
    assert (call.query, call.history) == ("Q", HISTORY)


def test_what_no_chain_shows_is_read_off_the_model(tmp_path: Path) -> None:
    given = {f"llm__input_messages__{i}__message__{key}": value for i, (role, text) in enumerate(
        [("system", "Be kind."), ("user", "hi"), ("assistant", "hello"), ("user", "Q")])
        for key, value in (("role", role), ("content", text))}  # fmt: skip
    said = {"llm__output_messages__0__message__contents__1__message_content__text": "A"}
    model = span("2", "1", start=1, openinference__span__kind="LLM", **given, **said)
    (call,) = calls(tmp_path, span("1", input__value=json.dumps({"messages": ["ChatMessage(…)"]})), model)
    assert (call.query, call.history, call.said) == ("Q", HISTORY, "A")


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"context": [{"lc": 1, "id": ["Document"], "kwargs": {"id": "a", "page_content": "A"}}]}, ["a"]),
        ({"outputs": {"source_documents": [{"id": "a", "page_content": "A"}]}}, ["a"]),
        ([json.dumps({"node": {"id_": "a", "text": "A"}, "score": 0.5})], ["a"]),
        ({"context": [{"id": "a", "text": "a row of a database"}]}, []),
        ([{"name": "a tool"}], []),
    ],
)
def test_documents_that_no_retriever_shows_are_in_an_output(tmp_path: Path, given: Any, ids: list[str]) -> None:
    (call,) = calls(tmp_path, span("1", input__value="Q"), span("2", "1", start=1, output__value=json.dumps(given)))
    assert [document.id for document in call.documents] == ids
