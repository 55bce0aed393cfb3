"""The texts of documents in a recorded answer: they come last, so that who keeps many can keep each text once."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson

from ..core.json_text import dumps

if TYPE_CHECKING:
    from .parts import Parts

__all__ = ["reunited", "with_parts", "with_texts", "without_texts"]

_TEXTS = "texts"
_LAST = f',"{_TEXTS}":'


def with_parts(raw: dict[str, Any], parts: Parts) -> str:
    """Return *raw* with *parts* as JSON; instead of its text a hit has the place of it among the texts at the end."""
    said, texts = parts.to_dict(), list[str]()
    if not parts.retrieved:
        return dumps({**raw, "parts": said})
    said["retrieved"] = hits = []
    for doc_id, text, *rest in parts.retrieved:
        hits.append([doc_id, None if text is None else len(texts), *rest])
        if text is not None:
            texts.append(text)
    return dumps({**raw, "parts": said, _TEXTS: texts})


def reunited(raw: dict[str, Any]) -> dict[str, Any]:
    """Give the hits of what `with_parts` wrote their texts; in older recordings they have them.

    Raises:
        LookupError, TypeError: it was not written like that.
    """
    if texts := raw.pop(_TEXTS, None):
        for hit in raw["parts"]["retrieved"]:
            if hit[1] is not None:
                hit[1] = texts[hit[1]]
    return raw


def without_texts(text: str) -> tuple[str, list[Any]]:
    """Return a recording without the texts of its documents, and these; ``(text, [])`` where it has none.

    They can be told without reading the rest: within a text a quotation mark never stands without a backslash.
    """
    rest, found, texts = text.rpartition(_LAST)
    if found:
        with suppress(ValueError):
            return rest, orjson.loads(texts[:-1])
    return text, []


def with_texts(rest: str, texts: list[Any]) -> str:
    """Put together what `without_texts` took apart, with these *texts* or with what stands for them."""
    return f"{rest}{_LAST}{dumps(texts)}}}"
