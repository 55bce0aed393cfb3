"""Where things are around a project: its history, a file as it was at a commit."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.git import git

__all__ = ["FILE", "FOLDER", "OFF", "VARIABLE", "find_place", "is_url", "read_at"]

FOLDER = ".auepora"
"""The directory whose content is not for version control; it gets a .gitignore of its own."""

FILE = f"{FOLDER}/history.sqlite"
"""The history of a project, relative to its root."""

VARIABLE = "AUEPORA_HISTORY"
"""The environment variable that says where history lies: a path, or a URL that is too secret for a file."""

OFF = ("off", "no", "none", "false")
"""What to write instead of a place to keep no history."""


def is_url(place: str | os.PathLike[str]) -> bool:
    """Whether *place* names a server rather than a file."""
    return isinstance(place, str) and "://" in place


def find_place(said: str, root: Path) -> str | Path | None:
    """Return where history lies: *said* (a path relative to *root*, or a URL), else `VARIABLE`, else `FILE`.

    None where history is switched off.
    """
    said = said.strip() or os.environ.get(VARIABLE, "").strip()
    if said.lower() in OFF:
        return None
    return said if is_url(said) else root / (said or FILE)


def read_at(ref: str, path: Path) -> str:
    """Return the text of *path* as committed at *ref*.

    Raises:
        AueporaError: there is no git, no such commit, or no such file in it; with git's own words.
    """
    folder = path.parent
    while not folder.is_dir():
        folder = folder.parent
    inside = path.resolve().relative_to(folder.resolve()).as_posix()
    return git(folder, "show", "--end-of-options", f"{ref}:./{inside}")
