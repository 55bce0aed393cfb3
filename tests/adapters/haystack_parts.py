"""Components of the pipelines under test.

Their annotations are evaluated at once: older versions of Haystack do not resolve those kept as text.
"""

from typing import Any

from haystack import Document, component
from haystack.dataclasses import ChatMessage


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
class Odd:
    @component.output_types(number=int)  # type: ignore[untyped-decorator]
    def run(self, topic: str) -> dict[str, Any]:
        return {"number": len(topic)}


@component
class Picky:
    @component.output_types(text=str)  # type: ignore[untyped-decorator]
    def run(self, query: str, language: str) -> dict[str, Any]:
        return {"text": f"{query} {language}"}
