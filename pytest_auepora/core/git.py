"""What git knows of a project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ..errors import AueporaError

__all__ = ["commit_of", "git"]


def git(folder: Path, *args: str) -> str:
    """Return what git prints.

    Raises:
        AueporaError: there is no git, or it failed; with its own words.
    """
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *args], capture_output=True, timeout=20, check=False, encoding="utf-8",
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise AueporaError(f"git: {exc}") from None
    if done.returncode:
        raise AueporaError(f"git: {done.stderr.strip().removeprefix('fatal: ') or 'failed'}")
    return done.stdout


def _may_be_repository(folder: Path) -> bool:
    """Whether *folder* looks like a part of a repository, bare or not; where it does not, git need not be started."""
    if os.environ.get("GIT_DIR"):
        return True
    here = folder.resolve()
    return any((place / name).exists() for place in (here, *here.parents) for name in (".git", "HEAD"))


def commit_of(folder: Path) -> str:
    """Return the commit that *folder* is at, or an empty string where git does not know."""
    if not _may_be_repository(folder):
        return ""
    try:
        return git(folder, "rev-parse", "HEAD").strip()
    except AueporaError:
        return ""
