"""The page for developers: the way of a case is short, and its files are there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .pages import ROOT

PAGE = ROOT / "docs" / "developers" / "architecture.md"


def files() -> Iterator[str]:
    """Yield the files of the table of steps."""
    for row in re.findall(r"^\| \d+ \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        first, *others = re.findall(r"`([^`]+)`", row)
        yield first
        yield from (f"{first.rpartition('/')[0]}/{name}" for name in others)


def test_the_files_of_the_steps_are_there() -> None:
    found = set(files())
    assert 15 < len(found) <= 25
    assert [name for name in found if not (ROOT / "pytest_auepora" / name).is_file()] == []
