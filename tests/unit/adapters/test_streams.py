"""Systems that give their answer in parts."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.adapters.outputs import NOTES
from pytest_auepora.adapters.streams import FIRST_TOKEN
from pytest_auepora.adapters.systems import as_system
from pytest_auepora.core.model_calls import USAGE
from pytest_auepora.core.types import SystemOutputs
from pytest_auepora.errors import OutputShapeError

from .asking import Finder, ask

WAIT = 0.03
DOCS = [{"id": "a", "text": "ta"}]


def words(query: str) -> Iterator[str]:
    time.sleep(WAIT)
    yield ""
    yield "Within "
    time.sleep(WAIT)
    yield "30 days."


async def async_words(query: str) -> AsyncIterator[str]:
    time.sleep(WAIT)
    yield "Within "
    time.sleep(WAIT)
    yield "30 days."


async def makes_async_words(query: str) -> Any:
    return async_words(query)


@dataclass
class Answer:
    response: Any
    sources: list[Any]


async def awaited_pair(query: str) -> Any:
    return async_words(query), DOCS


def parts(*given: Any) -> Any:
    """Return a system that streams *given*."""
    return lambda query: iter(given)


def outputs_of(*given: Any) -> SystemOutputs:
    return ask(as_system(parts(*given)))


@pytest.mark.parametrize(
    ("system", "found"),
    [
        (words, []),
        (async_words, []),
        (makes_async_words, []),
        (lambda query: words(query), []),  # noqa: PLW0108 - a function that returns a stream, none that is one
        (lambda query: map(str, ["Within ", "30 days."]), []),
        (lambda query: (words(query), DOCS), ["a"]),
        (lambda query: (DOCS, words(query)), ["a"]),
        (lambda query: {"answer": words(query), "documents": DOCS}, ["a"]),
        (lambda query: Answer(words(query), DOCS), ["a"]),
        (awaited_pair, ["a"]),
        (lambda query: {"response": async_words(query), "sources": DOCS}, ["a"]),
    ],
)
def test_a_stream_is_read_to_its_end_and_joined(system: Any, found: list[str]) -> None:
    outputs = ask(as_system(system))
    assert outputs.response.text == "Within 30 days."
    assert [hit.doc.doc_id for hit in outputs.retrieved] == found
    assert (NOTES in outputs.extra) == (not found)


@pytest.mark.parametrize("system", [words, async_words, lambda query: (words(query), DOCS)])
def test_the_first_token_is_timed_from_the_start_of_the_call(system: Any) -> None:
    start = time.perf_counter()
    first = ask(as_system(system)).timings[FIRST_TOKEN]
    assert first >= WAIT, "an empty part is no token"
    assert first <= time.perf_counter() - start - WAIT, "the second part came later"


def test_a_part_that_is_no_text_has_no_time_of_a_first_token() -> None:
    assert FIRST_TOKEN not in outputs_of({"answer": "", "documents": DOCS}).timings


def test_a_generator_of_a_pair_may_stream() -> None:
    class Writer:
        def generate(self, query: str, documents: list[Any]) -> Iterator[str]:
            yield from words(query)

    outputs = ask(as_system((Finder(), Writer())))
    assert outputs.response.text == "Within 30 days."
    assert len(outputs.retrieved) == 3
    assert outputs.timings[FIRST_TOKEN] < outputs.timings["generation"]


def test_an_async_generator_of_a_pair_may_stream() -> None:
    async def write(query: str, documents: list[Any]) -> AsyncIterator[str]:
        async for word in async_words(query):
            yield word

    outputs = ask(as_system((Finder(), write)))
    assert outputs.response.text == "Within 30 days."
    assert WAIT <= outputs.timings[FIRST_TOKEN] < outputs.timings["generation"]


def test_mappings_are_merged_key_by_key() -> None:
    outputs = outputs_of(
        {"documents": DOCS}, {"answer": "Within "}, {"answer": "30", "documents": [{"id": "b", "text": "tb"}]},
        {"answer": " days."}, {"refused": False, "request_id": "r1"}, {"timings": {"retrieval": 0.2}},
    )  # fmt: skip
    assert outputs.response.text == "Within 30 days."
    assert [hit.doc.doc_id for hit in outputs.retrieved] == ["a", "b"]
    assert outputs.response.metadata["refused"] is False
    assert outputs.extra["request_id"] == "r1"
    assert outputs.timings.keys() >= {"retrieval", FIRST_TOKEN}


def chunk(text: str | None, **more: Any) -> dict[str, Any]:
    choices = [] if text is None else [{"index": 0, "delta": {"content": text}}]
    return {"object": "chat.completion.chunk", "model": "m-1", "choices": choices, **more}


CHUNKS = [
    {"model": "m-1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]},
    chunk("Within "), chunk("30 days."), {"model": "m-1", "choices": [{"index": 0, "delta": {}}]},
    chunk(None, usage={"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}),
]  # fmt: skip
EVENTS = [
    {"type": "response.created", "response": {"model": "m-1", "usage": None}},
    {"type": "response.output_text.delta", "delta": "Within "},
    {"type": "response.output_text.delta", "delta": "30 days."},
    {"type": "response.output_text.done", "text": "Within 30 days."},
    {"type": "response.completed", "response": {"model": "m-1", "usage": {"input_tokens": 12, "output_tokens": 3}}},
]


def as_objects(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_objects(part) for key, part in value.items()})
    return [as_objects(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("given", [CHUNKS, as_objects(CHUNKS), EVENTS, as_objects(EVENTS)])
def test_chunks_of_openai_are_joined_and_counted(given: list[Any]) -> None:
    outputs = outputs_of(*given)
    assert outputs.response.text == "Within 30 days."
    assert outputs.extra[USAGE] == [{"model": "m-1", "input_tokens": 12, "output_tokens": 3}]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["Within ", 30], "part 2 of the stream is int: 30"),
        ([b"Within"], "part 1 of the stream is bytes of 6: b'Within'; decode it"),
        (["Within ", ["d1"]], "part 2 of the stream is list of 1"),
        ([{"anwser": "Within"}], "'anwser' (did you mean 'answer'?)"),
        ([{"documents": DOCS}], "the RAG returned no answer"),
    ],
)
def test_what_is_no_part_of_an_answer_is_named(given: list[Any], complaint: str) -> None:
    with pytest.raises(OutputShapeError) as caught:
        outputs_of(*given)
    assert complaint in str(caught.value)


def test_a_stream_that_breaks_off_is_an_error_and_is_closed() -> None:
    closed = []

    def broken(query: str) -> Iterator[Any]:
        try:
            yield "Within "
            yield object()
        finally:
            closed.append(True)

    with pytest.raises(OutputShapeError, match="part 2 of the stream"):
        ask(as_system(broken))
    assert closed == [True]

    def lost(query: str) -> Iterator[str]:
        yield "Within "
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        ask(as_system(lost))


def test_an_async_generator_function_is_a_system_of_coroutines() -> None:
    assert as_system(async_words).is_async
    assert not as_system(words).is_async
