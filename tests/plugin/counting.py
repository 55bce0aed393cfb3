"""What a project whose system is `counted` notes: its calls, its history; and the key that is taken from it."""

from __future__ import annotations

from pytest_auepora.history.store import HistoryStore

from .conftest import Example

CASES = 5


def store(project: Example) -> HistoryStore:
    return HistoryStore(project.path / ".auepora" / "history.sqlite")


def calls(project: Example) -> int:
    """How many calls there were since this was last asked."""
    path = project.path / "calls.txt"
    n = len(path.read_text().splitlines()) if path.exists() else 0
    path.unlink(missing_ok=True)
    return n


def lock_out(project: Example) -> None:
    (project.path / "key.txt").unlink()
