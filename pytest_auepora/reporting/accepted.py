"""What an update changed in a baseline, in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..regression.baseline.accept import Accepted

__all__ = ["accepted_lines"]


def accepted_lines(done: Accepted, root: Path, *, most: int = 10) -> list[str]:
    """Return the lines that tell what was written to the baseline at ``done.path``, and what was left as it was."""
    try:
        shown = done.path.relative_to(root).as_posix()
    except ValueError:
        shown = done.path.as_posix()
    parts = [
        f"{len(ids)} {word} ({_names(ids, most)})"
        for word, ids in (("added", done.added), ("changed", done.changed), ("removed", done.removed))
        if ids
    ]
    if done.unchanged:
        parts.append(f"{done.unchanged} unchanged")
    if done.passed_over:
        parts.append(f"{done.passed_over} not asked for")
    state = "written" if done.written else "left as it was"
    lines = [f"baseline {shown} {state}: {', '.join(parts) or 'nothing to accept'}"]
    told = list(done.refused.items())
    lines += [f"  not accepted: {case_id} ({why})" for case_id, why in told[:most]]
    if len(told) > most:
        lines.append(f"  … and {len(told) - most} more")
    return lines


def _names(ids: list[str], most: int) -> str:
    more = f", … {len(ids) - most} more" if len(ids) > most else ""
    return ", ".join(ids[:most]) + more
