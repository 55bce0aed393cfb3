"""A page of labelled blocks, as failure texts and explanations are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..symbols import marks
from .layout import Cell, Line, clip, fit_all, printable, printable_all, text_width, wrap_line

__all__ = ["LABEL_WIDTH", "Page", "Piece", "PlainPage"]

LABEL_WIDTH = 11

Piece = tuple[str, tuple[str, ...]]
"""Text and its style."""

_NO_LABEL: Piece = (" " * LABEL_WIDTH, ("light",))


class Page:
    """Collects lines of at most *width* columns: a label on the left, its content beside it."""

    def __init__(self, width: int = 80, *, ascii_only: bool = False) -> None:
        self.width = max(width, LABEL_WIDTH + 20)
        self.room = self.width - LABEL_WIDTH
        self.ascii_only = ascii_only
        self.marks = marks(ascii_only)
        self.lines: list[Line] = []

    def safe(self, text: str, most: int = 4000) -> str:
        """Return user text in one line, harmless, and not longer than *most* characters."""
        return printable(text[:most], ascii_only=self.ascii_only)

    def clip(self, text: str, room: int | None = None) -> str:
        """Cut *text* to *room* columns, or to those beside a label."""
        return clip(text, self.room if room is None else room, ascii_only=self.ascii_only)

    def safe_all(self, texts: Sequence[str], most: int = 4000) -> list[str]:
        """Return each text as `safe`."""
        if max(map(len, texts), default=0) > most:
            texts = [text[:most] for text in texts]
        return printable_all(texts, ascii_only=self.ascii_only)

    def fit_all(self, texts: Sequence[str], rooms: Sequence[int]) -> list[str]:
        """Return each user text as `safe`, cut to its room in columns."""
        return fit_all(texts, rooms, ascii_only=self.ascii_only)

    def wrap(self, text: str, room: int | None = None, most: int = 0) -> list[str]:
        """Break *text*, which is `safe`, into lines."""
        return wrap_line(text, self.room if room is None else room, most, ascii_only=self.ascii_only)

    def add(self, line: Sequence[Piece]) -> None:
        """Add a line over the whole width."""
        self.lines.append([Cell(text, style) for text, style in line])

    def block(self, label: str, lines: Iterable[Sequence[Piece]]) -> None:
        """Add *lines*, which fit beside the label, with *label* at the first of them."""
        beside: Piece = (label.ljust(LABEL_WIDTH), ("light",))
        for line in lines:
            self.add([beside, *line])
            beside = _NO_LABEL

    def text(self, label: str, text: str, *style: str, most: int = 3) -> None:
        """Add user text beside *label*, in at most *most* lines; nothing for an empty text."""
        if text:
            room = most * self.room + 100
            self.texts_beside(label, self.wrap(self.safe(text, room), most=most), style)

    def texts_beside(self, label: str, texts: Iterable[str], style: tuple[str, ...]) -> None:
        """Add lines of one style, which fit beside the label, with *label* at the first of them."""
        self.block(label, [[(text, style)] for text in texts])

    def free(self, text: str, *style: str, indent: int = 0, most: int = 0) -> None:
        """Add text over the whole width, wrapped, each line after the first indented by two more."""
        first = " " * indent
        for i, part in enumerate(self.wrap(self.safe(text), self.width - indent - 2, most)):
            self.add([(f"{first}{'  ' if i else ''}{part}", style)])

    def padded(self, text: str, room: int) -> str:
        """Cut or fill *text* to exactly *room* columns."""
        if text.isascii() and len(text) <= room:
            return text.ljust(room)
        text = self.clip(text, room)
        return text + " " * (room - text_width(text))


class PlainPage(Page):
    """A page that keeps of each line its text only, in ``texts``: styles cost as much time as all else in it."""

    def __init__(self, width: int = 80, *, ascii_only: bool = False) -> None:
        super().__init__(width, ascii_only=ascii_only)
        self.texts: list[str] = []

    def add(self, line: Sequence[Piece]) -> None:
        """Add the text of a line."""
        text = ""
        for part, _ in line:
            text += part
        self.texts.append(text.rstrip())

    def block(self, label: str, lines: Iterable[Sequence[Piece]]) -> None:
        """Add the texts of *lines* beside *label*."""
        text = label.ljust(LABEL_WIDTH)
        for line in lines:
            for part, _ in line:
                text += part
            self.texts.append(text.rstrip())
            text = _NO_LABEL[0]

    def texts_beside(self, label: str, texts: Iterable[str], style: tuple[str, ...]) -> None:  # noqa: ARG002
        """Add *texts* beside *label*."""
        beside = label.ljust(LABEL_WIDTH)
        for text in texts:
            self.texts.append((beside + text).rstrip())
            beside = _NO_LABEL[0]
