"""A complaint about a place of a file, and long lines of messages cut.  `errors` needs both, so nothing is imported."""

from __future__ import annotations

from typing import Literal, NamedTuple

_LONGEST_LINE = 2_000
_LINE_END = 400


def cut_lines(text: str) -> str:
    """Return *text* without the middle of its very long lines: a message never repeats an input of megabytes."""
    if len(text) <= _LONGEST_LINE:
        return text
    head = _LONGEST_LINE - _LINE_END
    lines = text.split("\n")
    return "\n".join(line if len(line) <= _LONGEST_LINE else f"{line[:head]} … {line[-_LINE_END:]}" for line in lines)


class Problem(NamedTuple):
    """One complaint about one place of a file.  *line* and *col* are 1-based; 0 means the whole file."""

    path: str
    line: int
    col: int
    message: str
    unknown: Literal["", "metric"] = ""
    """What the name at this place is not known as."""

    @property
    def place(self) -> str:
        """``path:line:col``, or the path alone where the whole file is meant."""
        return f"{self.path}:{self.line}:{self.col}" if self.line else self.path

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"
