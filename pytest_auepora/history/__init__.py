"""Stored runs: every `Run` with its verdict, kept to be listed, loaded, compared and aggregated anew.

In a SQLite file through the standard library, or on a server database through SQLAlchemy; the statements are the same.
"""

from __future__ import annotations

__all__ = ["KEEP", "KEEP_RECORDED"]

KEEP = 200
"""Runs kept of each suite and configuration unless something else is asked for."""

KEEP_RECORDED = 20
"""Of these, the latest whose answers are kept as well."""
