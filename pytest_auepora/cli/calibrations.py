"""Where the commands look for calibrated judges."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..regression.guards.calibration import FOLDER

__all__ = ["add_calibrations", "calibrations_folder"]


def add_calibrations(parser: argparse.ArgumentParser) -> None:
    """Add ``--calibrations``."""
    what = f"folder of calibrated judges (default: {FOLDER} beside the golden file)"
    parser.add_argument("--calibrations", type=Path, metavar="DIR", help=what)


def calibrations_folder(given: Path | None, golden: Path) -> Path:
    """Return the folder that was given, or the one beside *golden*."""
    return given if given is not None else golden.parent / FOLDER
