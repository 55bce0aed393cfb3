"""The cases of a YAML golden file: those written plainly without a parser, all others with it.

A parser's events cost more than all that is made of them.  So the text is cut at the dashes of the cases; plain cases
(`yaml_plain`) are read as they stand, all others go to the parser, in one text, and so does what stands before the
first unless it is plain as well.  Where a part is not whole in itself (a quote left open, an anchor, a tag, a line
indented less than its case) or wrong in any way, nothing of this counts: the parser reads the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..golden.source import Mark, Source, Spot
from .plain import NeedsWhole, PlainLines, plain_head
from .problems import YamlProblem
from .scalars import NeedsGraph

__all__ = ["read_cases"]

_HEAD = re.compile(r"^cases: *(?:#[^\n]*)?\n(?: *(?:#[^\n]*)?\n)*(?=( *)- )", re.MULTILINE)
"""From the key to the first case."""


def read_cases(source: Source, parse: Callable[[Source, int], Any]) -> Any:
    """Return the value of the whole text; *source* knows the places of the file's keys and where each case starts.

    Args:
        source: the text; it is left as it is where this fails.
        parse: returns the value of a text that stands so many levels deep.

    Raises:
        NeedsWhole: the parser has to read the whole text.
    """
    head = _HEAD.search(source.text)
    if head is None or source.by_index or "\r" in source.text:  # lines are counted by one kind of break
        raise NeedsWhole
    try:
        return _Cases(source, parse, head).read()
    except (YamlProblem, NeedsGraph) as exc:
        raise NeedsWhole from exc


class _Cases:
    """Reads all of a text whose key of the cases was *found*, up to the dash of the first case."""

    def __init__(self, source: Source, parse: Callable[[Source, int], Any], found: re.Match[str]) -> None:
        self.source, self.parse = source, parse
        self.key, self.start, self.indent = found.start(), found.end(), len(found[1])
        self.text = source.text
        self.lines = source.lines
        self.plain = PlainLines(source, self.indent)
        self.cases: list[Any] = []
        self.spots: list[Mark] = []
        self.others: list[tuple[int, int]] = []
        """Number and line of each case that is not plain."""

    def read(self) -> Any:
        head = Source(self.source.path, self.text[: self.start])
        root = plain_head(self.text[: self.key], self.text[self.key : self.start], self.indent)
        if not (plain := root is not None):
            root = self.parse(head, 0)
            if head.problems or type(root) is not dict or list(root)[-1:] != ["cases"] or root["cases"] is not None:
                raise NeedsWhole
        line = self.text.count("\n", 0, self.start)
        self._cut(line)
        if self.others:
            self._parse_others()
        root["cases"] = self.cases
        if not plain:  # where what is plain stands is found when it is asked for
            head.marks[id(root)][-1] = Spot(line, self.indent)
        head.marks[id(self.cases)] = [Spot(line, self.indent), *self.spots]
        self.source.marks.update(head.marks)
        self.source.starts.update(head.starts)
        self.source.starts.update(zip(map(id, self.cases), self.spots, strict=True))
        return root

    def _cut(self, line: int) -> None:
        """Read the plain cases, and note where the others are; the first is on *line*."""
        read, end, column = self.plain.case, len(self.lines), self.indent + 2
        while line < end:
            self.spots.append(Spot(line, column))
            if (plain := read(line)) is not None:
                case, line = plain
            else:
                self.others.append((len(self.cases), line))
                case, line = None, self._after(line)
            self.cases.append(case)

    def _after(self, line: int) -> int:
        """Return the line after the case on *line*."""
        dash, end = self.plain.dash, len(self.lines)
        if not self.lines[line].startswith(dash):
            raise NeedsWhole
        return next((i for i in range(line + 1, end) if self.lines[i].startswith(dash)), end)

    def _parse_others(self) -> None:
        """Let the parser read the cases that are not plain, as if there were no others.

        It finds as many as were cut out only if each is whole in itself: a dash within quotes begins nothing.
        """
        end = len(self.lines)
        ends = [self._after(line) for _, line in self.others]
        parts = [
            "\n".join(self.lines[line:after]) + ("\n" if after < end else "")
            for (_, line), after in zip(self.others, ends, strict=True)
        ]
        less = re.compile(rf"^ {{0,{self.indent}}}[^ \n#]", re.MULTILINE)
        if any(less.search(part, len(self.plain.dash)) for part in parts):
            raise NeedsWhole
        together = Source(self.source.path, "".join(parts))
        values = self.parse(together, 1)
        if together.problems or type(values) is not list or len(values) != len(parts):
            raise NeedsWhole
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + part.count("\n"))
        marks = together.marks[id(values)][1:]
        for (number, line), value, mark, before in zip(self.others, values, marks, starts, strict=False):
            self.cases[number] = value
            self.spots[number] = Spot(line + mark.line - before, mark.column)
