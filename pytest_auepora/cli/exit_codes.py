"""What the exit code of a command says."""

from __future__ import annotations

from ..errors import AueporaError

__all__ = ["FAILED", "PASSED", "UNJUDGED", "USAGE", "UsageError", "of_outcome"]

PASSED = 0
FAILED = 1
USAGE = 2
UNJUDGED = 3


class UsageError(AueporaError):
    """The arguments do not make sense."""


def of_outcome(outcome: str) -> int:
    """Return the code of a verdict or comparison: inconclusive passes, as it does in pytest."""
    if outcome in ("failed", "worse"):
        return FAILED
    return UNJUDGED if outcome == "not judged" else PASSED
