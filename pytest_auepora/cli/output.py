"""Where what a command makes goes: to the screen, or whole into a file."""

from __future__ import annotations

from pathlib import Path

from ..reporting.formats import write_report

__all__ = ["put"]


def put(text: str, path: Path | None) -> None:
    """Write *text* to *path*, or print it where that is None.

    Raises:
        AueporaError, OSError: it cannot be written.
    """
    if path is None:
        print(text, end="")
    else:
        write_report(path, text)
