"""Pages of Markdown as text for a terminal: wrapped, without links, comments and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import fill, indent
from typing import Any

from ...base.pages import section_anchor

_FENCE = re.compile(r"```(\w*)(?: title=\"([^\"]+)\")?\s*$")
_HEADING = re.compile(r"(#+) (.*)")
_ITEM = re.compile(r"(\s*)([-*]|\d+\.) (.*)")


def page_text(markdown: str, width: int) -> str:
    """Return *markdown* as text of at most *width* columns; code stays as it is."""
    text = re.sub(r"^ *<!--.*?-->\n?", "", markdown, flags=re.MULTILINE | re.DOTALL)
    out, in_list = "", False
    for lines in filter(None, _split(text.splitlines())):
        is_item = _ITEM.match(lines[0]) is not None
        out += ("" if not out else "\n" if is_item and in_list else "\n\n") + _block(lines, width)
        in_list = is_item
    return f"{out}\n"


def section_of(markdown: str, anchor: str) -> str:
    """Return the section of *markdown* that *anchor* names, up to the next heading of its level; empty without one."""
    found: list[str] = []
    level, in_code = 0, False
    for line in markdown.splitlines():
        in_code ^= line.startswith("```")
        heading = None if in_code else _HEADING.match(line)
        if heading is not None and level and len(heading[1]) <= level:
            break
        if heading is not None and not level and section_anchor(heading[2]) == anchor:
            level = len(heading[1])
        if level:
            found.append(line)
    return "\n".join(found)


def headings(markdown: str) -> list[str]:
    """Return the headings of *markdown*, the title first."""
    text = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return [heading[2] for heading in map(_HEADING.match, text.splitlines()) if heading is not None]


def _split(lines: list[str]) -> Iterator[list[str]]:
    """Yield blocks of lines: code with its fences, headings, tables, items of lists, paragraphs."""
    block: list[str] = []
    in_code = False
    for line in lines:
        starts_code = not in_code and _FENCE.match(line) is not None
        begins = starts_code or (not in_code and (line.startswith("#") or _ITEM.match(line)))
        if not in_code and (begins or not line.strip()):
            yield block
            block = []
        if in_code or line.strip():
            block.append(line)
        if in_code and line.strip() == "```":
            yield block
            block, in_code = [], False
        elif starts_code:
            in_code = True
        elif not in_code and line.startswith("#"):
            yield block
            block = []
    yield block


def _block(lines: list[str], width: int) -> str:
    if (fence := _FENCE.match(lines[0])) is not None:
        title = f"{fence[2]}:\n\n" if fence[2] else ""
        return title + indent("\n".join(lines[1:-1]), "    ")
    if (heading := _HEADING.match(lines[0])) is not None:
        text = plain_text(heading[2])
        return f"{text}\n{('=' if len(heading[1]) == 1 else '-') * len(text)}"
    if lines[0].startswith("|"):
        return _table(lines, width)
    if (item := _ITEM.match(lines[0])) is not None:
        mark = f"{item[1]}{item[2]} "
        text = plain_text(" ".join([item[3], *(line.strip() for line in lines[1:])]))
        return _filled(text, width, mark, " " * len(mark))
    return _filled(plain_text(" ".join(lines)), width)


def _filled(text: str, width: int, first: str = "", others: str = "") -> str:
    """Return *text* in lines of *width* columns; no word is cut."""
    options: Any = {"break_long_words": False, "break_on_hyphens": False}
    return fill(text, width, initial_indent=first, subsequent_indent=others, **options)


def _table(lines: list[str], width: int) -> str:
    """Return a table as a list: the first cell of each row, below it the others after their titles."""
    head, _, *rows = ([plain_text(cell) for cell in _cells(line)] for line in lines)
    blocks = []
    for first, *others in rows:
        titles = head[1:] if len(head) > 2 else [""]
        parts = [f"{t}: {cell}" if t else cell for t, cell in zip(titles, others, strict=False) if cell]
        blocks.append("\n".join([_filled(first, width), *(_filled(part, width, "    ", "    ") for part in parts)]))
    return "\n".join(blocks)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def plain_text(text: str) -> str:
    """Return *text* without links and emphasis; what stands in backticks stays in them."""
    parts = re.split(r"(`[^`]*`)", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    parts[::2] = [re.sub(r"(?<![\w*])(\*\*|\*)(?=\S)(.+?)(?<=\S)\1(?![\w*])", r"\2", part) for part in parts[::2]]
    return "".join(parts)
