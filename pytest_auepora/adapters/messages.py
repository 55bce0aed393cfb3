"""Chat messages of the frameworks: their text, their usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .reported_usage import MODEL_KEYS


def message_text(message: Any) -> str:
    """Return the text of a message of LangChain, whose content may be a list of blocks."""
    if isinstance(content := message.content, str):
        return content
    parts = [b if isinstance(b, str) else b.get("text", "") for b in content if isinstance(b, (str, Mapping))]
    return "".join(p for p in parts if isinstance(p, str))


def message_usage(message: Any) -> dict[str, Any]:
    """Return ``usage`` and ``model`` of a message of LangChain, as far as it has them."""
    usage, metadata = getattr(message, "usage_metadata", None), getattr(message, "response_metadata", None) or {}
    model = next((metadata[key] for key in reversed(MODEL_KEYS) if metadata.get(key)), None)
    return {key: value for key, value in (("usage", usage), ("model", model)) if value}
