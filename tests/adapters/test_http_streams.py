"""Endpoints that stream, and what they are sent of a conversation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_auepora.adapters.http import HttpCallError, HttpRag
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.conversation import CHAT_HISTORY, PRINCIPAL
from pytest_auepora.core.model_calls import USAGE
from pytest_auepora.errors import CallTimeoutError, OutputShapeError

from .asking import SAMPLE, ask, ids
from .endpoint import SECRET, Endpoint

WAIT = 0.05


def streams(*parts: str | bytes, media_type: str = "text/event-stream", status: int = 200) -> Callable[[Any], None]:
    """Return what sends *parts* one after the other, in chunks."""

    def send(handler: Any) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(status)
        handler.send_header("Content-Type", media_type)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for part in parts:
            data = part if isinstance(part, bytes) else part.encode()
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            handler.wfile.flush()
            time.sleep(WAIT)
        handler.wfile.write(b"0\r\n\r\n")
        handler.close_connection = True

    return send


def events(*data: Any) -> list[str]:
    return [f"data: {part if isinstance(part, str) else json.dumps(part)}\n\n" for part in data]


def chunk(text: str | None, **more: Any) -> dict[str, Any]:
    return {"model": "m-1", "choices": [{"delta": {"content": text} if text is not None else {}}], **more}


OPENAI = events(
    chunk(None, sources=[{"id": "a", "text": "A."}]), chunk("Within "), chunk("30 days."),
    {"model": "m-1", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3}}, "[DONE]",
)  # fmt: skip
AT_DELTA: dict[str, Any] = {"answer": "$.choices[0].delta.content", "documents": "sources", "stream": True}


def test_events_of_openai_are_joined_counted_and_timed(endpoint: Endpoint) -> None:
    endpoint.body = streams(": comment\n\n", *OPENAI)
    start = time.perf_counter()
    outputs = ask(HttpRag(endpoint.url, **AT_DELTA))
    assert outputs.response.text == "Within 30 days."
    assert ids(outputs) == ["a"]
    assert outputs.extra[USAGE] == [{"model": "m-1", "input_tokens": 12, "output_tokens": 3}]
    assert 2 * WAIT <= outputs.timings[FIRST_TOKEN] <= time.perf_counter() - start - 3 * WAIT
    assert endpoint.asked[0]["headers"]["accept"].startswith("text/event")


@pytest.mark.parametrize(
    ("parts", "media_type"),
    [
        (["".join(OPENAI)], "text/event-stream"),
        ([part[at : at + 7] for part in OPENAI for at in range(0, len(part), 7)], "text/event-stream; charset=utf-8"),
        ([part.replace("\n", "\r\n") for part in OPENAI], "text/event-stream"),
        ([part.removeprefix("data: ").replace("[DONE]", "") for part in OPENAI], "application/x-ndjson"),
    ],
)
def test_parts_are_found_however_the_bytes_are_cut(endpoint: Endpoint, parts: list[str], media_type: str) -> None:
    endpoint.body = streams(*parts[:40], "".join(parts[40:]), media_type=media_type)
    outputs = ask(HttpRag(endpoint.url, **AT_DELTA))
    assert (outputs.response.text, ids(outputs)) == ("Within 30 days.", ["a"])


@pytest.mark.parametrize("media_type", ["text/plain", "text/event-stream"])
def test_a_stream_may_be_the_text_itself(endpoint: Endpoint, media_type: str) -> None:
    words = ["Für ", "30 Tage."]
    in_bytes = b"".join(word.encode() for word in words)
    parts = events(*words) if media_type == "text/event-stream" else [in_bytes[:2], in_bytes[2:]]  # within a letter
    endpoint.body = streams(*parts, media_type=media_type)
    assert ask(HttpRag(endpoint.url, answer="$", stream=True)).response.text == "Für 30 Tage."


def test_the_conversation_and_who_asks_are_sent(endpoint: Endpoint) -> None:
    endpoint.says({"answer": "Yes.", "tokens": {"input_tokens": 1, "output_tokens": 2}})
    turns = [{"role": "user", "content": "hi"}]
    sample = replace(SAMPLE, query="Q", chat_history=turns, labels={"as": "intern"})
    rag = HttpRag(endpoint.url, json={"messages": "{messages}", "user": "{principal}"}, usage="tokens")
    assert as_system(rag).takes == {CHAT_HISTORY, PRINCIPAL}
    assert ask(rag, sample).extra[USAGE] == [{"input_tokens": 1, "output_tokens": 2}]
    assert endpoint.asked[0]["body"] == {"messages": [*turns, {"role": "user", "content": "Q"}], "user": "intern"}
    assert as_system(HttpRag(endpoint.url)).takes == frozenset()


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (
            events({"text": "x"}),
            "read at $.choices[0].delta.content of each part of the stream, and 1 parts",
        ),
        ([], "of each part of the stream, and there is no part"),
        (events("{broken"), "part 1 of the stream is not JSON: {broken"),
    ],
)
def test_a_stream_without_an_answer_is_an_error(endpoint: Endpoint, parts: list[str], told: str) -> None:
    endpoint.body = streams(*parts)
    with pytest.raises(OutputShapeError) as caught:
        ask(HttpRag(endpoint.url, **AT_DELTA))
    assert told in str(caught.value)


def test_a_stream_that_fails_is_no_shorter_answer(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOKEN", SECRET)
    rag = HttpRag(endpoint.url, headers={"Authorization": "Bearer ${RAG_TOKEN}"}, timeout=6 * WAIT, **AT_DELTA)
    endpoint.body = streams(*events(chunk("Within "), {"error": {"message": f"overloaded, {SECRET}"}}))
    with pytest.raises(HttpCallError, match=r"the stream ended in an error: .*overloaded, \*\*\*"):
        ask(rag)
    endpoint.body = streams(*events(*[chunk("word ")] * 20))
    with pytest.raises(CallTimeoutError):
        ask(rag)
    endpoint.body = streams("no", status=503)
    with pytest.raises(HttpCallError, match="answered 503"):
        ask(rag)


def test_a_credential_is_masked_though_it_comes_in_two_parts(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_TOKEN", SECRET)
    endpoint.body = streams(*events(chunk(f"it is {SECRET[:5]}"), chunk(SECRET[5:])))
    rag = HttpRag(endpoint.url, headers={"Authorization": "Bearer ${RAG_TOKEN}"}, **AT_DELTA)
    assert ask(rag).response.text == "it is ***"
