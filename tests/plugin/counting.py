"""What a project whose system is `counted` notes: its calls, its history; and the key that is taken from it."""

from __future__ import annotations

from pytest_auepora.history.store import HistoryStore

from .conftest import Project

CASES = 5


def store(project: Project) -> HistoryStore:
    return HistoryStore(project.path / ".auepora" / "history.sqlite")


def calls(project: Project) -> int:
    """How many calls there were since this was last asked."""
    path = project.path / "calls.txt"
    n = len(path.read_text().splitlines()) if path.exists() else 0
    path.unlink(missing_ok=True)
    return n


def lock_out(project: Project) -> None:
    (project.path / "key.txt").unlink()
