"""Names and texts one after another, in as few words as a line has room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["listed", "quoted", "shortened"]


def listed(names: Sequence[Any], most: int = 3) -> str:
    """Return ``a, b, c and 2 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shortened(str(n)) for n in names[:most]) + more


def quoted(texts: Sequence[Any], most: int = 3) -> str:
    """Return the texts in quotes, cut to a few words each."""
    return listed([f"'{shortened(str(t))}'" for t in texts], most)


def shortened(text: str, most: int = 60) -> str:
    """Return *text* in one line of at most *most* characters."""
    text = " ".join(text[: 4 * most].split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
