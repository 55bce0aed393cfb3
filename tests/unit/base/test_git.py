"""The commit of a project, and the lines that mark a merge conflict."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_auepora.base.git import commit_of, conflict_line, git, our_side
from pytest_auepora.errors import AueporaError


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the surroundings counts, as where a hook of git runs the tests."""
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        monkeypatch.delenv(name)


def commit(folder: Path, message: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    git(folder, *who, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "one")
    return folder


def test_the_commit_also_from_a_folder_inside(repository: Path) -> None:
    inside = repository / "a" / "b"
    inside.mkdir(parents=True)
    first = commit_of(inside)
    assert len(first) == 40
    commit(repository, "two")
    assert commit_of(inside) != first
    assert commit_of(inside) == git(repository, "log", "-1", "--format=%H").strip()


def test_no_commit_is_no_commit(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == ""
    git(tmp_path, "init", "-q")
    assert commit_of(tmp_path) == ""
    (tmp_path / ".git" / "HEAD").write_bytes(b"\xff")
    assert commit_of(tmp_path) == ""


def test_no_git_is_no_commit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert commit_of(repository) == ""
    with pytest.raises(AueporaError, match="git: "):
        git(repository, "status")


def test_only_real_conflict_markers_are_found() -> None:
    assert conflict_line("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> branch\n") == 2
    assert conflict_line("a\r\n=======\r\n") == 2
    assert conflict_line(" =======\n========\n# <<<<<<< HEAD\n>>>>>>>x") == 0


def test_one_side_of_a_conflict_is_a_text_again() -> None:
    two = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> branch\nd\n<<<<<<< HEAD\n=======\ne\n>>>>>>> branch\n"
    assert our_side(two) == "a\nb\nd\n"
    assert our_side("a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> branch\nd") == "a\nb\nd"
    assert our_side("a\nb\n") == "a\nb\n"
