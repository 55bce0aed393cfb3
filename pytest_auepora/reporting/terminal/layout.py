"""Plain text that lines up: how wide text is, cutting and wrapping it, tables, styles.

Cells in, lines of cells out; a line is what a terminal prints in one row, each cell with the names of pytest's
markup (``red``, ``bold``, ``light``).  Knows no terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ..symbols import TO_ASCII

__all__ = [
    "Cell",
    "Column",
    "Line",
    "clip",
    "fit_all",
    "plain",
    "printable",
    "printable_all",
    "render",
    "table",
    "text_width",
    "uncommanded",
    "widest",
    "wrap",
    "wrap_line",
]

_GAP = "  "
_INVISIBLE = ("Mn", "Me", "Cf")
_UNSAFE = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
_COMMAND = r"^(\s*):+(?=:)"
_OLD_COMMAND = r"##+(?=\[|vso\[)"  # read by CI runners wherever it stands in a line
_ESCAPES = {
    "bold": 1, "light": 2, "red": 31, "green": 32, "yellow": 33, "blue": 34, "purple": 35, "cyan": 36,
}  # fmt: skip


class Cell(NamedTuple):
    """A piece of text in one style.  ``right`` aligns it to the right of its column."""

    text: str
    style: tuple[str, ...] = ()
    right: bool = False


Line = list[Cell]
"""What stands in one row of a terminal."""


class Column(NamedTuple):
    """A column of a table.

    ``least`` is how far it may shrink when room is short (None: not at all); the widest shrinks first.  When
    that is not enough, columns go altogether, those of the highest ``expendable`` first; 0 always stays.
    """

    title: str
    right: bool = False
    least: int | None = None
    expendable: int = 0


def printable(text: str, *, ascii_only: bool = False, keep_lines: bool = False) -> str:
    r"""Return *text* with nothing in it that could move the cursor, colour the rest or reverse the reading order.

    White space becomes single blanks, unless *keep_lines*: then line feeds stay and tabs become four blanks.
    Other control characters are shown as escapes (``\x1b``), and commands to a CI runner are broken.  With
    *ascii_only* the marks of `marks` get their plain counterparts; letters of other scripts stay as they are.
    """
    if ascii_only:
        text = text.translate(TO_ASCII)
    if "##" in text:
        text = re.sub(_OLD_COMMAND, "#", text)
    if not keep_lines:
        if "  " not in text and text.isprintable():  # then all white space is single blanks: nothing to put together
            return text.strip()
        text = " ".join(text.split())
        return text if text.isprintable() else re.sub(_UNSAFE, _escaped, text)
    lines = text.replace("\r\n", "\n").expandtabs(4).split("\n")
    return "\n".join(line if line.isprintable() else re.sub(_UNSAFE, _escaped, line) for line in lines)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


@cache
def _uneven() -> re.Pattern[str]:
    """Characters that may not take exactly one column; not among them are those of most European texts, and marks.

    Compiled once a text goes beyond ASCII: to compile so many takes longer than to show a small run.
    """
    return re.compile(
        "[^\x00-\u02ff\u0390-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25fc\u270c-\u2727]"
    )


def text_width(text: str) -> int:
    """Return how many columns *text* takes: two for wide characters, none for marks that combine."""
    if text.isascii() or not (uneven := _uneven().findall(text)):
        return len(text)
    return len(text) - len(uneven) + sum(map(_char_width, uneven))


def _is_even(text: str) -> bool:
    """Whether columns are characters, as in nearly all texts."""
    return text.isascii() or _uneven().search(text) is None


@lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in _INVISIBLE and char != "\u00ad":
        return 0
    if "\u1160" <= char <= "\u11ff":  # vowels and finals that join the Hangul syllable before them
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, room: int, *, ascii_only: bool = False) -> str:
    """Return *text*, cut to *room* columns with an ellipsis where it is longer."""
    if text_width(text) <= room:
        return text
    dots = "..." if ascii_only else "…"
    return _head(text, room - len(dots)).rstrip() + dots[: max(room, 0)]


def fit_all(texts: Sequence[str], rooms: Sequence[int], *, ascii_only: bool = False) -> list[str]:
    """Return each text as `printable` in one line, cut to its room as by `clip`.

    What is not shown is not looked at where possible, and what is shown is looked at together: it takes longer to
    ask of a short text whether anything has to be done to it than to cut it, and nearly always nothing has.
    """
    heads = [text[: room + 2] for text, room in zip(texts, rooms, strict=True)]  # a blank, and what follows it
    dots = "..." if ascii_only else "…"
    if not _are_plain(heads) or min(rooms, default=0) < len(dots):
        return [
            clip(printable(text, ascii_only=ascii_only), room, ascii_only=ascii_only)
            for text, room in zip(texts, rooms, strict=True)
        ]
    out: list[str] = []
    for head, room in zip(heads, rooms, strict=True):
        text = head.rstrip()
        out.append(text if len(text) <= room else f"{text[: room - len(dots)].rstrip()}{dots}")
    return out


def printable_all(texts: Sequence[str], *, ascii_only: bool = False) -> list[str]:
    """Return each text as `printable` in one line; they are looked at together, as by `fit_all`."""
    if _are_plain(texts):
        return list(map(str.rstrip, texts))
    return [printable(text, ascii_only=ascii_only) for text in texts]


def _are_plain(texts: Sequence[str]) -> bool:
    """Whether all are ASCII that `printable` leaves as it is, but for a blank at the end."""
    text = f"^{'^'.join(texts)}"
    return text.isascii() and "  " not in text and "^ " not in text and "#" not in text and text.isprintable()


def widest(texts: Sequence[str]) -> int:
    """Return how many columns the widest of *texts* takes."""
    return max(map(len if "".join(texts).isascii() else text_width, texts), default=0)


def _head(text: str, room: int) -> str:
    """Return as much of the beginning of *text* as fits, never parting a mark from its letter."""
    if _is_even(text):
        return text[: max(room, 0)]
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
    return wrap_line(" ".join(text.split()), room, most, ascii_only=ascii_only)


def wrap_line(text: str, room: int, most: int = 0, *, ascii_only: bool = False) -> list[str]:
    """Do the same as `wrap` for *text* in one line, as `printable` returns it: words are one blank apart."""
    start, end = 0, len(text)
    if end <= room and text.isascii():  # as most texts are
        lines = [text] if text else []
        return lines if "::" not in text else [uncommanded(text)]
    room = max(room, 1)
    lines = []
    narrow = _is_even(text)
    while (end - start if narrow else text_width(text[start:])) > room:
        if most and len(lines) == most - 1:
            lines.append(clip(text[start:], room, ascii_only=ascii_only))
            start = end
            break
        stop = start + (room if narrow else len(_head(text[start:], room)) or 1)
        at = text.rfind(" ", start + 1, stop + 1)
        lines.append(text[start : at if at > 0 else stop])
        start = at + 1 if at > 0 else stop
    if start < end:
        lines.append(text[start:])
    return [uncommanded(line) for line in lines] if "::" in text else lines


def uncommanded(line: str) -> str:
    """Return *line* without the beginning by which a CI runner would take it for a command (``::error``)."""
    return re.sub(_COMMAND, r"\1", line) if "::" in line else line


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], width: int, *, ascii_only: bool = False
) -> list[Line]:
    """Lay out *rows* under a heading and a rule, no line wider than *width*.

    Cells are taken through `printable`.  A column in which every cell is empty is left out.
    """
    head = [Cell(c.title, ("bold",), c.right) for c in columns]
    grid = [head, *([_safe(cell, c.right, ascii_only) for cell, c in zip(row, columns, strict=True)] for row in rows)]
    kept = [i for i in range(len(columns)) if any(row[i].text for row in grid[1:])]
    sizes = {i: max(text_width(row[i].text) for row in grid) for i in kept}
    _fit(columns, sizes, width)
    kept = [i for i in kept if i in sizes]
    lines = [_row([row[i] for i in kept], [sizes[i] for i in kept], ascii_only) for row in grid]
    rule = ("-" if ascii_only else "─") * min(width, sum(sizes.values()) + len(_GAP) * (len(kept) - 1))
    return [lines[0], [Cell(rule, ("light",))], *lines[1:]] if kept else []


def _safe(cell: Cell, right: bool, ascii_only: bool) -> Cell:
    text = cell.text if cell.text.isascii() and cell.text.isprintable() else printable(cell.text, ascii_only=ascii_only)
    return cell._replace(text=text, right=right or cell.right)


def _fit(columns: Sequence[Column], sizes: dict[int, int], width: int) -> None:
    """Shrink or drop columns of *sizes* until they fit."""
    while (over := sum(sizes.values()) + len(_GAP) * (len(sizes) - 1) - width) > 0:
        soft = {i: s for i, s in sizes.items() if (least := columns[i].least) is not None and s > least}
        if soft:
            widest = max(soft, key=lambda i: soft[i])
            least = columns[widest].least or 0
            others = [s for i, s in soft.items() if i != widest]
            step = max(1, min(over, sizes[widest] - max([least, *others])))
            sizes[widest] -= step
            continue
        spare = [i for i in sizes if columns[i].expendable]
        if not spare:
            widest = max(sizes, key=lambda i: sizes[i])
            sizes[widest] = max(1, sizes[widest] - over)
            if sizes[widest] == 1:
                return
            continue
        del sizes[max(spare, key=lambda i: columns[i].expendable)]


def _row(cells: Sequence[Cell], sizes: Sequence[int], ascii_only: bool) -> Line:
    while cells and not cells[-1].text:
        cells, sizes = cells[:-1], sizes[:-1]
    out: Line = []
    for i, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
        text = clip(cell.text, size, ascii_only=ascii_only)
        pad = " " * (size - text_width(text))
        last = i == len(cells) - 1 and not cell.right
        text = pad + text if cell.right else text if last else text + pad
        if i:
            out.append(Cell(_GAP))
        out.append(cell._replace(text=text))
    return out


def plain(line: Line) -> str:
    """Return the text of *line*."""
    return "".join([cell.text for cell in line]).rstrip()


def render(lines: Iterable[Line], *, color: bool = False) -> str:
    """Return *lines* as one text, with ANSI escapes where *color*."""
    if not color:
        return "\n".join(map(plain, lines))
    return "\n".join("".join(map(_colored, line)).rstrip() for line in lines)


def _colored(cell: Cell) -> str:
    codes = [str(_ESCAPES[name]) for name in cell.style if name in _ESCAPES]
    return f"\x1b[{';'.join(codes)}m{cell.text}\x1b[0m" if codes and cell.text else cell.text
