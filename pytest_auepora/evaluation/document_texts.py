"""The texts of documents in a recorded answer: they come last, so that who keeps many can keep each text once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..core.json_text import dumps

if TYPE_CHECKING:
    from .parts import Parts

__all__ = ["reunited", "with_parts", "with_texts", "without_texts"]

_TEXTS = "texts"
_FIRST, _END = f',"{_TEXTS}":["', '"]}'


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


def without_texts(text: str) -> tuple[str, list[str]]:
    """Return a recording without the texts of its documents, and these; ``(text, [])`` where it has none.

    The texts are as JSON has them between quotation marks, in one line.  They are told without reading the rest, which
    would take ten times as long: within a text of JSON a quotation mark never stands without a backslash.
    """
    rest, found, texts = text.rpartition(_FIRST)
    if found and texts.endswith(_END):
        return rest, texts[: -len(_END)].split('","')
    return text, []


def with_texts(rest: str, texts: Iterable[str]) -> str:
    """Put together what `without_texts` took apart."""
    return rest + _FIRST + '","'.join(texts) + _END
