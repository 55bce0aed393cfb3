"""Templates in values of promptfoo: ``{{name}}``, ``{{name.key}}`` and ``{{name[0]}}`` over the variables of a test.

Filters, expressions, blocks, names that are no variables, and values that promptfoo takes from files or packages are
not rendered: what holds one is left out, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any

from .rows import as_text

_TOKEN = re.compile(r"\{% raw %\}(.*?)\{% endraw %\}|\{\{\s*([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\s*\}\}", re.DOTALL)
_MARKUP = re.compile(r"\{\{|\{%|\{#")
_ELSEWHERE = ("file://", "package:")
_DEEPEST = 5
"""How many variables may stand one inside the other, as in promptfoo."""
_LONGEST = 1_000_000
"""Characters of a rendered value."""


class NotRenderedError(Exception):
    """A value that only promptfoo can render."""


class Variables:
    """The variables of a test, whose values may be templates over one another."""

    def __init__(self, raw: Mapping[Any, Any]) -> None:
        self._raw = {str(name): value for name, value in raw.items()}
        self._rendered: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return the rendered value; raises `NotRenderedError` where it is none, or there is no such variable."""
        return self._value(name, ())

    def render(self, value: Any, inside: tuple[str, ...] = ()) -> Any:
        """Return *value* with every template in its texts rendered; raises `NotRenderedError` where one cannot be.

        *inside* are the variables that it is part of.
        """
        if isinstance(value, str):
            return self._render_text(value, inside)
        if isinstance(value, list):
            return [self.render(part, inside) for part in value]
        if isinstance(value, Mapping):
            return {key: self.render(part, inside) for key, part in value.items()}
        return value

    def _value(self, name: str, inside: tuple[str, ...]) -> Any:
        if name not in self._rendered:
            if name not in self._raw or name in inside or len(inside) > _DEEPEST:
                raise NotRenderedError(name)
            self._rendered[name] = self.render(self._raw[name], (*inside, name))
        return self._rendered[name]

    def _render_text(self, text: str, inside: tuple[str, ...]) -> str:
        parts, end = [], 0
        for token in _TOKEN.finditer(text):
            parts += [_plain(text[end : token.start()]), token[1] if token[2] is None else self._text(token[2], inside)]
            end = token.end()
            if sum(map(len, parts[-2:])) > _LONGEST:
                raise NotRenderedError(token[0])
        rendered = "".join((*parts, _plain(text[end:])))
        if rendered.startswith(_ELSEWHERE) or len(rendered) > max(_LONGEST, len(text)):
            raise NotRenderedError(text)
        return rendered

    def _text(self, reference: str, inside: tuple[str, ...]) -> str:
        name, *keys = re.findall(r"\w+", reference)
        value = self._value(name, inside)
        for key in keys:
            try:
                value = value[int(key)] if isinstance(value, list) else value[key]
            except (KeyError, IndexError, TypeError, ValueError):
                raise NotRenderedError(reference) from None
        return text_of(value)


def _plain(text: str) -> str:
    if _MARKUP.search(text):
        raise NotRenderedError(text)
    return text


def text_of(value: Any) -> str:
    """Return *value* as promptfoo writes it into a text: 1e3 as ``1000``, nothing as an empty text.

    Raises:
        NotRenderedError: it is a mapping, or a number that JavaScript cannot hold.
    """
    if value is None:
        return ""
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    if isinstance(value, bool) or not isinstance(value, (int, float, Mapping)):
        return as_text(value)
    if isinstance(value, Mapping) or abs(value) >= 2**53 or not isfinite(value):
        raise NotRenderedError(str(type(value)))
    return format(Decimal(repr(value)).normalize(), "f")


def literal(text: str) -> str:
    """Return *text* as promptfoo has to be given it, so that nothing in it is taken for a template."""
    return f"{{% raw %}}{text}{{% endraw %}}" if _MARKUP.search(text) else text
