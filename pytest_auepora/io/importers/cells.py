"""Cells of other tools' tables: a list, a text or an id is read whole, or refused with its row."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from typing import Any

from ..source import describe
from .imported import ImportProblem
from .rows import check_values

_TEXT_STOPS = {quote: re.compile(rf"[\\{quote}]") for quote in "\"'"}
"""What ends a text in these quotes, or escapes the character after it."""
_QUOTE = re.compile("[\"']")
_PREFIX = re.compile(r"\s*[bruBRU]{0,2}")
_STRUCTURED = re.compile(
    r"""\s*(?:\[\s*["'\[{(]|\[.*\]\s*\Z|\[\s*(?:[-\d.]+|None|nan|NaN|null)\s*(?:,[^\]]*)?\Z|\{\s*["'}]|\(\s*["'].*["'],?\s*\)\s*\Z|array\()""",
    re.DOTALL,
)
"""How a cell begins that some tool wrote for a list, a mapping, a tuple, a set or an array."""
_LIST_OF_TEXTS = re.compile(r"""\s*(?:\[\s*["'].*["']\s*,?\s*\]|\(\s*["'].*["']\s*,?\s*\))\s*""", re.DOTALL)


def list_cell(value: Any, place: str, delimiter: str = "") -> list[Any]:
    """Return a cell as a list: a list, JSON or Python of one, numpy's array of texts; empty for nothing.

    Any other text is the only part, or several between *delimiter*.  Raises `ImportProblem`, with *place*, where the
    cell looks like a list and cannot be read whole: cut, without commas, or joined texts.
    """
    if value is None or value == "":
        return []
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        return [value]
    if not is_structured(value):
        return [part.strip() for part in value.split(delimiter) if part.strip()] if delimiter else [value]
    parsed = _parse(value)
    check_values(parsed, place)
    if isinstance(parsed, Mapping):
        return [parsed]
    if not isinstance(parsed, (list, tuple)):
        between = f", or texts between {delimiter}" if delimiter else ""
        raise _refusal(place, f"a list as JSON{between}", value)
    return list(parsed)


def texts_cell(value: Any, place: str, delimiter: str = "") -> list[str]:
    """Return a cell of texts or ids as `list_cell` does; raises `ImportProblem` also where a part is neither."""
    return [name_of(part, place) for part in list_cell(value, place, delimiter)]


def text_cell(value: Any, place: str) -> str:
    """Return a cell of one text; a list of one text, as tools write it, is that text.

    Raises `ImportProblem` for lists of more, and for what is no text.
    """
    texts = alternatives_cell(value, place)
    if len(texts) != 1:
        raise _refusal(place, "one text", value)
    return texts[0]


def alternatives_cell(value: Any, place: str) -> list[str]:
    """Return a cell of a text, or of a list of texts any of which will do; raises `ImportProblem` as `text_cell`."""
    if isinstance(value, (list, tuple)) or looks_like_texts(value):
        return texts_cell(value, place)
    return [name_of(value, place)]


def is_structured(value: Any) -> bool:
    """Whether a text is how some tool writes a list, a mapping, a tuple, a set or an array."""
    return isinstance(value, str) and _STRUCTURED.match(value) is not None


def looks_like_texts(value: Any) -> bool:
    """Whether a text would be taken for a list of texts: ``['a', 'b']``."""
    return isinstance(value, str) and _LIST_OF_TEXTS.fullmatch(value) is not None


def name_of(value: Any, place: str) -> str:
    """Return a text or a whole number as text; raises `ImportProblem` for anything else.

    Any other number has no one spelling: 7.0 is what some tools make of the id 7.
    """
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    raise _refusal(place, "text or a whole number", value)


def parsed_cell(value: Any, place: str) -> Any:
    """Return what a text in the form of a mapping holds, as JSON or Python; any other value itself."""
    parsed = _parse(value) if isinstance(value, str) and value.lstrip().startswith("{") else None
    if not isinstance(parsed, Mapping):
        return value
    check_values(parsed, place)
    return parsed


def shown_cell(value: Any) -> str:
    """Return the beginning of a cell for a message."""
    return f"{value[:60]!r}{'…' if len(value) > 60 else ''}" if isinstance(value, str) else describe(value)[:100]


def _refusal(place: str, expected: str, value: Any) -> ImportProblem:
    return ImportProblem(f"{place}: expected {expected}, got {shown_cell(value)}")


def _parse(text: str) -> Any:
    """Return what JSON, Python or numpy's way of writing arrays says; None where none of them can be read."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    text = text.strip()
    spans = _text_spans(text)
    gaps = [text[end:start] for (_, end), (start, _) in zip([(0, 0), *spans], [*spans, (len(text), 0)], strict=True)]
    if spans and gaps[0].rstrip() == "[" and gaps[-1].lstrip() == "]" and all(map(str.isspace, gaps[1:-1])):
        return [_literal(text[start:end]) for start, end in spans]  # as numpy, and with it pandas, writes an array
    joined = any(map(_PREFIX.fullmatch, gaps[1:-1]))  # Python takes texts side by side for one
    return None if joined else _literal(text)


def _text_spans(text: str) -> list[tuple[int, int]]:
    """Return where the texts in quotes begin and end; of one that is not closed the rest of *text*."""
    spans, at = [], 0
    while start := _QUOTE.search(text, at):
        at = start.end()
        while (stop := _TEXT_STOPS[start[0]].search(text, at)) and stop[0] == "\\":
            at = stop.end() + 1
        at = stop.end() if stop else len(text)
        spans.append((start.start(), at))
    return spans


def _literal(text: str) -> Any:
    try:
        with warnings.catch_warnings():  # a backslash that Python will not take for ever
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last two of literals nested deep
        return None
