"""Replies, chunks and messages: in the form of OpenAI's APIs, which many servers speak, and LangChain's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .reported_usage import MODEL_KEYS
from .shapes import fields_of

CHOICES = "choices"
"""The key by which a chat completion is known, whole or in chunks."""

_EVENT = "response."
_EVENT_NAMES = ("type", "delta", "response")


def completion_text(choices: Any) -> str | None:
    """Return the text of the first of *choices*, an empty one where a chunk has none; None where it is no choice."""
    if not isinstance(choices, list):
        return None
    if not choices:  # as in the last chunk, which has the usage
        return ""
    choice = fields_of(choices[0], ("message", "delta", "text"))
    if choice is None or not {"message", "delta", "text"} & choice.keys():
        return None
    message = choice.get("message") or choice.get("delta")
    text = (fields_of(message, ("content",)) or {}).get("content") if message is not None else choice.get("text")
    return text if isinstance(text, str) else ""


def is_event(part: Any) -> bool:
    """Whether *part* is an event of the stream of a response."""
    kind = part.get("type") if isinstance(part, Mapping) else getattr(part, "type", None)
    return isinstance(kind, str) and kind.startswith(_EVENT)


def read_event(part: Any) -> tuple[str, dict[str, Any]]:
    """Return the text in an event, and what it says besides: the model, and at the end the usage."""
    event = fields_of(part, _EVENT_NAMES) or {}
    if event["type"] == f"{_EVENT}output_text.delta":
        return str(event.get("delta") or ""), {}
    said = fields_of(event.get("response"), ("model", "usage")) or {}
    return "", {key: said[key] for key in ("model", "usage") if said.get(key) is not None}


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
