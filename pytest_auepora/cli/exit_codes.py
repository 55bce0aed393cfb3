"""What the exit code of a command says."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..errors import AueporaError, did_you_mean

__all__ = ["FAILED", "PASSED", "UNJUDGED", "USAGE", "UsageError", "of_outcome", "to_read"]

PASSED = 0
FAILED = 1
USAGE = 2
UNJUDGED = 3


class UsageError(AueporaError):
    """The arguments do not make sense."""


def to_read(text: str) -> Path:
    """Read an argument that names a file or directory to read: one that is not there is a usage error."""
    if not (path := Path(text)).exists():
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        raise argparse.ArgumentTypeError(f"there is no {text}{did_you_mean(path.name, beside)}")
    return path


def of_outcome(outcome: str) -> int:
    """Return the code of a verdict or comparison: inconclusive passes, as it does in pytest."""
    if outcome in ("failed", "worse"):
        return FAILED
    return UNJUDGED if outcome == "not judged" else PASSED
