"""What git knows of a project."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import AueporaError

_COMMIT = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"

CONFLICT = "merge-conflict markers; keep one side"
"""What is said of a file that has them."""

_CONFLICT = r"(?m)^(<{7}|={7}|>{7})(\s|$)"

_ELSEWHERE = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
"""What lets git look for a repository in another way than upwards."""


class _AskGitError(Exception):
    pass


def conflict_line(text: str) -> int:
    """Return the first line, counted from 1, that marks a merge conflict; 0 where none does."""
    # to look for the marks themselves first takes a thirtieth of what the expression takes over all lines
    if any(sign * 7 in text for sign in "<=>") and (mark := re.search(_CONFLICT, text)) is not None:
        return text.count("\n", 0, mark.start()) + 1
    return 0


def git(folder: Path, *args: str) -> str:
    """Return what git prints.

    Raises:
        AueporaError: there is no git, or it failed; with its own words.
    """
    import subprocess

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


def commit_of(folder: Path) -> str:
    """Return the commit that *folder* is at, or an empty string where git does not know.

    Git itself is asked only where its files are not as simple as they nearly always are: starting it takes as long
    as fifty cases.
    """
    if not any(name in os.environ for name in _ELSEWHERE):
        try:
            return _commit_by_hand(folder)
        except (OSError, ValueError, _AskGitError):
            pass
    try:
        return git(folder, "rev-parse", "HEAD").strip()
    except AueporaError:
        return ""


def _commit_by_hand(folder: Path) -> str:
    """Return the commit that ``HEAD`` of the repository around *folder* names; nothing where there is none.

    Raises:
        _AskGitError, OSError, ValueError: it takes git to tell.
    """
    here = folder.resolve()
    around = (here, *here.parents)
    place = next((found for one in around if (found := one / ".git").exists()), None)
    if place is None:
        if any((one / "objects").is_dir() and (one / "HEAD").exists() for one in around):
            raise _AskGitError  # a repository without a worktree
        return ""
    if place.is_file():  # of a worktree or a submodule
        said, _, where = place.read_text(encoding="utf-8").strip().partition(": ")
        if said != "gitdir":
            raise _AskGitError
        place = place.parent / where
    said, _, ref = _line(place / "HEAD").partition(": ")
    if re.fullmatch(_COMMIT, said):
        return said
    if said != "ref" or not ref.startswith("refs/heads/"):
        raise _AskGitError
    common = place / _line(place / "commondir") if (place / "commondir").exists() else place
    if (common / "reftable").exists():
        raise _AskGitError
    commit = _line(common / ref) if (common / ref).is_file() else _packed(common / "packed-refs", ref)
    if not re.fullmatch(_COMMIT, commit):
        raise _AskGitError
    return commit


def _line(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip()


def _packed(path: Path, ref: str) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line[: -len(ref) - 2] for line in lines if line.endswith(f" {ref}\n")), "")
