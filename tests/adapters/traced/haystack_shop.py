"""Components of a Haystack pipeline; their instrumentation looks for them in their module."""

from __future__ import annotations

from typing import Any

from haystack import Document, component
from haystack.dataclasses import ChatMessage

from .chats import MODEL, TEXTS, TOKENS, found


@component
class ShopRetriever:
    """Finds the documents."""

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, query: str) -> dict[str, Any]:
        """Return them."""
        return {"documents": [Document(id=n, content=TEXTS[n], meta={"file_path": n}) for n in found(query)]}


@component
class ShopChatGenerator:
    """Says the document that stands first in its prompt."""

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        """Return the answer with its usage."""
        usage = dict(zip(("prompt_tokens", "completion_tokens"), TOKENS, strict=True))
        first = str(messages[0].text).splitlines()[0]
        return {"replies": [ChatMessage.from_assistant(first, meta={"model": MODEL, "usage": usage})]}
