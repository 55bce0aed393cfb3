"""A golden file while it is being read: where every key and value stands, and all that is wrong with it."""

from __future__ import annotations

import codecs
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from itertools import accumulate
from pathlib import Path
from typing import Any

from ..errors import GoldenFileError, Problem

MAX_BYTES = 50_000_000
"""How large a golden file may be."""

_MOST_TOLD = 200
"""How many complaints are told with their places; the thousandth is rarely of another kind than the first."""

_MOST_ALIKE = 3
"""How many complaints that say the same are told with their places."""

_BREAK = r"\r\n|\r|\n"
_PLAIN_END = r"\s#|:\s|[,\[\]{}\r\n]|:$"


class Source:
    """One golden file: its text, the places of its values, and the problems found so far.

    A place is how many characters of the text come before it.  ``marks`` maps ``id(container)`` to a list of places:
    the container's own, then for a mapping those of key and value in turn, in the order of its keys, for a sequence
    those of its items.  ``starts`` has the own places of some more containers; ``locate`` fills in all others when
    they are asked for.  Identities are stable because ``root`` holds the values, and ``dropped`` those under repeated
    keys.  Where the text is a part of a file, ``before`` of its lines come first; what has a line has that of the file.
    """

    def __init__(self, path: str, text: str, before: int = 0) -> None:
        self.path = path
        self.text = text
        self.before = before
        self.root: Any = None
        self.marks: dict[int, list[int]] = {}
        self.starts: dict[int, int] = {}
        self.locate: Callable[[Source], None] | None = None
        self.dropped: list[Any] = []
        self.problems: list[Problem] = []

    @classmethod
    def load(cls, path: Path, max_bytes: int = MAX_BYTES, instead: str = "") -> Source:
        """Read the file at *path*; *instead* is what else than splitting may be done with a larger one.

        Raises:
            GoldenFileError: it is not there, not readable, too large, or no UTF-8.
        """
        source = cls(str(path), "")
        try:
            with path.open("rb") as file:
                # room for what may be read is taken before anything is: of a file, no more than it needs
                size = os.fstat(file.fileno()).st_size
                data = file.read(min(size, max_bytes) + 1)
                if size < len(data) <= max_bytes:  # a pipe, which has no size, or the file has grown
                    data += file.read(max_bytes + 1 - len(data))
        except OSError as exc:
            source.complain(0, 0, f"cannot be read: {exc.strerror or exc}")
            raise source.error() from None
        if len(data) > max_bytes:
            source.complain(0, 0, too_large(max_bytes, instead))
            raise source.error()
        return cls(str(path), decode(data, source))

    @cached_property
    def lines(self) -> list[str]:
        """The text by lines, as editors number them."""
        return re.split(_BREAK, self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def line_starts(self) -> list[int]:
        """The places of the lines."""
        return [0, *accumulate(map(len, StringIO(self.text, newline="")))][: len(self.lines)]

    def place(self, mark: int) -> tuple[int, int]:
        """Line and column of a place, both 1-based, the column in characters."""
        number = bisect_right(self.line_starts, mark)
        return self.before + number, mark - self.line_starts[number - 1] + 1

    def marks_of(self, holder: Any) -> list[int]:
        """Return the places of a container, empty where none are known."""
        if id(holder) not in self.marks and self.locate is not None:
            locate, self.locate = self.locate, None
            locate(self)
        return self.marks.get(id(holder), [])

    def take_marks(self, root: Any, marks: dict[int, list[int]], same: Any) -> None:
        """Take over the *marks* of *same*, a value equal to *root*."""
        pairs = [(root, same)]
        for value, located in pairs:
            if (found := marks.pop(id(located), None)) is None:
                continue  # seen already: an alias
            self.marks[id(value)] = found
            parts = (value.values(), located.values()) if isinstance(value, dict) else (value, located)
            pairs += [pair for pair in zip(*parts, strict=True) if isinstance(pair[0], (dict, list))]

    def forget(self) -> None:
        """Drop what was found so far, to begin anew."""
        self.marks.clear()
        self.starts.clear()
        self.problems.clear()

    def at(self, holder: Any, key: Any = None, *, on_key: bool = False) -> tuple[int, int]:
        """Where *holder* starts, or its value at *key* (a key or an index), or that key itself; (0, 0) if unknown."""
        mark = self.starts.get(id(holder)) if key is None else None
        if mark is None:
            mark = self._mark(holder, key, on_key)
        return self.place(mark) if mark is not None else (0, 0)

    def _mark(self, holder: Any, key: Any, on_key: bool) -> int | None:
        marks = self.marks_of(holder)
        number = 0
        if key is not None:
            number = 2 * list(holder).index(key) + (1 if on_key else 2) if isinstance(holder, Mapping) else key + 1
        return marks[number] if number < len(marks) else None

    @property
    def is_full(self) -> bool:
        """Whether further complaints are only counted: finding a place may take as long as reading all."""
        return len(self.problems) >= _MOST_TOLD

    def bad(self, holder: Any, key: Any, message: str) -> None:
        """Complain about the value of *holder* at *key*."""
        self.complain(*((0, 0) if self.is_full else self.at(holder, key)), message)

    def bad_key(self, holder: Any, key: Any, message: str) -> None:
        """Complain about the key *key* itself."""
        self.complain(*((0, 0) if self.is_full else self.at(holder, key, on_key=True)), message)

    def bad_whole(self, holder: Any, message: str) -> None:
        """Complain about *holder* as a whole, at its start."""
        self.complain(*((0, 0) if self.is_full else self.at(holder)), message)

    def complain(self, line: int, col: int, message: str) -> None:
        """Add one problem at a place; line 0 means the whole file.  Of words that fill pages, the beginning is told."""
        message = re.sub(r"(\S{100})\S{100,}", r"\1…", message)
        self.problems.append(Problem(self.path, line, col, message))

    def error(self) -> GoldenFileError:
        """Return the problems as one error, in file order, and how many more there are; of many alike the first few."""
        told = sorted(self.problems[:_MOST_TOLD], key=lambda p: (p.line, p.col))
        if more := len(self.problems) - len(told):
            told.append(Problem(self.path, 0, 0, f"{more:,} more complaint{'s' if more > 1 else ''}"))
        return GoldenFileError(list(_counted(told)))

    def written(self, holder: Any, key: Any) -> str:
        """The scalar at *key* as it stands in the file, or an empty string where that cannot be told."""
        mark = self._mark(holder, key, False)
        if mark is None:
            return ""
        line, col = self.place(mark)
        rest = self.lines[line - 1 - self.before][col - 1 :]
        end = re.search(_PLAIN_END, rest)
        return (rest[: end.start()] if end else rest).strip()


def decode(data: bytes, source: Source, offset: int = 0) -> str:
    """Return *data* as text; raises `GoldenFileError` with the place of what is no UTF-8, told to *source*."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        source.complain(1, 1, "is UTF-16; save it as UTF-8")
        raise source.error()
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as exc:
        before = data[: exc.start].decode("utf-8")
        what = f"byte {data[exc.start]:#04x} at offset {offset + exc.start} is not UTF-8; save the file as UTF-8"
        source.complain(*Source("", before, source.before).place(len(before)), what)
        raise source.error() from None


def describe(value: Any, written: str = "") -> str:
    """Say what *value* is, and for text that was read as something else how it stands in the file."""
    if isinstance(value, str):
        short = value if len(value) <= 40 else value[:37] + "…"
        return repr(short) if value.strip() else "an empty text"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing"
    kinds = {"bool": str(value).lower(), "int": "a whole number", "float": "a number", "date": "a date",
             "datetime": "a date"}  # fmt: skip
    kind = kinds.get(type(value).__name__, f"a {type(value).__name__}")
    return f"`{written}`, which is read as {kind}" if written else f"{value!r} ({kind})"


def too_large(max_bytes: int, instead: str = "") -> str:
    """Return the complaint about a file of more than *max_bytes*; who set them is not told of *instead*."""
    more = f", {instead}" if instead and max_bytes == MAX_BYTES else ""
    return f"is larger than {max_bytes:,} bytes; split it{more}"


def _counted(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield *problems*; of those that say the same the first few, and then how many more there are."""
    alike = Counter(problem.message for problem in problems)
    told: Counter[str] = Counter()
    for problem in problems:
        told[problem.message] += 1
        number, left = told[problem.message], alike[problem.message] - _MOST_ALIKE
        if number < _MOST_ALIKE or left <= 0:
            yield problem
        elif number == _MOST_ALIKE:
            yield problem._replace(message=f"{problem.message} (and {left} more like it below)")
