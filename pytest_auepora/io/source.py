"""A golden file while it is read: the places of its keys and values, and its problems."""

from __future__ import annotations

import codecs
import math
import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from ..base.complaints import Problem, cut_lines
from ..base.text import did_you_mean
from ..errors import GoldenFileError

MAX_BYTES = 50_000_000
"""How large a golden file may be."""

MAX_DEPTH = 100
"""How deep lists and mappings may nest."""

BLOCK_BYTES = 262_144
"""How much of a file is read at a time, besides the rest of the last line."""

_MAX_REPORTED = 200
"""After how many problems reading stops; the thousandth is rarely of another kind than the first."""

_MAX_SUGGESTIONS = 50
"""After how many problems no case is suggested any more: the search goes through the ids of all."""

_MAX_ALIKE = 3
"""How many problems with the same message are reported with their places."""

_MAX_BITS = 3_322
"""About a thousand decimal digits."""

_LINE_BREAK = r"\r\n|\r|\n"
_SCALAR_END = r"\s#|:\s|[,\[\]{}\r\n]|:$"


KeyPath = tuple[Any, ...]
"""The keys and indices from the top of a file to a value; of JSON Lines the first is that of the line."""


class Source:
    """One golden file: its text, the places of its values, and the problems found so far.

    Offsets count the characters of the text before a place.  ``find`` gives the offset of the value at a path, or of
    its key, and None where there is no such value.  If the text is a part of a file, ``lines_before`` is the number of
    lines before it, and all parts share one list of problems; line numbers are those of the file.
    """

    def __init__(self, path: str, text: str, lines_before: int = 0, problems: list[Problem] | None = None) -> None:
        self.path = path
        self.text = text
        self.lines_before = lines_before
        self.find: Callable[[KeyPath, bool], int | None] = lambda _path, _on_key: None
        self.problems = problems if problems is not None else []

    @classmethod
    def load(cls, path: Path, max_bytes: int = MAX_BYTES, instead: str = "") -> Source:
        """Read the file at *path*; *instead* says what to do with a larger one besides splitting it.

        Raises:
            GoldenFileError: it is not there, not readable, too large, or no UTF-8.
        """
        return cls(str(path), "".join(block.text for block in line_blocks(path, max_bytes, instead)))

    @cached_property
    def lines(self) -> list[str]:
        """The text by lines, as editors number them."""
        return re.split(_LINE_BREAK, self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets of the lines."""
        return [0, *accumulate(map(len, StringIO(self.text, newline="")))][: len(self.lines)]

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Line and column at an offset, both 1-based, the column in characters."""
        number = bisect_right(self.line_starts, offset)
        return self.lines_before + number, offset - self.line_starts[number - 1] + 1

    def position(self, path: KeyPath, *, on_key: bool = False) -> tuple[int, int]:
        """Line and column of the value at *path*, or of its key; of what holds it where it is not written there."""
        offset = self.find(path, on_key)
        if offset is None and len(path) > 1:
            return self.position(path[:-1])
        return self.line_and_column(offset) if offset is not None else (0, 0)

    def suggest_case(self, case_id: str, cases: Iterable[str]) -> str:
        """Return a hint on which of *cases* was probably meant, or an empty string."""
        return did_you_mean(case_id, cases) if len(self.problems) < _MAX_SUGGESTIONS else ""

    def report(self, path: KeyPath, message: str, *, unknown: Literal["", "metric"] = "") -> None:
        """Report the value at *path*."""
        self.report_at(*self.position(path), message, unknown=unknown)

    def report_key(self, path: KeyPath, message: str) -> None:
        """Report the key at *path* itself."""
        self.report_at(*self.position(path, on_key=True), message)

    def report_at(self, line: int, col: int, message: str, *, unknown: Literal["", "metric"] = "") -> None:
        """Add one problem at a place; line 0 means the whole file.  Very long words are shortened.

        Raises:
            GoldenFileError: there are so many that the rest of the file is not read.
        """
        message = re.sub(r"(\S{100})\S{100,}", r"\1…", cut_lines(message))
        self.problems.append(Problem(self.path, line, col, message, unknown))
        if len(self.problems) >= _MAX_REPORTED:
            raise self.error()

    def error(self) -> GoldenFileError:
        """Return the problems as one error, in file order; repeats of a message are counted."""
        reported = sorted(self.problems, key=lambda p: (p.line, p.col))
        if len(reported) >= _MAX_REPORTED:
            reported.append(Problem(self.path, 0, 0, f"the rest is not read after {_MAX_REPORTED} complaints"))
        return GoldenFileError(list(_shorten_repeats(reported)))

    def written(self, path: KeyPath) -> str:
        """The scalar at *path* as written in the file, or an empty string if its place is unknown."""
        offset = self.find(path, False)
        if offset is None:
            return ""
        line, col = self.line_and_column(offset)
        rest = self.lines[line - 1 - self.lines_before][col - 1 :]
        end = re.search(_SCALAR_END, rest)
        return (rest[: end.start()] if end else rest).strip()


def check_plain(value: Any, deepest: int = MAX_DEPTH) -> None:
    """Refuse what a file can say and no golden file can hold.

    Raises:
        RecursionError: *value* nests more than *deepest* deep.
        ValueError: it has half characters, infinity or NaN, or numbers too long to print.
    """
    if isinstance(value, (dict, list, tuple)):
        if deepest < 0:
            raise RecursionError
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            check_plain(part, deepest - 1)
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as exc:
            raise ValueError(f"{value[exc.start]!a} is half a character") from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number")
    elif isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError("it has more than a thousand digits")


def describe(value: Any, written: str = "") -> str:
    """Describe *value*; *written* is its text in the file if it is read as something else."""
    if isinstance(value, str):
        short = value if len(value) <= 40 else value[:37] + "…"
        return repr(short) if value.strip() else "an empty text"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing"
    type_names = {"bool": str(value).lower(), "int": "a whole number", "float": "a number", "date": "a date",
             "datetime": "a date"}  # fmt: skip
    type_name = type_names.get(type(value).__name__, f"a {type(value).__name__}")
    return f"`{written}`, which is read as {type_name}" if written else f"{value!r} ({type_name})"


def _shorten_repeats(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Yield *problems*; of those with the same message only the first few, with the number of the others."""
    totals = Counter(problem.message for problem in problems)
    counts: Counter[str] = Counter()
    for problem in problems:
        counts[problem.message] += 1
        number, remaining = counts[problem.message], totals[problem.message] - _MAX_ALIKE
        if number < _MAX_ALIKE or remaining <= 0:
            yield problem
        elif number == _MAX_ALIKE:
            yield problem._replace(message=f"{problem.message} (and {remaining} more like it below)")


def line_blocks(path: Path, max_bytes: float = math.inf, instead: str = "") -> Iterator[Source]:
    """Yield the lines of a text file, some hundred kilobytes at a time; the blocks share their problems.

    *instead* says what to do with a larger file besides splitting it.

    Raises:
        GoldenFileError: it is not there, not readable, no UTF-8, larger than *max_bytes*, or has a line of more than
            50 MB.
    """
    problems: list[Problem] = []
    lines_before = size = 0
    alternative = f", {instead}" if instead and max_bytes == MAX_BYTES else ""
    too_large = refusal(path, f"is larger than {max_bytes:,} bytes; split it{alternative}")
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > max_bytes:
                raise too_large
            while data := file.read(BLOCK_BYTES):
                room = MAX_BYTES - (len(data) - data.rfind(b"\n") - 1)  # for the rest of the last line
                data += (rest := file.readline(room + 1))
                if len(rest) > room:
                    raise refusal(path, f"is longer than {MAX_BYTES:,} bytes", lines_before + data.count(b"\n") + 1)
                block = Source(str(path), "", lines_before, problems)
                block.text = _decode(data, block, size)
                size += len(data)
                if size > max_bytes:  # the size of a pipe is unknown before
                    raise too_large
                yield block
                lines_before += len(block.lines) - (not block.lines[-1])
    except OSError as exc:
        raise refusal(path, f"cannot be read: {exc.strerror or exc}") from None


def _decode(data: bytes, source: Source, offset: int) -> str:
    """Return *data* as text; raises `GoldenFileError` with the place of a byte that is not UTF-8."""
    if not offset and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        source.report_at(1, 1, "is UTF-16; save it as UTF-8")
        raise source.error()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        text_before = data[: exc.start].decode("utf-8")
        message = f"byte {data[exc.start]:#04x} at offset {offset + exc.start} is not UTF-8; save the file as UTF-8"
        source.report_at(*Source("", text_before, source.lines_before).line_and_column(len(text_before)), message)
        raise source.error() from None
    return text if offset else text.removeprefix("\ufeff")


def refusal(path: Path, message: str, line: int = 0) -> GoldenFileError:
    """Return an error with one problem of a file, or of a line of it."""
    source = Source(str(path), "")
    source.report_at(line, 1 if line else 0, message)
    return source.error()
