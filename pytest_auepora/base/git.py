"""Git: the commit of a project, and merge conflicts in its files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from ..errors import AueporaError

CONFLICT = "merge-conflict markers; keep one side"
"""The message for a file with merge-conflict markers."""


def conflict_line(text: str) -> int:
    """Return the first line, counted from 1, that marks a merge conflict; 0 where none does."""
    if not any(sign * 7 in text for sign in "<=>"):  # much faster than the regular expression
        return 0
    match = re.search(r"(?m)^(<{7}|={7}|>{7})(\s|$)", text)
    return 0 if match is None else text.count("\n", 0, match.start()) + 1


def our_side(text: str) -> str:
    """Return a text with merge-conflict markers as it was on the side that was merged into."""
    conflict = r"^<{7}[^\n]*\n(.*?)(?:^\|{7}[^\n]*\n.*?)?^={7}[^\n]*\n.*?^>{7}[^\n]*\n?"
    return re.sub(conflict, r"\1", text, flags=re.DOTALL | re.MULTILINE)


def git(folder: Path, *args: str) -> str:
    """Return what git prints; raises `AueporaError`, with git's own message, where it is missing or failed."""
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
    """Return the commit of *folder*, or an empty string where git is missing or knows none."""
    try:
        return git(folder, "rev-parse", "--verify", "HEAD").strip()
    except AueporaError:
        return ""
