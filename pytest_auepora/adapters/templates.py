"""What is sent to a system: URLs, JSON and inputs with placeholders in braces, filled in for each case."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from ..core.conversation import CHAT_HISTORY, PRINCIPAL, messages_of, principal_of, turns_of
from ..core.types import EvaluationSample

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def values_of(sample: EvaluationSample) -> dict[str, Any]:
    """Return what stands for each placeholder in what is sent about *sample*."""
    return {
        "query": sample.query, "sample_id": sample.sample_id, "session_id": f"auepora-{uuid4()}",
        PRINCIPAL: principal_of(sample) or "", CHAT_HISTORY: turns_of(sample), "messages": messages_of(sample),
    }  # fmt: skip


def taken_by(template: Any) -> frozenset[str]:
    """Return what of a case *template* has a place for, as `System.takes` has it."""
    names = placeholders_in(template)
    turns = {CHAT_HISTORY} if names & {CHAT_HISTORY, "messages", "content"} else set()
    return frozenset(turns | ({PRINCIPAL} if PRINCIPAL in names else set()))


def placeholders_in(value: Any) -> set[str]:
    """Return the names in braces in the texts of a JSON value."""
    if isinstance(value, str):
        return set(_PLACEHOLDER.findall(value))
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return {name for part in parts for name in placeholders_in(part)}


def fill_json(value: Any, values: Mapping[str, Any], form: Callable[[Any], Any] = lambda alone: alone) -> Any:
    """Fill the placeholders of a JSON value; other braces stay.  What is all of a text is put into its *form*."""
    if isinstance(value, str):
        alone = value[1:-1] if value == f"{{{value[1:-1]}}}" else ""
        return form(values[alone]) if alone in values else fill_text(value, values)
    if isinstance(value, Mapping):
        return {key: fill_json(part, values, form) for key, part in value.items()}
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) == 1 and "content" in placeholders_in(value[0]) and "content" not in values:
        return [fill_json(value[0], {**values, **turn}, form) for turn in values[CHAT_HISTORY]]
    return [fill_json(part, values, form) for part in value]


def fill_text(text: str, values: Mapping[str, Any], encode: Callable[[str], str] = str) -> str:
    """Fill all placeholders in one pass, so that a placeholder inside a query stays as it is; *encode* what goes in."""
    return _PLACEHOLDER.sub(lambda m: encode(_as_text(values[m[1]])) if m[1] in values else m[0], text)


def _as_text(value: Any) -> str:
    return "\n".join(f"{m['role']}: {m['content']}" for m in value) if isinstance(value, list) else str(value)
