"""Lines of YAML that are written plainly: what they say is clear without YAML's parser.

What is *plain* is so little that nobody can read it differently: a key, a colon, and on the same line a text without
a sign that means something in YAML, a text in quotes without quotes or backslashes in it, or words in brackets or
braces.  Everything here answers "I cannot tell" rather than guess.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .yaml_scalars import Plain

__all__ = ["NeedsWhole", "PlainLines", "plain_head"]

_BEYOND_ASCII = "\xa0-\u2027\u202a-\ud7ff\U00010000-\U0010ffff"
"""What YAML allows anywhere: no control characters, line breaks, surrogates or byte-order marks."""

_WORD = "[A-Za-z0-9_][A-Za-z0-9_ ./@+()=-]*"
_PAIR = f"[A-Za-z0-9_][A-Za-z0-9_@.-]*: +{_WORD}"
_PAIRS = f"{_PAIR}(?:, *{_PAIR})*"
_ITEMS = r'"([^"]*)"|\{([^}]*)\}|([^,{} ][^,{}]*)'


class NeedsWhole(Exception):
    """The parser has to read the whole text, for its value or for what is to be said about it."""


@lru_cache(maxsize=16)
def _pattern(indent: int, beyond_ascii: str) -> re.Pattern[str]:
    """A plain line of a case, where the dashes of the cases are indented by *indent*.

    Its groups: the dash of a case, the key, then what the value stands in (none, double quotes, single quotes,
    brackets, braces).
    """
    double = rf"[ !#-\[\]-~{beyond_ascii}]*"
    item = rf'(?:{_WORD}|"{double}"|\{{{_PAIRS}\}})'
    quoted = rf""""({double})"|'([ -&(-~{beyond_ascii}]*)'"""
    flow = rf"\[ *((?:{item}(?:, *{item})*)?)\]|\{{({_PAIRS})\}}"
    plain = rf"([A-Za-z0-9_(/.${beyond_ascii}][ -~{beyond_ascii}]*)"
    dash = rf"(?: {{{indent}}}(-) | {{{indent + 2}}})"
    return re.compile(rf"{dash}([A-Za-z_][A-Za-z0-9_]{{0,60}}): +(?:{plain}|(?:{quoted}|{flow}) *)(?:\n+|\Z)")


def plain_head(text: str, key: str, indent: int) -> dict[Any, Any] | None:
    """Return what the lines before the cases say, with an empty key for these; None if a line is not plain.

    Comments may stand between them.  Mappings are no part of it: the places of their keys are asked for in every run,
    and only the parser notes them.

    Args:
        text: the lines, each of which starts with its key.
        key: the line with the key of the cases, and any comments after it.
        indent: of the dashes of the cases.

    Raises:
        NeedsWhole: as `PlainLines.case`.
    """
    if not key.replace("\n", "").isprintable():
        return None
    lines = [line for line in text.split("\n") if line and not (line[0] == "#" and line.isprintable())]
    out: dict[Any, Any] = {}
    if lines:  # read as a case, which has the same lines further right
        blanks = " " * indent
        case = f"{blanks}- " + f"\n{blanks}  ".join(lines) + "\n"
        if (read := PlainLines(case, indent).case(0)) is None:
            return None
        out, _ = read
    if "cases" in out or any(isinstance(value, dict) for value in out.values()):
        return None
    return {**out, "cases": None}


class PlainLines:
    """Reads the plain cases of one *text*, whose cases have their dashes indented by *indent*."""

    def __init__(self, text: str, indent: int) -> None:
        self.text = text
        self.dash = " " * indent + "- "
        # a set of characters within ASCII is a table, any other is searched range by range
        self._match = _pattern(indent, "" if text.isascii() else _BEYOND_ASCII).match
        self._plain = Plain()
        self._keys: dict[str, Any] = {}

    def case(self, pos: int) -> tuple[dict[Any, Any], int] | None:
        """Return the case at *pos* and the position after it, or None if one of its lines is not plain.

        Raises:
            NeedsWhole: a key is given twice, or there is a key that merges mappings.
            YamlProblem: a value looks like a number or a date and is none.
        """
        text, match, keys, table = self.text, self._match, self._keys, self._plain.table
        found = match(text, pos)
        if found is None or found[1] is None:
            return None
        out: dict[Any, Any] = {}
        while found is not None and (found[1] is None or not out):
            _, name, plain, double, single, words, pairs = found.groups()
            if plain is not None:
                if ": " in plain or " #" in plain or (plain := plain.rstrip(" "))[-1] == ":":
                    return None
                value = self._plain.resolve(plain, None) if plain[0] in table else plain
            elif words is not None:
                value = self._words(words)
            elif pairs is not None:
                value = self._pairs(pairs)
            else:
                value = double if double is not None else single
            key = keys[name] if name in keys else self._key(name)
            if key in out:
                raise NeedsWhole
            out[key] = value
            pos = found.end()
            found = match(text, pos)
        return (out, pos) if pos == len(text) or text.startswith(self.dash, pos) else None

    def _words(self, text: str) -> list[Any]:
        """Return what stands in brackets."""
        if not text:
            return []
        if '"' not in text and "{" not in text:
            table = self._plain.table
            words = [word.strip(" ") for word in text.split(",")]
            return [self._plain.resolve(word, None) if word[0] in table else word for word in words]
        return [
            self._word(word) if word else self._pairs(pairs) if pairs else quoted
            for quoted, pairs, word in re.findall(_ITEMS, text)
        ]

    def _pairs(self, text: str) -> dict[Any, Any]:
        """Return what stands in braces."""
        out: dict[Any, Any] = {}
        for pair in text.split(","):
            name, _, value = pair.partition(":")
            key = self._key(name.strip(" "))
            if key in out:
                raise NeedsWhole
            out[key] = self._word(value)
        return out

    def _word(self, text: str) -> Any:
        text = text.strip(" ")
        return self._plain.resolve(text, None) if text[0] in self._plain.table else text

    def _key(self, text: str) -> Any:
        if text not in self._keys:
            self._keys[text] = self._plain.resolve(text, None)
        return self._keys[text]
