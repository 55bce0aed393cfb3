"""What the JSON Schemas of reports are put together from."""

from __future__ import annotations

from typing import Any, get_args

__all__ = ["ANY_OBJECT", "COUNT", "NUMBER", "TEXT", "TEXTS", "an_object", "by_name", "one_of", "schema"]

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
NUMBER = {"type": ["number", "null"]}
TEXTS = {"type": "array", "items": TEXT}
ANY_OBJECT = {"type": "object"}


def schema(title: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return *body* as a whole schema (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **body}


def an_object(properties: dict[str, Any], *, optional: tuple[str, ...] = (), description: str = "") -> dict[str, Any]:
    """Return the schema of an object with these keys; all but those *optional* are always there."""
    out: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }
    return {**out, "description": description} if description else out


def one_of(literal: Any, description: str = "") -> dict[str, Any]:
    """Return the schema of a ``Literal`` type's words."""
    return {"enum": list(get_args(literal)), **({"description": description} if description else {})}


def by_name(values: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object whose keys are names, and whose values are all alike."""
    return {"type": "object", "additionalProperties": values}
