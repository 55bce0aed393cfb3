"""What a system streams → what it would have returned at once: its parts, read to the end, joined and timed.

A stream is an iterator or an async iterator; it may stand for the answer in a pair, in a mapping or in an object.  Its
parts are texts, chunks of OpenAI's APIs, of LangChain, LlamaIndex or Haystack, or mappings as a system returns them,
merged key by key: texts of the answer and lists are joined, of anything else the last counts.
``timings["first_token"]`` are the seconds from the start of the call to the first text that is not empty.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

from ..core.types import Response, SystemOutputs
from ..errors import OutputShapeError
from .completions import CHOICES, completion_text, is_event, message_text, message_usage, read_event
from .outputs import ANSWER_KEYS, DOCUMENT_KEYS
from .reported_usage import MODEL_KEYS, USAGE_KEYS
from .shapes import describe, fields_of, first_of, is_instance_of

FIRST_TOKEN = "first_token"
"""Key of ``timings``: seconds until the first text of the answer, where it is streamed."""

_WHOLE = (str, Response, SystemOutputs, type(None))
_PART_KEYS = (*ANSWER_KEYS, *DOCUMENT_KEYS, *USAGE_KEYS, *MODEL_KEYS, CHOICES)
_CHUNKS = (
    ("llama_index", ("ChatResponse", "CompletionResponse"), "delta", "raw"),  # its text is all that came so far
    ("haystack", ("StreamingChunk",), "content", "meta"),
)
"""Chunks of frameworks: the package, the classes, the attributes with the text and with the usage."""
ACCEPTED_PARTS = (
    "texts, chunks of OpenAI's APIs, of LangChain, LlamaIndex or Haystack, and mappings with the keys that a system "
    "may return"
)


def is_stream(value: Any) -> bool:
    """Whether *value* gives its parts one after the other, awaited or not."""
    return isinstance(value, Iterator) or hasattr(value, "__anext__")


def consume(call: Callable[[], Any]) -> Any:
    """Return what *call* gives, or an awaitable of it; a stream is read to its end."""
    start = perf_counter()
    raw = call()
    return _consume_later(raw, perf_counter() - start) if inspect.isawaitable(raw) else read_stream(raw, start)


async def _consume_later(raw: Any, spent: float) -> Any:
    start = perf_counter() - spent  # what waits for its turn to be awaited takes none of the system's time
    out = read_stream(await raw, start)
    return await out if inspect.isawaitable(out) else out


def read_stream(raw: Any, start: float) -> Any:
    """Return *raw*, what a system gave; where it streams, read to its end, or an awaitable of that.

    *start* is when the call began, by `time.perf_counter`.  Raises `OutputShapeError` where a part is no answer's.
    """
    if isinstance(raw, _WHOLE):
        return raw
    if is_stream(raw):
        return _read(raw, {}, start)
    if isinstance(raw, tuple) and len(raw) == 2 and not hasattr(raw, "_fields"):
        for answer, documents in (raw, raw[::-1]):
            if is_stream(answer) and not isinstance(documents, _WHOLE):
                return _read(answer, {"documents": documents}, start)
        return raw
    fields = fields_of(raw, ANSWER_KEYS)
    key = first_of(fields, ANSWER_KEYS) if fields is not None else None
    if fields is None or key is None or not is_stream(fields[key]):
        return raw
    return _read(fields.pop(key), fields, start)


def _read(stream: Any, fields: dict[str, Any], start: float) -> Any:
    parts = StreamedAnswer(start, fields)
    if hasattr(stream, "__anext__"):
        return _read_later(stream, parts)
    feed(stream, parts.add)
    return parts.outputs()


async def _read_later(stream: Any, parts: StreamedAnswer) -> dict[str, Any]:
    parts.start_clock()
    await feed(stream, parts.add)
    return parts.outputs()


def feed(stream: Any, add: Callable[[Any], None]) -> Any:
    """Give the parts of *stream* to *add*; return an awaitable of that where they are awaited."""
    if hasattr(stream, "__anext__"):
        return _feed_later(stream, add)
    try:
        for part in stream:
            add(part)
    finally:
        if inspect.isgenerator(stream):
            stream.close()
    return None


async def _feed_later(stream: Any, add: Callable[[Any], None]) -> None:
    try:
        async for part in stream:
            add(part)
    finally:
        if inspect.isasyncgen(stream):
            await stream.aclose()


class StreamedAnswer:
    """The parts of one answer as they come.

    Args:
        start: when the call began, by `time.perf_counter`.
        fields: what came beside the stream, by its keys.

    Attributes:
        first_token: seconds until the first text that is not empty; None before it came.
        has_answer: whether a part had a place for a text of the answer.
    """

    def __init__(self, start: float, fields: Mapping[str, Any] | None = None) -> None:
        self._start, self._fields = start, dict(fields or {})
        self._spent = perf_counter() - start
        self.first_token: float | None = None
        self._texts: list[str] = []
        self._message: Any = None  # LangChain's chunks, which know how they add up
        self._count = 0
        self.has_answer = False

    def start_clock(self) -> None:
        """Go on counting the time now: what made the stream is over, and nothing waited for its first part yet."""
        self._start = perf_counter() - self._spent

    def add(self, part: Any) -> None:
        """Take the next part."""
        self._count += 1
        if isinstance(part, str):
            self._add_text(part)
        elif is_instance_of(part, "langchain_core", "AIMessage"):
            self._add_message(part)
        elif is_event(part):
            text, said = read_event(part)
            self._add_text(text)
            self._merge(said)
        elif (form := next((form for form in _CHUNKS if is_instance_of(part, form[0], *form[1])), None)) is not None:
            self._add_text(getattr(part, form[2]) or "")
            self._merge(_usage_in(getattr(part, form[3])))
        elif part is not None:
            self._add_fields(part)

    def outputs(self) -> dict[str, Any]:
        """Return the answer as a mapping that `to_outputs` reads; without a text where no part had a place for one."""
        out = dict(self._fields)
        if self.has_answer or not self._count:
            out["answer"] = "".join(self._texts)
        if self._message is not None:
            out |= message_usage(self._message)
        if self.first_token is not None:
            out["timings"] = {FIRST_TOKEN: self.first_token, **(out.get("timings") or {})}
        return out

    def _add_text(self, text: str) -> None:
        self.has_answer = True
        if text and self.first_token is None:
            self.first_token = perf_counter() - self._start
        self._texts.append(text)

    def _add_message(self, message: Any) -> None:
        self._add_text(message_text(message))
        try:
            self._message = message if self._message is None else self._message + message
        except TypeError:  # whole messages are not added up
            self._message = message

    def _add_fields(self, part: Any) -> None:
        fields = fields_of(part, _PART_KEYS)
        if fields is None or (not isinstance(part, Mapping) and first_of(fields, _PART_KEYS) is None):
            hint = "; decode it" if isinstance(part, (bytes, bytearray)) else ""
            raise self._error(part, hint)
        if (text := completion_text(fields.pop(CHOICES, None))) is not None:
            self._add_text(text)
            fields = _usage_in(fields)
        elif (key := next((k for k in ANSWER_KEYS if fields.get(k) is not None), None)) is not None:
            value = fields.pop(key)
            if is_instance_of(value, "langchain_core", "AIMessage"):
                self._add_message(value)
            elif isinstance(value, str):
                self._add_text(value)
            else:
                raise self._error(part)
        self._merge({k: v for k, v in fields.items() if v is not None})

    def _merge(self, fields: Mapping[str, Any]) -> None:
        for key, value in fields.items():
            before = self._fields.get(key)
            if isinstance(before, list) and isinstance(value, list):
                self._fields[key] = [*before, *value]
            elif isinstance(before, Mapping) and isinstance(value, Mapping):
                self._fields[key] = {**before, **value}
            else:
                self._fields[key] = value

    def _error(self, part: Any, hint: str = "") -> OutputShapeError:
        return OutputShapeError(
            f"part {self._count} of the stream is {describe(part)}{hint}; accepted: {ACCEPTED_PARTS}"
        )


def _usage_in(raw: Any) -> dict[str, Any]:
    """Return what *raw* says of usage and model."""
    keys = (*USAGE_KEYS, *MODEL_KEYS)
    return {key: value for key, value in (fields_of(raw, keys) or {}).items() if key in keys}
