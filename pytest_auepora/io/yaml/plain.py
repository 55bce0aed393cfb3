"""Lines of YAML that are written plainly: what they say is clear without YAML's parser.

What is *plain* is so little that nobody can read it differently: a key, a colon, and on the same line a text without
a sign that means something in YAML, a text in quotes without quotes or backslashes in it, or words in brackets or
braces.  Everything here answers "I cannot tell" rather than guess.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import Any

from ..golden.source import Source
from .scalars import Plain

__all__ = ["NeedsWhole", "PlainLines", "plain_head"]

_NEVER = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\uffff"
"""Control characters, line breaks, surrogates and what follows them, byte-order marks among it: all else YAML allows
anywhere."""

_WORD = "[A-Za-z0-9_][A-Za-z0-9_ ./@+()=-]*"
_PAIR = f"[A-Za-z0-9_][A-Za-z0-9_@.-]*: +{_WORD}"
_PAIRS = f"{_PAIR}(?:, *{_PAIR})*"
_ITEMS = r'"([^"]*)"|\{([^}]*)\}|([^,{} ][^,{}]*)'

_STARTS = string.ascii_letters + string.digits + "_(/.$"
"""How plain text in ASCII begins."""
_STARTING = frozenset(_STARTS)
_PRINTED = bytes(range(32, 127)) + b"\n"


class NeedsWhole(Exception):
    """The parser has to read the whole text, for its value or for what is to be said about it."""


@lru_cache(maxsize=16)
def _pattern(indent: int, never: str | None) -> re.Pattern[str]:
    """A plain line of a case, where the dashes of the cases are indented by *indent*.

    Its groups: the dash of a case, the key, then what the value stands in (none, double quotes, single quotes,
    brackets, braces).  *never* are the characters that no text has; None for a text within ASCII.
    """
    if never is None:
        double, single, first, rest = r"[ !#-\[\]-~]*", "[ -&(-~]*", f"[{_STARTS}]", "[ -~]*"
    else:
        double, single, rest = rf'[^"\\{never}]*', f"[^'{never}]*", f"[^{never}]*"
        first = f"(?:[{_STARTS}]|[^ -~{never}])"
    item = rf'(?:{_WORD}|"{double}"|\{{{_PAIRS}\}})'
    quoted = f""""({double})"|'({single})'"""
    flow = rf"\[ *((?:{item}(?:, *{item})*)?)\]|\{{({_PAIRS})\}}"
    plain = f"({first}{rest})"
    dash = rf"(?: {{{indent}}}(-) | {{{indent + 2}}})"
    return re.compile(rf"{dash}([A-Za-z_][A-Za-z0-9_]{{0,60}}): +(?:{plain}|(?:{quoted}|{flow}) *)")


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
        if (read := PlainLines(Source("", case), indent).case(0)) is None:
            return None
        out, _ = read
    if "cases" in out or any(isinstance(value, dict) for value in out.values()):
        return None
    return {**out, "cases": None}


class PlainLines:
    """Reads the plain cases of a *source*, whose cases have their dashes indented by *indent*.

    Most lines are a key and a text without quotes.  Once an expression has found what stands before a colon to be a
    key in its place, a line with it is cut at the colon, in a third of the steps the expression takes.
    """

    def __init__(self, source: Source, indent: int) -> None:
        self.lines, text = source.lines, source.text
        self.dash, self.blank = " " * indent + "- ", " " * (indent + 2)
        # a set of characters within ASCII is a table, any other is searched range by range
        self._allowed = _is_allowed(text)
        # sets of many letters take long to make: where all are allowed, only what ends a line has to be looked for
        never = None if text.isascii() else "\n" if self._allowed else _NEVER
        self._match = _pattern(indent, never).fullmatch
        self._plain = Plain()
        self._keys: dict[str, Any] = {}
        self._first: dict[str, Any] = {}
        self._more: dict[str, Any] = {}
        """Keys by what stands before the colon, on the first line of a case and on others."""

    def case(self, at: int) -> tuple[dict[Any, Any], int] | None:
        """Return the case on line *at* and the line after it, or None if one of its lines is not plain.

        Raises:
            NeedsWhole: a key is given twice, or there is a key that merges mappings.
            YamlProblem: a value looks like a number or a date and is none.
        """
        lines, end, known, table = self.lines, len(self.lines), self._first, self._plain.table
        out: dict[Any, Any] = {}
        while at < end:
            line = lines[at]
            if line or not out:
                start, _, value = line.partition(": ")
                value = value.strip(" ")
                if start in known and value and value[0] in _STARTING:
                    key = known[start]
                    # one sign is looked for in a tenth of the steps of two, and few values have it
                    if (":" in value and (": " in value or value[-1] == ":")) or ("#" in value and " #" in value):
                        return None
                    if value[0] in table:
                        value = self._plain.resolve(value, None)
                elif out and line.startswith(self.dash):
                    break
                elif (pair := self._pair(line, start, known)) is not None:
                    key, value = pair
                else:
                    return None
                if key in out:
                    raise NeedsWhole
                out[key] = value
                known = self._more
            at += 1
        return out, at

    def _pair(self, line: str, start: str, known: dict[str, Any]) -> tuple[Any, Any] | None:
        """Return key and value of any plain line."""
        found = self._match(line)
        if found is None or (found[1] is None) == (known is self._first):
            return None
        _, name, plain, double, single, words, pairs = found.groups()
        if plain is not None:
            if ": " in plain or " #" in plain or (plain := plain.rstrip(" "))[-1] == ":":
                return None
            value = self._plain.resolve(plain, None) if plain[0] in self._plain.table else plain
        elif words is not None:
            value = self._words(words)
        elif pairs is not None:
            value = self._pairs(pairs)
        else:
            value = double if double is not None else single
        key = self._key(name)
        if self._allowed:
            known[start] = key
        return key, value

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


def _is_allowed(text: str) -> bool:
    """Whether all of *text* are characters that YAML allows anywhere, and line feeds."""
    if text.isascii():
        return not text.encode().translate(None, _PRINTED)
    return re.search(rf"(?!\n)[{_NEVER}]", text) is None
