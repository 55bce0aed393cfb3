"""The commit of a project: the same by reading git's files as by asking git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pytest_auepora.core import git as module
from pytest_auepora.core.git import commit_of, conflict_line, git


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the surroundings counts, as where a hook of git runs the tests."""
    import os

    for name in [n for n in os.environ if n.startswith("GIT_")]:
        monkeypatch.delenv(name)


def run(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", str(folder), *who, *args], capture_output=True, encoding="utf-8", check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    for message in ("one", "two"):
        run(folder, "commit", "-q", "--allow-empty", "-m", message)
    return folder


def seen(folder: Path, monkeypatch: pytest.MonkeyPatch, *, asks: bool = False) -> str:
    """Return the commit, which is the one git says, and is found with or without asking git."""
    told = run(folder, "rev-parse", "HEAD")
    asked: list[tuple[str, ...]] = []

    def ask(where: Path, *args: str) -> str:
        asked.append(args)
        return git(where, *args)

    monkeypatch.setattr(module, "git", ask)
    assert commit_of(folder) == told
    assert bool(asked) == asks
    return told


def test_a_branch_also_from_a_folder_inside(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = repository / "a" / "b"
    inside.mkdir(parents=True)
    assert len(seen(inside, monkeypatch)) == 40


def test_packed_references_and_those_written_since(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(repository, "branch", "feature/main")  # ends as the branch does
    run(repository, "tag", "-a", "v1", "-m", "v1")
    run(repository, "pack-refs", "--all")
    assert not (repository / ".git" / "refs" / "heads" / "main").exists()
    packed = seen(repository, monkeypatch)
    run(repository, "commit", "-q", "--allow-empty", "-m", "three")
    assert seen(repository, monkeypatch) != packed


def test_no_branch(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(repository, "checkout", "-q", "--detach", "HEAD~1")
    assert seen(repository, monkeypatch)


def test_another_worktree_has_its_own(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository.parent / "other"
    run(repository, "worktree", "add", "-q", "-b", "side", str(other))
    run(other, "commit", "-q", "--allow-empty", "-m", "here only")
    assert seen(other, monkeypatch) != seen(repository, monkeypatch)


def test_what_is_not_simple_is_asked(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(repository, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    run(repository, "symbolic-ref", "HEAD", "refs/heads/alias")
    seen(repository, monkeypatch, asks=True)
    run(repository, "symbolic-ref", "HEAD", "refs/heads/main")
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    seen(repository, monkeypatch, asks=True)


def test_a_repository_without_worktree(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = repository.parent / "bare"
    run(repository, "clone", "-q", "--bare", str(repository), str(bare))
    assert seen(bare, monkeypatch, asks=True) == run(repository, "rev-parse", "HEAD")


def test_no_commit_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without:
        without.setattr(module, "git", None)  # not even asked
        assert commit_of(tmp_path) == ""
    run(tmp_path, "init", "-q")
    assert commit_of(tmp_path) == ""
    (tmp_path / ".git" / "HEAD").write_bytes(b"\xff")
    assert commit_of(tmp_path) == ""


def test_only_real_conflict_markers_are_found() -> None:
    assert conflict_line("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> branch\n") == 2
    assert conflict_line("a\r\n=======\r\n") == 2
    assert conflict_line(" =======\n========\n# <<<<<<< HEAD\n>>>>>>>x") == 0
