"""Text and data on their way into an HTML file, so that nothing of them is ever read as markup or as a script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

from ..terminal.layout import printable

__all__ = ["embedded_json", "hash_source", "shown"]

_SPECIAL = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def shown(value: object, *, keep_lines: bool = False) -> str:
    """Return user text without controls: they become visible escapes, as in every other report."""
    return printable(str(value), keep_lines=keep_lines)


def embedded_json(value: Any) -> str:
    """Return *value* as JSON that may stand inside a ``<script>`` element.

    No character that HTML or JavaScript gives a meaning to is in it: no ``<``, ``>``, ``&``, line separator or lone
    surrogate; they are written as escapes, which JSON reads back as the same text.

    Raises:
        ValueError: a number is infinite or NaN.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _SPECIAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def hash_source(text: str) -> str:
    """Return the source expression by which a content security policy admits an inline script or style of *text*."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
