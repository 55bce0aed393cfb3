"""Earlier turns of a conversation as golden cases write them."""

from __future__ import annotations

from typing import Any

from ..source import KeyPath, Source
from .kinds import BAD, Choice, Field, FieldType, ListOf, Record, Text

ROLES = ("user", "assistant", "system")
"""Who may have said a turn."""

_HINTS = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant"}
_MESSAGE = ("role", "content")
_TURN = Record(
    "a turn",
    *(Field(role, Text(), f"What the {role} said.") for role in ROLES),
    Field("role", Choice(*ROLES, hints=_HINTS), "Who speaks."),
    Field("content", Text(), "What that one says."),
    hints=_HINTS,
)


class _Turn(FieldType):
    """Who said what: ``{user: …}``, or ``{role: user, content: …}`` as in messages; read as the latter."""

    expected = "a turn: {user: …} or {assistant: …}"

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        turn = self.read_record(_TURN, value, path, source)
        if turn is BAD or turn.keys() == set(_MESSAGE):
            return turn
        if len(turn) != 1 or turn.keys() & set(_MESSAGE):
            said = ", ".join(turn) or "nothing"
            source.report(path, f"a turn has one speaker and one text, or role and content, got {said}")
            return BAD
        ((role, text),) = turn.items()
        return {"role": role, "content": text}

    def schema(self) -> dict[str, Any]:
        forms = [*((role,) for role in ROLES), _MESSAGE]
        return {"anyOf": [
            {"type": "object", "properties": {key: _TURN.fields[key].type.schema() for key in keys},
             "required": [*keys], "additionalProperties": False}
            for keys in forms
        ]}  # fmt: skip


class ChatHistory(ListOf):
    """The turns before the query, oldest first; read as messages with ``role`` and ``content``."""

    def __init__(self) -> None:
        super().__init__(_Turn())
        self.expected = "a list of turns, oldest first: [{user: …}, {assistant: …}]"
