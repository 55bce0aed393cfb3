"""Where things are around a project: its history, a file as it was at a commit."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = [
    "FILE", "FOLDER", "OFF", "VARIABLE", "find_place", "folder_of", "is_url", "journal_path", "journals_in", "read_at",
]  # fmt: skip

FOLDER = ".auepora"
"""The directory whose content is not for version control; it gets a .gitignore of its own."""

FILE = f"{FOLDER}/history.sqlite"
"""The history of a project, relative to its root."""

VARIABLE = "AUEPORA_HISTORY"
"""The environment variable that says where history lies: a path, or a URL that is too secret for a file."""

_JOURNAL = ("unfinished-", ".jsonl")

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


def folder_of(place: str | Path, root: Path) -> Path:
    """Return where journals of the history at *place* lie: beside its file, or in the project's own folder."""
    return root / FOLDER if is_url(place) else Path(place).parent


def journal_path(folder: Path, name: str) -> Path:
    """Return the file in *folder* for the journal of the run called *name*."""
    return folder / f"{_JOURNAL[0]}{name}{_JOURNAL[1]}"


def journals_in(folder: Path) -> list[Path]:
    """Return the journals in *folder*, those of runs that go on included."""
    return sorted(folder.glob("*".join(_JOURNAL))) if folder.is_dir() else []


def read_at(ref: str, path: Path) -> str:
    """Return the text of *path* as committed at *ref*.

    Raises:
        AueporaError: there is no git, no such commit, or no such file in it; with git's own words.
    """
    from ..core.git import git

    folder = path.parent
    while not folder.is_dir():
        folder = folder.parent
    inside = path.resolve().relative_to(folder.resolve()).as_posix()
    return git(folder, "show", "--end-of-options", f"{ref}:./{inside}")
