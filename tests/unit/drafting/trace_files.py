"""Spans written as exporters do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_auepora.drafting.traces import TraceCall
from tests.adapters.traced.chats import CONVERSATION, MODEL, QUESTIONS, TEXTS, TOKENS, found, said

TRACES = Path(__file__).parent / "traces"
"""Spans that real instrumentations wrote of two turns with each framework; `tests.adapters.traced.chats` makes them."""


def check_spoken(
    calls: Sequence[TraceCall], *, ids: bool = True, model: str = MODEL, conversation: str = CONVERSATION,
    history: Sequence[dict[str, str]] | None = None, tokens: tuple[int, int] = TOKENS,
) -> None:  # fmt: skip
    """Check that *calls* are the two turns of `tests.adapters.traced.chats`."""
    assert tuple(call.query for call in calls) == QUESTIONS
    turns = [{"user": QUESTIONS[0]}, {"assistant": said(QUESTIONS[0])}] if history is None else history
    assert [call.history for call in calls] == [[], turns]
    for call in calls:
        assert call.said == said(call.query)
        names = found(call.query)
        assert [(d.id, d.doc, d.text) for d in call.documents] == [(n if ids else "", n, TEXTS[n]) for n in names]
        assert (call.model, call.conversation) == (model, conversation)
        assert (call.input_tokens, call.output_tokens) == tokens


def otlp_value(value: Any) -> dict[str, Any]:
    """A value as OTLP has it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp_value(part) for part in value]}}
    return {"stringValue": value}


def span(
    span_id: str, parent: str = "", *, trace: str = "t1", start: int = 0, name: str = "x", **attributes: Any
) -> Any:
    """A span; in the names of its attributes ``__`` stands for a dot."""
    plain = {key.replace("__", "."): value for key, value in attributes.items()}
    return {"traceId": trace, "spanId": span_id, "parentSpanId": parent, "name": name, "startTimeUnixNano": str(start),
            "attributes": [{"key": k, "value": otlp_value(v)} for k, v in plain.items()], "events": []}  # fmt: skip


def write_otlp(path: Path, *spans: Any) -> Path:
    """Write spans as the Collector's file exporter does, one object a line."""
    rows = ({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]} for one in spans)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def rag_trace(
    trace: str, query: str, said: str, *, start: int = 0, session: str = "", docs: Any = (), **root: Any
) -> list[Any]:
    """The spans of one call: a chain with a retriever and a model in it."""
    session_of = {"session__id": session} if session else {}
    found = {f"retrieval__documents__{i}__document__{k}": v for i, d in enumerate(docs) for k, v in d.items()}
    return [
        span("1", trace=trace, start=start, openinference__span__kind="CHAIN", input__value=query, output__value=said,
             **session_of, **root),
        span("2", "1", trace=trace, start=start + 1, openinference__span__kind="RETRIEVER", input__value=query,
             **found),
        span("3", "1", trace=trace, start=start + 2, openinference__span__kind="LLM", llm__model_name="m-1",
             llm__token_count__prompt=12, llm__token_count__completion=3),
    ]  # fmt: skip
