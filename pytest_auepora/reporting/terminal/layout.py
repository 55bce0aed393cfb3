"""Layout of terminal output: pages of labelled blocks, aligned tables, styles.

A line is a list of cells, and each cell has the names of pytest's markup (``red``, ``bold``, ``light``).  Nothing here
writes to a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..text import DOTS, RULE, clip, one_line, printable, text_width, without_command, wrap

_LABEL_WIDTH = 11

_GAP = "  "


class Cell(NamedTuple):
    """A piece of text in one style."""

    text: str
    style: tuple[str, ...] = ()


Line = list[Cell]
"""One row of a terminal."""


class Column(NamedTuple):
    """A column of a table.

    ``least`` is the width to which it may shrink when room is short (None: not at all); the widest shrinks first.
    When that is not enough, columns are dropped, those with the highest ``expendable`` first; 0 always stays.
    """

    title: str
    right: bool = False
    least: int | None = None
    expendable: int = 0


class Page:
    """Collects lines of at most *width* columns: a label on the left, its content on the right."""

    def __init__(self, width: int = 80) -> None:
        self.width = max(width, _LABEL_WIDTH + 20)
        self.room = self.width - _LABEL_WIDTH
        self.lines: list[Line] = []

    def safe(self, text: str, most: int = 4000) -> str:
        """Return user text in one line without control characters, at most *most* characters of it."""
        return printable(text[:most])

    def title(self, title: str, subtitle: str = "") -> None:
        """Add a heading in one line, clipped where too long, and *subtitle* after it, or below it if too long."""
        title, subtitle = clip(self.safe(title), self.width), self.safe(subtitle)
        line = [Cell(title, ("bold",))]
        self.lines.append(line)
        if text_width(title) + text_width(subtitle) + 2 > self.width:
            self.paragraph(subtitle, "light")
        else:
            line.append(Cell(f"  {subtitle}" if subtitle else "", ("light",)))

    def block(self, label: str, lines: Iterable[Line]) -> None:
        """Add *lines*, which fit after the label, with *label* at the first of them."""
        for i, line in enumerate(lines):
            self.lines.append([Cell(("" if i else label).ljust(_LABEL_WIDTH), ("light",)), *line])

    def text(self, label: str, text: str, *style: str, most: int = 3) -> None:
        """Add user text after *label*, in at most *most* lines; nothing for an empty text."""
        if text:
            room = most * self.room + 100
            self.block(label, [[Cell(part, style)] for part in wrap(self.safe(text, room), self.room, most)])

    def texts(self, label: str, texts: Iterable[str]) -> None:
        """Add each of *texts* after *label*, in at most two lines."""
        for text in texts:
            self.text(label, text, most=2)

    def paragraph(self, text: str, *style: str, indent: int = 0, most: int = 0) -> None:
        """Add text over the whole width, wrapped; lines after the first are indented by two more."""
        for i, part in enumerate(wrap(self.safe(text), self.width - indent - 2, most)):
            self.lines.append([Cell(f"{' ' * indent}{'  ' if i else ''}{part}", style)])

    def more(self, n: int) -> None:
        """Add that a list leaves out *n*, unless it leaves out none."""
        if n > 0:
            self.paragraph(f"{DOTS} and {n} more", "light", indent=2)


def padded(text: str, room: int) -> str:
    """Clip or pad *text* to exactly *room* columns."""
    text = clip(text, room)
    return text + " " * (room - text_width(text))


def table(columns: Sequence[Column], rows: Iterable[Sequence[Cell]], width: int) -> list[Line]:
    """Lay out *rows* under a heading and a rule, no line wider than *width*.

    Cells are made `printable`.  A column in which every cell is empty is left out.
    """
    grid = [
        [Cell(c.title, ("bold",)) for c in columns],
        *([cell._replace(text=one_line(cell.text)) for cell in row] for row in rows),
    ]
    visible = [i for i in range(len(columns)) if any(row[i].text for row in grid[1:])]
    sizes = {i: max(text_width(row[i].text) for row in grid) for i in visible}
    _fit_widths(columns, sizes, width)
    if not sizes:
        return []
    head, *lines = [_row(row, columns, sizes) for row in grid]
    rule = RULE * min(width, sum(sizes.values()) + len(_GAP) * (len(sizes) - 1))
    return [head, [Cell(rule, ("light",))], *lines]


def _fit_widths(columns: Sequence[Column], sizes: dict[int, int], width: int) -> None:
    while (excess := sum(sizes.values()) + len(_GAP) * (len(sizes) - 1) - width) > 0:
        shrinkable = {i: s for i, s in sizes.items() if (least := columns[i].least) is not None and s > least}
        expendable = [i for i in sizes if columns[i].expendable]
        widest = max(shrinkable or sizes, key=lambda i: sizes[i])
        if shrinkable:
            others = [s for i, s in shrinkable.items() if i != widest]
            least = max([columns[widest].least or 0, *others])
            sizes[widest] -= max(1, min(excess, sizes[widest] - least))
        elif expendable:
            del sizes[max(expendable, key=lambda i: columns[i].expendable)]
        else:
            sizes[widest] = max(1, sizes[widest] - excess)
            if sizes[widest] == 1:
                return


def _row(cells: Sequence[Cell], columns: Sequence[Column], sizes: Mapping[int, int]) -> Line:
    """Return the cells of the columns in *sizes*, without empty ones at the end."""
    out: Line = []
    last = max((i for i in sizes if cells[i].text), default=-1)
    for i, size in sizes.items():
        if i > last:
            break
        text = clip(cells[i].text, size)
        if columns[i].right:
            text = " " * (size - text_width(text)) + text
        elif i < last:
            text = padded(text, size)
        out += [Cell(_GAP)] if out else []
        out.append(cells[i]._replace(text=text))
    return out


def printable_line(line: Line) -> Line:
    """Return *line* for printing, without a leading ``::`` that a CI runner would read as a command."""
    text = "".join([cell.text for cell in line])
    safe = without_command(text)
    return line if safe == text else [Cell(safe, line[-1].style)]


def plain(line: Line) -> str:
    """Return the text of *line*."""
    return "".join([cell.text for cell in printable_line(line)]).rstrip()


def render(lines: Iterable[Line]) -> str:
    """Return *lines* as one text, without styles."""
    return "\n".join(map(plain, lines))
