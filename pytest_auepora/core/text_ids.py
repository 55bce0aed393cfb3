"""The ids of documents that came without one: made from their texts, so that the same text has the same id."""

from __future__ import annotations

import hashlib

__all__ = ["MADE_UP", "id_of_text"]

MADE_UP = "sha:"
"""How such ids begin."""


def id_of_text(text: str) -> str:
    """Return ``sha:`` and 12 hexadecimal digits of SHA-256."""
    return MADE_UP + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
