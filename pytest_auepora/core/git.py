"""Git: the commit of a project, and merge conflicts in its files."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import AueporaError

_COMMIT = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"

CONFLICT = "merge-conflict markers; keep one side"
"""The message for a file with merge-conflict markers."""

_CONFLICT = r"(?m)^(<{7}|={7}|>{7})(\s|$)"

_GIT_VARIABLES = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
"""Environment variables that change where git looks for a repository."""


class _AskGitError(Exception):
    pass


def conflict_line(text: str) -> int:
    """Return the first line, counted from 1, that marks a merge conflict; 0 where none does."""
    # searching for the plain markers first is much faster than the regular expression
    if any(sign * 7 in text for sign in "<=>") and (match := re.search(_CONFLICT, text)) is not None:
        return text.count("\n", 0, match.start()) + 1
    return 0


def git(folder: Path, *args: str) -> str:
    """Return what git prints.

    Raises:
        AueporaError: git is missing or failed; the message is git's own.
    """
    import subprocess

    try:
        completed = subprocess.run(
            ["git", "-C", str(folder), *args], capture_output=True, timeout=20, check=False, encoding="utf-8",
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise AueporaError(f"git: {exc}") from None
    if completed.returncode:
        raise AueporaError(f"git: {completed.stderr.strip().removeprefix('fatal: ') or 'failed'}")
    return completed.stdout


def commit_of(folder: Path) -> str:
    """Return the commit of *folder*, or an empty string where git knows none.

    The files of git are read directly where that is simple, because starting git is slow.
    """
    if not any(name in os.environ for name in _GIT_VARIABLES):
        try:
            return _read_commit(folder)
        except (OSError, ValueError, _AskGitError):
            pass
    try:
        return git(folder, "rev-parse", "HEAD").strip()
    except AueporaError:
        return ""


def _read_commit(folder: Path) -> str:
    """Return the commit that ``HEAD`` of the repository around *folder* names; nothing where there is none.

    Raises:
        _AskGitError, OSError, ValueError: only git itself can tell.
    """
    root = folder.resolve()
    folders = (root, *root.parents)
    git_dir = next((path for parent in folders if (path := parent / ".git").exists()), None)
    if git_dir is None:
        if any((parent / "objects").is_dir() and (parent / "HEAD").exists() for parent in folders):
            raise _AskGitError  # a repository without a worktree
        return ""
    if git_dir.is_file():  # of a worktree or a submodule
        head, _, target = git_dir.read_text(encoding="utf-8").strip().partition(": ")
        if head != "gitdir":
            raise _AskGitError
        git_dir = git_dir.parent / target
    head, _, ref = _read_text(git_dir / "HEAD").partition(": ")
    if re.fullmatch(_COMMIT, head):
        return head
    if head != "ref" or not ref.startswith("refs/heads/"):
        raise _AskGitError
    common = git_dir / _read_text(git_dir / "commondir") if (git_dir / "commondir").exists() else git_dir
    if (common / "reftable").exists():
        raise _AskGitError
    commit = _read_text(common / ref) if (common / ref).is_file() else _packed_commit(common / "packed-refs", ref)
    if not re.fullmatch(_COMMIT, commit):
        raise _AskGitError
    return commit


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def _packed_commit(path: Path, ref: str) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line[: -len(ref) - 2] for line in lines if line.endswith(f" {ref}\n")), "")
