"""Text that is safe to show in a terminal, in Markdown, in a spreadsheet; its width; clipping and wrapping; symbols."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Any

from ..base.pages import help_command, page_url
from ..base.text import names_words

GOOD, BAD, UNJUDGED, UNSURE, NEUTRAL, DOTS, ARROW, RULE = "✓", "✗", "\u2013", "?", "·", "…", "→", "─"
"""The symbols of reports, one character each."""

_TO_ASCII = str.maketrans({
    GOOD: "+", BAD: "x", UNJUDGED: "-", NEUTRAL: ".", DOTS: "...", ARROW: "->", RULE: "-", "≥": ">=", "≤": "<=",
    "\u2212": "-",
})  # fmt: skip
"""For `str.translate`: the symbols, and other characters in messages of this package."""


_STAND_INS = {
    **_TO_ASCII,
    **str.maketrans({
        "“": '"', "”": '"', "\u2019": "'", "\u2014": "-", "±": "+-", "\u00d7": "x", "•": "*", "⇄": "<->", "∞": "inf",
        "√": "sqrt", "Σ": "sum", "α": "alpha", "κ": "kappa", "²": "2", "½": "1/2", "€": "EUR", "°": "deg",
    }),
}  # fmt: skip
"""What an output gets in place of a character that it cannot take."""


def stand_in(exc: UnicodeError) -> tuple[str, int]:
    r"""Return what stands for characters that cannot be encoded: ASCII that says the same, else ``\u0431``.

    An error handler of `codecs`.
    """
    if not isinstance(exc, UnicodeEncodeError):
        raise exc
    bad = exc.object[exc.start : exc.end]
    return "".join(_STAND_INS.get(ord(char), json.dumps(char)[1:-1]) for char in bad), exc.end


def in_ascii(text: str) -> str:
    """Return *text* with ASCII for the symbols of this package; letters of other scripts stay."""
    return text.translate(_TO_ASCII)


_UNSAFE = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
_COMMAND = r"^(\s*):+(?=:)"
_OLD_COMMAND = r"##+(?=\[|vso\[)"  # CI runners read it anywhere in a line


def printable(text: str, *, keep_lines: bool = False) -> str:
    r"""Return *text* without characters that move the cursor, set colours or reverse the reading order.

    White space becomes single blanks, unless *keep_lines*: then line feeds stay and tabs become four blanks.
    Other control characters are shown as escapes (``\x1b``), and commands to a CI runner are broken.
    """
    if "##" in text:
        text = re.sub(_OLD_COMMAND, "#", text)
    if text.isprintable():
        return text if keep_lines else " ".join(text.split())
    if keep_lines:
        lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
        return "\n".join(re.sub(_UNSAFE, _escape, line) for line in lines)
    return re.sub(_UNSAFE, _escape, " ".join(text.split()))


def one_line(text: str) -> str:
    """Return *text* as `printable` does, its blanks kept."""
    return printable(" ".join(text.splitlines()), keep_lines=True)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def text_width(text: str) -> int:
    """Return the width of *text* in columns: two for wide characters, none for combining marks."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


@lru_cache(maxsize=1024)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf") and char != "\u00ad":
        return 0
    if "\u1160" <= char <= "\u11ff":  # vowels and finals that join the Hangul syllable before them
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, room: int) -> str:
    """Return *text*, clipped to *room* columns with an ellipsis, between words where a word ends near."""
    if text_width(text) <= room:
        return text
    head = _fitting_prefix(text, room - 1)
    if not text[len(head) :].startswith(" ") and (at := head.rfind(" ")) >= len(head) * 2 // 3:
        head = head[:at]
    return head.rstrip() + DOTS[: max(room, 0)]


def _fitting_prefix(text: str, room: int) -> str:
    """Return the longest prefix of *text* that fits, keeping combining marks with their letters."""
    if room >= 0 and text[: room + 1].isascii():
        return text[:room]
    widths = accumulate(map(_char_width, text))
    return text[: len([*takewhile(lambda width: width <= room, widths)])]


def wrap(text: str, room: int, most: int = 0) -> list[str]:
    """Wrap *text* at blanks into lines of at most *room* columns; longer words are split.

    *most* limits the number of lines, and the last one then ends in an ellipsis; 0 is no limit.
    """
    lines: list[str] = []
    room, rest = max(room, 1), " ".join(text.split())
    while text_width(rest) > room:
        if most and len(lines) == most - 1:
            rest = clip(rest, room)
            break
        stop = len(_fitting_prefix(rest, room)) or 1
        at = rest.rfind(" ", 1, stop + 1)
        lines.append(rest[: at if at > 0 else stop])
        rest = rest[at + 1 if at > 0 else stop :]
    return [without_command(line) for line in [*lines, rest] if line]


