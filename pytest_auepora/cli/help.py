"""``auepora help [TOPIC]``: a page of the documentation, or a section of one, as text."""

from __future__ import annotations

import argparse
import shutil

from ..base.pages import page_path, page_paths, section_anchor
from ..base.text import did_you_mean
from ..reporting.terminal.page_text import headings, page_text, plain_text, section_of
from .common import PASSED, UsageError
from .main import COMMANDS, main

_MOST_COLUMNS = 100
"""Wider lines are hard to read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    topic = "a page (ci), a section of one (ci#gitlab) or words of a heading; without it, the pages are listed"
    parser.add_argument("topic", nargs="*", metavar="TOPIC", help=topic)


def run(args: argparse.Namespace) -> int:
    """Print the page or the section."""
    width = min(shutil.get_terminal_size((_MOST_COLUMNS, 24)).columns, _MOST_COLUMNS)
    if not args.topic:
        print(_list_of_pages(width), end="")
        return PASSED
    name, _, section = " ".join(args.topic).partition("#")
    if name not in page_paths():
        if name in COMMANDS:
            return main([name, "--help"])
        name, section = _find(name)
    markdown = page_path(name).read_text(encoding="utf-8")
    if section:
        markdown = _section(name, markdown, section_anchor(section))
    print(page_text(markdown, width), end="")
    return PASSED


def _list_of_pages(width: int) -> str:
    """Return the topics, each with the title of its page."""
    titles = {topic: title_of(topic) for topic in page_paths() if topic != "index"}
    room = max(map(len, titles)) + 2
    lines = [f"{topic:{room}}{title}"[:width] for topic, title in titles.items()]
    return "\n".join(["auepora help TOPIC prints one of these pages:", "", *lines, "",
                      "auepora COMMAND --help says what a command takes.", ""])  # fmt: skip


def title_of(topic: str) -> str:
    """Return the title of the page on *topic*."""
    return plain_text(headings(page_path(topic).read_text(encoding="utf-8"))[0])


def _section(topic: str, markdown: str, anchor: str) -> str:
    if text := section_of(markdown, anchor):
        return text
    known = [section_anchor(heading) for heading in headings(markdown)[1:]]
    near = did_you_mean(anchor, known) or f"; it has: {', '.join(known)}"
    raise UsageError(f"the page {topic} has no section {anchor!r}{near}")


def _find(words: str) -> tuple[str, str]:
    """Return the page and the section whose heading has all *words*; raise `UsageError` unless there is one."""
    wanted = words.lower().split()
    found = []
    for topic, path in page_paths().items():
        title, *sections = headings(path.read_text(encoding="utf-8"))
        found += [(topic, "")] if all(word in f"{topic} {title}".lower() for word in wanted) else []
        found += [(topic, section_anchor(s)) for s in sections if all(word in s.lower() for word in wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        hint = did_you_mean(words, page_paths()) or "; auepora help lists the pages"
        raise UsageError(f"there is no page {words!r}{hint}")
    listed = ", ".join(f"{topic}{'#' if section else ''}{section}" for topic, section in found)
    raise UsageError(f"{words!r} is in several headings: {listed}")
