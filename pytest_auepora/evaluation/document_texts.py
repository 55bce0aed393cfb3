"""The texts of documents in a recorded answer: they come last, so that who keeps many can keep each text once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.json import dumps
from .answer_codec import TEXT, Parts

__all__ = ["Apart", "Recording", "apart", "escaped", "reunited", "whole", "with_texts", "without_texts"]

Apart = tuple[str, Sequence[str]]
"""A recording as it is made: the beginning of it, and the texts of its documents as they are.

It is JSON when `whole` puts it together; who keeps each text once writes what is found again and again once as well.
"""

Recording = str | Apart
"""A recording, whole or apart."""

_TEXTS = "texts"
_FIRST, _BETWEEN, _END = f',"{_TEXTS}":["', '","', '"]}'
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"')


def apart(raw: dict[str, Any], parts: Parts) -> Apart:
    """Return *raw* with *parts*; instead of its text a hit has the place of it among the texts."""
    hits = [hit for hit in parts.retrieved or () if hit[TEXT] is not None]
    texts = [hit[TEXT] for hit in hits]
    for place, hit in enumerate(hits):  # and not in copies, which would be most of what there is to do
        hit[TEXT] = place
    try:
        rest = dumps({**raw, "parts": parts.to_dict()})
    finally:
        for hit, text in zip(hits, texts, strict=True):
            hit[TEXT] = text
    return rest[:-1] if texts else rest, texts


def whole(recording: Recording) -> str:
    """Return *recording* as JSON."""
    if isinstance(recording, str):
        return recording
    rest, texts = recording
    return with_texts(rest, map(escaped, texts)) if texts else rest


def escaped(text: str) -> str:
    """Return *text* as JSON has it between quotation marks."""
    return dumps(text)[1:-1]


def reunited(raw: dict[str, Any]) -> dict[str, Any]:
    """Give the hits of what `whole` put together their texts; in older recordings they have them.

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
    if not (found and texts.endswith(_END)):
        return text, []
    texts = texts[: -len(_END)]
    if f"\\{_BETWEEN}" in texts:  # of a text that ends with a quotation mark and a comma, as a piece of JSON may
        return rest, _STRING.findall(f'"{texts}"')
    return rest, texts.split(_BETWEEN)


def with_texts(rest: str, texts: Iterable[str]) -> str:
    """Put together what `without_texts` took apart."""
    return rest + _FIRST + _BETWEEN.join(texts) + _END