def without_command(line: str) -> str:
    """Return *line* without a leading ``::``, by which a CI runner would read it as a command (``::error``)."""
    return re.sub(_COMMAND, r"\1", line) if "::" in line else line


def harmless(text: str) -> str:
    """Return *text* without control characters and CI commands, its lines kept."""
    return "\n".join(map(without_command, printable(text, keep_lines=True).split("\n")))


def spreadsheet_text(text: str) -> str:
    """Return *text* for a spreadsheet cell: a text that reads as a formula gets an apostrophe in front."""
    shown = harmless(text)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown


def listed(names: Sequence[Any], most: int = 3) -> str:
    """Return ``a, b, c and 2 more``, long names shortened."""
    return names_words(names, most, lambda name: shortened(str(name)))


def quoted(texts: Sequence[Any], most: int = 3) -> str:
    """Return the texts in quotes, each shortened to a few words."""
    return names_words(texts, most, quote)


def quote(text: Any) -> str:
    """Return *text* in quotes, shortened to a few words."""
    return f"'{shortened(str(text))}'"


def cases_words(ids: Sequence[str]) -> str:
    """Return the id of a case, or how many they are with the first two."""
    return f"{len(ids):,} cases ({listed(ids, 2)})" if len(ids) > 1 else ids[0]


def shortened(text: str, most: int = 60) -> str:
    """Return *text* in one line of at most *most* columns."""
    return clip(" ".join(text[: 4 * most].split()), most)


_SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//|\w+:)|(?<=www)\.", re.IGNORECASE)
_HTML = re.compile(r"<(?=[a-z/!?]|$)|&(?=[#\w]|$)", re.IGNORECASE)
_MENTION = re.compile(r"((?<![\w/])(?:[@#]|GH-)|(?<![\w.-])[\w-]{1,39}/[\w.-]{1,100}[@#])(?=\w)")


class Code(str):
    """A part of a sentence that people type as it stands: a command, a setting."""

    __slots__ = ()


class Sentence(str):
    """A text that knows which of its parts are `Code`: those stand in backticks in it."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Sentence:
        """Join *parts*; sentences among them keep their own."""
        known = tuple(inner for part in parts for inner in parts_of(part))
        self = super().__new__(cls, "".join(f"`{part}`" if isinstance(part, Code) else part for part in known))
        self.parts = known
        return self


def parts_of(text: str) -> tuple[str, ...]:
    """Return the parts of a sentence, those that are `Code` among them; any other text is one."""
    return text.parts if isinstance(text, Sentence) else (text,)


def where_to_read(topic: str) -> str:
    """Return where *topic* is read, a page or ``page#section``: its URL where it is known, else the command."""
    return page_url(topic) or Code(help_command(topic))


def escape_markdown(text: str) -> str:
    """Return a sentence or user text for a line of Markdown: its code as code, all other markup escaped."""
    return "".join(map(_markdown_part, text.parts)) if isinstance(text, Sentence) else _escaped_markup(printable(text))


def _markdown_part(part: str) -> str:
    line = one_line(part)
    return "`" + line.replace("`", "'") + "`" if isinstance(part, Code) else _escaped_markup(line)


def _escaped_markup(text: str) -> str:
    text = _SPECIAL.sub(r"\\\g<0>", _break_mentions(text))
    return _HTML.sub(lambda match: html.escape(match[0]), text)


def escape_html(text: str) -> str:
    """Return user text for HTML inside Markdown: ``<summary>``, ``<pre>``."""
    return html.escape(_break_mentions(text), quote=False)


def folded(title: str, content: str) -> str:
    """Return *content* as a part of a Markdown text that opens with a click on *title*."""
    return f"<details><summary>{escape_html(printable(title))}</summary>\n\n{content}\n\n</details>"


def _break_mentions(text: str) -> str:
    """Break what GitHub would notify people of or link: ``@somebody``, ``#123``, ``owner/name#123``."""
    return _MENTION.sub("\\1\u200b", text)


def more_item(n: int) -> list[str]:
    """Return the last item of a Markdown list that leaves out *n*; none where it leaves out none."""
    return [f"- \u2026 and {n:,} more"] if n > 0 else []


def markdown_list(items: Sequence[str], most: int | None = None) -> str:
    """Return a Markdown list of *items*, which are escaped; those after the first *most* are counted."""
    left_out = 0 if most is None else len(items) - most
    return "\n".join([*(f"- {item}" for item in items[:most]), *more_item(left_out)])


def markdown_table(
    heads: Sequence[str],
    rows: Iterable[Iterable[str]],
    right: Container[int] = (),
    *,
    escape: Callable[[str], str] = escape_markdown,
) -> str:
    """Return a Markdown table, its cells escaped by *escape*; the columns in *right* are right-aligned."""
    rule = ["---:" if i in right else "---" for i in range(len(heads))]
    lines = [map(escape, heads), rule, *(map(escape, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
