"""What all reference pages share: cells of Markdown tables."""

from __future__ import annotations

__all__ = ["cell"]


def cell(text: object) -> str:
    """Return *text* on one line, as it may stand in a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")
