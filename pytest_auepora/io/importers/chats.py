"""Conversations of other tools: their messages as turns of golden cases.

A message says who speaks under one of `_ROLE_KEYS`, in any of the words of `_ROLES`, and what under one of
`_TEXT_KEYS`, as a text or as a list of parts.  Only what a user and the assistant said is a turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .imported import Dropped

HISTORY_KEYS = ("chat_history", "history", "messages")
"""Names under which other tools keep the turns before a question."""

_ROLE_KEYS = ("role", "type", "from", "speaker")
_TEXT_KEYS = ("content", "text", "value", "message")
_ROLES = {
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt", "agent"), "assistant"),
}
_OTHERS = frozenset({"system", "developer", "tool", "function", "context", "remove"})


class Exchange(NamedTuple):
    """A question, the turns before it in the form of golden files, and what the assistant said to it, if anything.

    ``weight`` is that of the answer: 0 where it is not to be learnt.
    """

    query: str
    history: list[dict[str, str]]
    answer: str | None = None
    weight: float = 1


def is_messages(value: Any) -> bool:
    """Whether *value* is a list of messages."""
    return (
        isinstance(value, (list, tuple)) and len(value) > 0 and all(_role_of(message) is not None for message in value)
    )


def exchanges_of(messages: Sequence[Mapping[str, Any]], dropped: Dropped) -> list[Exchange]:
    """Return the questions of a conversation in their order; notes what is no turn of it."""
    turns = list(_turns(messages, dropped))
    out = []
    for at, (role, text, _) in enumerate(turns):
        if role == "user":
            who, answer, weight = turns[at + 1] if at + 1 < len(turns) else ("", "", 1)
            history = [{said_by: said} for said_by, said, _ in turns[:at]]
            out.append(Exchange(text, history, answer if who == "assistant" else None, weight))
    return out


def last_exchange(messages: Sequence[Mapping[str, Any]], dropped: Dropped, query: str = "") -> Exchange:
    """Return the exchange about *query* after *messages*, else about their last question; an empty one without any."""
    asked = [{"role": "user", "content": query}] if query.strip() else []
    exchanges = exchanges_of([*messages, *asked], dropped)
    return exchanges[-1] if exchanges else Exchange("", [])


def messages_of(case: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the turns of a case and its question as messages with ``role`` and ``content``."""
    history = case.get("chat_history") or ()
    turns = [(t["role"], t["content"]) if "role" in t else next(iter(t.items())) for t in history]
    return [{"role": role, "content": text} for role, text in (*turns, ("user", case["query"]))]


def _turns(messages: Sequence[Mapping[str, Any]], dropped: Dropped) -> Iterator[tuple[str, str, float]]:
    for message in messages:
        role, text = _role_of(message), _text_of(message, dropped)
        if role is None or role in _OTHERS:
            dropped.add(f"a message of {role}: the system under test has its own", role in _OTHERS)
        elif not text.strip():
            dropped.add("a message without a text")
        else:
            yield role, text, message.get("weight", 1)


def _role_of(message: Any) -> str | None:
    """Return who speaks in the words of golden files, or as the message has it; None where it is no message."""
    if not isinstance(message, Mapping) or not any(key in message for key in _TEXT_KEYS):
        return None
    said = next((message[key] for key in _ROLE_KEYS if isinstance(message.get(key), str)), None)
    role = said.lower() if said is not None else ""
    return _ROLES.get(role) or (role if role in _OTHERS else None)


def _text_of(message: Mapping[str, Any], dropped: Dropped) -> str:
    content = next((message[key] for key in _TEXT_KEYS if message.get(key) is not None), "")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    dropped.add("a part of a message that is no text", not all(isinstance(text, str) for text in texts))
    return "".join(text for text in texts if isinstance(text, str))
