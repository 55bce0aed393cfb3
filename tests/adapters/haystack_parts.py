"""Components of the pipelines under test.

Their annotations are evaluated at once: older versions of Haystack do not resolve those kept as text.
"""

import asyncio
import time
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ChatMessage, StreamingChunk


def counted(run: Any, calls: list[Any]) -> Any:
    """Return *run*, which adds what it is given to *calls*."""

    def counting(**inputs: Any) -> Any:
        calls.append(inputs)
        return run(**inputs)

    return counting


@component
class Repeater:
    """A generator that answers with its prompt."""

    @component.output_types(replies=list[str])  # type: ignore[untyped-decorator]
    def run(self, prompt: str, temperature: float | None = None) -> dict[str, Any]:
        return {"replies": [f"re: {prompt}"]}


@component
class ChatRepeater:
    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant(f"re: {messages[-1].text}")]}


@component
class KeepLast:
    """A ranker that keeps the worst."""

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents[-1:]}


@component
class Search:
    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [Document(content=query)]}


@component
class Grader:
    """Passes documents on, or has more searched."""

    @component.output_types(documents=list[Document], again=str)  # type: ignore[untyped-decorator]
    def run(self, documents: list[Document]) -> dict[str, Any]:
        return {"documents": documents}


@component
class Odd:
    @component.output_types(number=int)  # type: ignore[untyped-decorator]
    def run(self, topic: str) -> dict[str, Any]:
        return {"number": len(topic)}


@component
class Picky:
    @component.output_types(text=str)  # type: ignore[untyped-decorator]
    def run(self, query: str, language: str) -> dict[str, Any]:
        return {"text": f"{query} {language}"}


WORD_SECONDS = 0.02


@component
class Teller:
    """A generator that says the messages it was given, word by word where it is streamed."""

    def _replies(self, messages: list[ChatMessage]) -> dict[str, Any]:
        said = " / ".join(f"{m.role.value}:{m.text}" for m in messages)
        meta = {"model": "m-1", "usage": {"prompt_tokens": 6, "completion_tokens": 2}}
        return {"replies": [ChatMessage.from_assistant(said, meta=meta)]}

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    def run(self, messages: list[ChatMessage], streaming_callback: Any = None) -> dict[str, Any]:
        reply = self._replies(messages)
        for word in reply["replies"][0].text.split(" ") if streaming_callback else ():
            time.sleep(WORD_SECONDS)
            streaming_callback(StreamingChunk(content=f"{word} "))
        return reply

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    async def run_async(self, messages: list[ChatMessage], streaming_callback: Any = None) -> dict[str, Any]:
        reply = self._replies(messages)
        for word in reply["replies"][0].text.split(" ") if streaming_callback else ():
            await asyncio.sleep(WORD_SECONDS)
            await streaming_callback(StreamingChunk(content=f"{word} "))
        return reply


@component
class PlainHistory:
    @component.output_types(answer=str)  # type: ignore[untyped-decorator]
    def run(self, query: str, history: list[dict[str, str]]) -> dict[str, Any]:
        return {"answer": f"{len(history)} {history[-1]['content'] if history else '-'} {query}"}


@component
class Prompted:
    """Finds documents, and writes the prompt as well."""

    @component.output_types(documents=list[Document], prompt=str)  # type: ignore[untyped-decorator]
    def run(self, query: str) -> dict[str, Any]:
        return {"documents": [], "prompt": query}
