"""Header values from the environment, kept out of every message."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from ..errors import SystemShapeError

__all__ = ["expand", "hide"]

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110
_SHORTEST = 4  # hiding every "1" of a message would tell more than it hides


def expand(headers: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return *headers* with ``${NAME}`` filled in from the environment, and what must not be shown.

    Raises:
        SystemShapeError: a variable is not set, or a name or value cannot be sent.  The value is not shown.
    """
    made: dict[str, str] = {}
    secrets: set[str] = set()
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise SystemShapeError(f"HttpRag: {name!r} is no name of an HTTP header")
        missing = [v for v in _VARIABLE.findall(value) if v not in os.environ]
        if missing:
            raise SystemShapeError(f"HttpRag: the header {name} needs ${missing[0]}, which is not in the environment")
        secrets.update(os.environ[v] for v in _VARIABLE.findall(value))
        made[name] = _VARIABLE.sub(lambda m: os.environ[m[1]], value)
        secrets.add(made[name])
        if why := _unsendable(made[name]):
            raise SystemShapeError(f"HttpRag: the value of the header {name} {why}")
    return made, sorted(secrets, key=len, reverse=True)


def hide(text: str, secrets: Iterable[str]) -> str:
    """Return *text* with ``***`` for every one of *secrets*, which an endpoint may send back."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    return text


def _unsendable(value: str) -> str:
    if "\r" in value or "\n" in value:
        return "holds a line break; does a file it came from end in one?"
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        return "holds a character that HTTP cannot send"
    return ""
