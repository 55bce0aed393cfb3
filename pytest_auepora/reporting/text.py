"""Text that is safe to show in a terminal, in Markdown, in a spreadsheet; its width; cut and wrapped; marks."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import names_words


class Symbols(NamedTuple):
    """The marks reports use, one character each, but for ``dots`` and ``arrow``."""

    good: str
    bad: str
    unjudged: str
    unsure: str
    neutral: str
    dots: str
    arrow: str
    rule: str


UNICODE = Symbols(good="✓", bad="✗", unjudged="\u2013", unsure="?", neutral="·", dots="…", arrow="→", rule="─")
ASCII = Symbols(good="+", bad="x", unjudged="-", unsure="?", neutral=".", dots="...", arrow="->", rule="-")

TO_ASCII = str.maketrans({**dict(zip(UNICODE, ASCII, strict=True)), "≥": ">=", "≤": "<=", "\u2212": "-"})
"""For `str.translate`: the marks, and others that messages of this package hold."""


def symbols(ascii_only: bool) -> Symbols:
    """Return the symbols to use."""
    return ASCII if ascii_only else UNICODE


_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
_COMMAND = r"^(\s*):+(?=:)"
_OLD_COMMAND = r"##+(?=\[|vso\[)"  # read by CI runners wherever it stands in a line


def printable(text: str, *, ascii_only: bool = False, keep_lines: bool = False) -> str:
    r"""Return *text* with nothing in it that could move the cursor, colour the rest or reverse the reading order.

    White space becomes single blanks, unless *keep_lines*: then line feeds stay and tabs become four blanks.
    Other control characters are shown as escapes (``\x1b``), and commands to a CI runner are broken.  With
    *ascii_only* the marks of `symbols` get their plain counterparts; letters of other scripts stay as they are.
    """
    if ascii_only:
        text = text.translate(TO_ASCII)
    if "##" in text:
        text = re.sub(_OLD_COMMAND, "#", text)
    if keep_lines:
        lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
        return "\n".join(re.sub(_UNSAFE, _escaped, line) for line in lines)
    text = " ".join(text.split())
    return text if text.isprintable() else re.sub(_UNSAFE, _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def text_width(text: str) -> int:
    """Return how many columns *text* takes: two for wide characters, none for marks that combine."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


@lru_cache(maxsize=1024)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf") and char != "\u00ad":
        return 0
    if "\u1160" <= char <= "\u11ff":  # vowels and finals that join the Hangul syllable before them
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, room: int, *, ascii_only: bool = False) -> str:
    """Return *text*, cut to *room* columns with an ellipsis where it is longer; between words where one ends near."""
    if text_width(text) <= room:
        return text
    dots = "..." if ascii_only else "…"
    head = _head(text, room - len(dots))
    if not text[len(head) :].startswith(" ") and (at := head.rfind(" ")) >= len(head) * 2 // 3:
        head = head[:at]
    return head.rstrip() + dots[: max(room, 0)]


def _head(text: str, room: int) -> str:
    """Return as much of the beginning of *text* as fits, never parting a mark from its letter."""
    if room >= 0 and text[: room + 1].isascii():
        return text[:room]
    used = 0
    for i, char in enumerate(text):
        used += _char_width(char)
        if used > room:
            return text[:i]
    return text


def wrap(text: str, room: int, most: int = 0, *, ascii_only: bool = False) -> list[str]:
    """Break *text* at blanks into lines of at most *room* columns; words that are longer are cut into pieces.

    *most* limits the number of lines, the last one then ends in an ellipsis; 0 is no limit.
    """
    lines: list[str] = []
    room, rest = max(room, 1), " ".join(text.split())
    while text_width(rest) > room:
        if most and len(lines) == most - 1:
            rest = clip(rest, room, ascii_only=ascii_only)
            break
        stop = len(_head(rest, room)) or 1
        at = rest.rfind(" ", 1, stop + 1)
        lines.append(rest[: at if at > 0 else stop])
        rest = rest[at + 1 if at > 0 else stop :]
    return [uncommanded(line) for line in [*lines, rest] if line]


def uncommanded(line: str) -> str:
    """Return *line* without the beginning by which a CI runner would take it for a command (``::error``)."""
    return re.sub(_COMMAND, r"\1", line) if "::" in line else line


def harmless(text: str, *, ascii_only: bool = False) -> str:
    """Return *text*, line by line, with nothing in it that a terminal or a CI runner would obey."""
    return "\n".join(map(uncommanded, printable(text, ascii_only=ascii_only, keep_lines=True).split("\n")))


def spreadsheet_text(text: str) -> str:
    """Return *text* as a spreadsheet will show it: what it would take for a formula gets an apostrophe in front."""
    shown = harmless(text)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown


def listed(names: Sequence[Any], most: int = 3) -> str:
    """Return ``a, b, c and 2 more``, long names cut."""
    return names_words(names, most, lambda name: shortened(str(name)))


def quoted(texts: Sequence[Any], most: int = 3) -> str:
    """Return the texts in quotes, cut to a few words each."""
    return names_words(texts, most, quote)


def quote(text: Any) -> str:
    """Return *text* in quotes, cut to a few words."""
    return f"'{shortened(str(text))}'"


def shortened(text: str, most: int = 60) -> str:
    """Return *text* in one line of at most *most* characters, cut between words where one ends near."""
    text = " ".join(text[: 4 * most].split())
    if len(text) <= most:
        return text
    head = text[: most - 1]
    if text[most - 1] != " " and (at := head.rfind(" ")) >= most * 2 // 3:
        head = head[:at]
    return head.rstrip() + "…"


_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//|\w+:)|(?<=www)\.", re.IGNORECASE)
_CODE = re.compile(r"\\`(pytest [\w.: -]+)\\`")
_HTML = re.compile(r"<(?=[a-z/!?]|$)|&(?=[#\w]|$)", re.IGNORECASE)
_NOTIFIES = re.compile(r"(?<![\w/])([@#])(?=\w)")


def escape_markdown(text: str) -> str:
    """Return user text for a line of Markdown, in which it reads as written and means nothing."""
    text = _SPECIAL.sub(r"\\\g<0>", _quiet(printable(text)))
    return _HTML.sub(lambda found: html.escape(found[0]), text)


def escape_step(text: str) -> str:
    """Return a sentence of what to do next, its commands as code, all else escaped."""
    return _CODE.sub(r"`\1`", escape_markdown(text))


def escape_html(text: str) -> str:
    """Return user text for a place where Markdown is not read: ``<summary>``, ``<pre>``."""
    return html.escape(_quiet(text), quote=False)


def _quiet(text: str) -> str:
    """Part ``@somebody`` and ``#123`` by a character without width, so that nobody is notified, nothing is linked."""
    return _NOTIFIES.sub("\\1\u200b", text)


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> Iterator[str]:
    """Yield a table of user text, escaped; columns whose number is in *right* are aligned to the right."""
    yield f"| {' | '.join(map(escape_markdown, heads))} |"
    yield f"| {' | '.join('---:' if i in right else '---' for i in range(len(heads)))} |"
    for row in rows:
        yield f"| {' | '.join(map(escape_markdown, row))} |"
