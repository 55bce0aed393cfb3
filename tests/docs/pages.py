"""What a page of the documentation asks to be done: files to write, edits to make, commands to run.

A fenced block with a ``title`` is a file; ``diff`` with a title is an edit of one.  A comment runs a command::

    <!-- run: pytest --auepora | exit 1 | contains: fell out | shown -->

``exit`` is 0 unless said; ``shown``: the ``text`` block that follows is what the command printed, cut at ``[…]``;
``in the repository``: run there and not in the page's own project; ``in folder/``: in that folder of it; ``needs
PACKAGE``: only where that is installed.
``<!-- project: tutorial.md -->`` starts with the files of another page.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

__all__ = ["PAGES", "ROOT", "Command", "Edit", "File", "Page", "Shown", "Step", "fences", "has_steps", "pages", "read"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "pages"

_TITLE = re.compile(r'\btitle="([^"]+)"')
_RUN = re.compile(r"<!-- run: (.*?) -->", re.DOTALL)
_PROJECT = re.compile(r"<!-- project: (\S+) -->")


@dataclass(frozen=True)
class File:
    """A file to write."""

    line: int
    path: str
    text: str


@dataclass(frozen=True)
class Edit:
    """Lines to replace in a file."""

    line: int
    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Command:
    """A command to run, and what has to come of it."""

    line: int
    arguments: tuple[str, ...]
    environment: dict[str, str]
    exit_code: int = 0
    contains: tuple[str, ...] = ()
    shown: bool = False
    in_repository: bool = False
    needs: str = ""
    folder: str = ""

    @property
    def apart(self) -> bool:
        """Whether it takes a process of its own: large packages do not survive being imported twice in one."""
        return self.in_repository or bool(self.needs) or self.arguments[0] != "pytest"


@dataclass(frozen=True)
class Shown:
    """A screen, printed by the command before it."""

    line: int
    text: str


Step = File | Edit | Command | Shown


@dataclass(frozen=True)
class Page:
    """A page, and what it asks for in its order."""

    path: Path
    project: str | None
    steps: list[Step] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The page as its failures call it."""
        return self.path.relative_to(ROOT).as_posix()


def pages() -> list[Path]:
    """Return README and every page written by hand."""
    return [ROOT / "README.md", *sorted(PAGES.rglob("*.md"))]


def fences(path: Path) -> list[Token]:
    """Return the fenced blocks of a page."""
    return [token for token in _tokens(path) if token.type == "fence"]


def read(path: Path) -> Page:
    """Read what *path* asks for."""
    project = _PROJECT.search(path.read_text(encoding="utf-8"))
    return Page(path, project[1] if project else None, list(_steps(path)))


def has_steps(path: Path) -> bool:
    """Whether a page asks for something, seen without parsing it: every process that runs tests looks at all pages."""
    text = path.read_text(encoding="utf-8")
    return bool(_RUN.search(text) or _TITLE.search(text))


@cache
def _tokens(path: Path) -> list[Token]:
    return MarkdownIt().parse(path.read_text(encoding="utf-8"))


def _steps(path: Path) -> Iterator[Step]:
    awaited = False
    for token in _tokens(path):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block":
            for said in _RUN.findall(token.content):
                assert not awaited, f"{path.name}:{line}: the command before is marked as shown, but no screen follows"
                command = _command(line, said)
                awaited = command.shown
                yield command
        elif token.type == "fence":
            kind, title = token.info.partition(" ")[0], _TITLE.search(token.info)
            if kind == "text" and awaited:
                awaited = False
                yield Shown(line, token.content)
            elif kind == "diff" and title:
                yield Edit(line, title[1], *_sides(token.content))
            elif title:
                yield File(line, title[1], token.content)
    assert not awaited, f"{path.name}: no screen follows the last command marked as shown"


def _command(line: int, said: str) -> Command:
    command, *rest = [part.strip() for part in said.split(" | ")]
    words = shlex.split(command)
    environment = {}
    while "=" in words[0]:
        name, _, environment[name] = words.pop(0).partition("=")
    exit_code, contains, needs, folder, flags = 0, [], "", "", set()
    for part in rest:
        if part.startswith("exit "):
            exit_code = int(part.removeprefix("exit "))
        elif part.startswith("contains: "):
            contains.append(part.removeprefix("contains: "))
        elif part.startswith("needs "):
            needs = part.removeprefix("needs ")
        elif part.startswith("in ") and part.endswith("/"):
            folder = part.removeprefix("in ")
        else:
            flags.add(part)
    assert flags <= {"shown", "in the repository"}, f"line {line}: {flags}"
    return Command(
        line, tuple(words), environment, exit_code, tuple(contains),
        shown="shown" in flags, in_repository="in the repository" in flags, needs=needs, folder=folder,
    )  # fmt: skip


def _sides(diff: str) -> tuple[str, str]:
    """Return the lines of a diff before and after."""
    lines = diff.splitlines()
    old, new = ([line[1:] for line in lines if line[:1] != other] for other in "+-")
    return "\n".join(old), "\n".join(new)
