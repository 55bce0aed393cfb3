"""Earlier turns of a conversation as golden cases write them."""

from __future__ import annotations

from typing import Any

from ...base.text import did_you_mean
from ..source import KeyPath, Source, describe
from .kinds import BAD, FieldType, ListOf, Text

ROLES = ("user", "assistant", "system")
"""Who may have said a turn."""

_OTHER_NAMES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant"}
_MESSAGE = ("role", "content")


class _Turn(FieldType):
    """Who said what: ``{user: …}``, or ``{role: user, content: …}`` as in messages; read as the latter."""

    expected = "a turn: {user: …} or {assistant: …}"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if not isinstance(value, dict):
            return self.refuse(value, path, source)
        if "role" in value or "content" in value:
            return self._read_message(value, path, source)
        if len(value) != 1:
            source.report(path, f"a turn has one speaker and one text, got {', '.join(map(str, value)) or 'nothing'}")
            return BAD
        (role,) = value
        if role not in ROLES:
            source.report_key(
                (*path, role), f"unknown speaker {describe(role)}{_hint(role)}; known: {', '.join(ROLES)}"
            )
            return BAD
        text = Text().read(value[role], (*path, role), source)
        return BAD if text is BAD else {"role": role, "content": text}

    def _read_message(self, value: dict[Any, Any], path: KeyPath, source: Source) -> Any:
        if value.keys() != set(_MESSAGE):
            source.report(path, f"a message has role and content, got {', '.join(map(str, value))}")
            return BAD
        if (role := value["role"]) not in ROLES:
            source.report(
                (*path, "role"), f"role: expected one of {', '.join(ROLES)}, got {describe(role)}{_hint(role)}"
            )
            return BAD
        text = Text().read(value["content"], (*path, "content"), source)
        return BAD if text is BAD else {"role": role, "content": text}

    def schema(self) -> dict[str, Any]:
        text = Text().schema()
        short = [
            {"type": "object", "properties": {role: text}, "required": [role], "additionalProperties": False}
            for role in ROLES
        ]
        message = {
            "type": "object", "properties": {"role": {"enum": [*ROLES]}, "content": text}, "required": [*_MESSAGE],
            "additionalProperties": False,
        }  # fmt: skip
        return {"anyOf": [*short, message]}


def _hint(role: Any) -> str:
    known = _OTHER_NAMES.get(role) if isinstance(role, str) else None
    return f" (did you mean {known!r}?)" if known else did_you_mean(str(role), ROLES)


class ChatHistory(ListOf):
    """The turns before the query, oldest first; read as messages with ``role`` and ``content``."""

    def __init__(self) -> None:
        super().__init__(_Turn())
        self.expected = "a list of turns, oldest first: [{user: …}, {assistant: …}]"
