"""Text in Markdown: escaped so that it reads as written and means nothing, and tables of it."""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterator, Sequence

from ..text import printable

_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//|\w+:)|(?<=www)\.", re.IGNORECASE)
_COMMAND = re.compile(r"\\`(pytest [\w.: -]+)\\`")
_HTML = re.compile(r"<(?=[a-z/!?]|$)|&(?=[#\w]|$)", re.IGNORECASE)
_NOTIFIES = re.compile(r"(?<![\w/])([@#])(?=\w)")


def escape(text: str) -> str:
    """Return user text for a line of Markdown, in which it reads as written and means nothing."""
    text = _SPECIAL.sub(r"\\\g<0>", _quiet(printable(text)))
    return _HTML.sub(lambda found: html.escape(found[0]), text)


def escape_step(text: str) -> str:
    """Return a sentence of what to do next, its commands as code, all else escaped."""
    return _COMMAND.sub(r"`\1`", escape(text))


def escape_html(text: str) -> str:
    """Return user text for a place where Markdown is not read: ``<summary>``, ``<pre>``."""
    return html.escape(_quiet(text), quote=False)


def _quiet(text: str) -> str:
    """Part ``@somebody`` and ``#123`` by a character without width, so that nobody is notified, nothing is linked."""
    return _NOTIFIES.sub("\\1\u200b", text)


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> Iterator[str]:
    """Yield a table of user text, escaped; columns whose number is in *right* are aligned to the right."""
    yield f"| {' | '.join(map(escape, heads))} |"
    yield f"| {' | '.join('---:' if i in right else '---' for i in range(len(heads)))} |"
    for row in rows:
        yield f"| {' | '.join(map(escape, row))} |"
