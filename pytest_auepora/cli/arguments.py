"""Arguments that several commands have, and what their values have to be."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..base.text import did_you_mean
from ..history.settings import FILE, VARIABLE
from ..regression.guards.calibration import FOLDER

METRICS_VARIABLE = "AUEPORA_METRICS"
METRICS_HOOK = "pytest_auepora_metrics"


def existing_path(text: str) -> Path:
    """Read an argument that names a file or directory; a missing one is a usage error."""
    if not (path := Path(text)).exists():
        siblings = [sibling.name for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
        raise argparse.ArgumentTypeError(f"there is no {text}{did_you_mean(path.name, siblings)}")
    return path


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a function that reads an argument as a whole number from *least* to *most*."""
    bounds = f"{least} or more" if most is None else f"{least} to {most}"

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"a whole number, {bounds}, is wanted, not {text!r}")
        return int(text)

    return read


_SHARED: Mapping[str, dict[str, Any]] = {
    "--json": {"action": "store_true", "help": "print JSON"},
    "--out": {"type": Path, "metavar": "FILE", "help": "write the report there instead of printing it"},
    "--baseline": {
        "type": existing_path, "metavar": "PATH", "help": "directory or .json file instead of __baselines__/",
    },
    "--known": {
        "type": existing_path, "action": "append", "default": [], "metavar": "GOLDEN",
        "help": "golden files, or folders of them, whose questions are left out (repeatable; those beside the output "
        "always)",
    },
    "--seed": {"type": int, "default": 0, "metavar": "N", "help": "another number, other draws (0)"},
    "--variant": {"default": "", "metavar": "NAME", "help": "the configuration that gave the answers"},
    "--calibrations": {
        "type": Path, "metavar": "DIR",
        "help": "folder of calibrated judges "
        f"(default: pytest's auepora_calibrations, {FOLDER} beside the golden file)",
    },
    "--metrics": {
        "action": "append", "default": [], "metavar": "MODULE:OBJECT",
        "help": "metrics of your own (repeatable): a metric, or a function that takes the registry, "
        f"such as conftest.py:{METRICS_HOOK} (default: ${METRICS_VARIABLE})",
    },
    "--history": {
        "default": "", "metavar": "PLACE",
        "help": f"path or URL of the history (default: pytest's auepora_history, ${VARIABLE}, the nearest {FILE})",
    },
}  # fmt: skip


def add_shared(parser: argparse._ActionsContainer, *options: str) -> None:
    """Add options that mean the same in several commands: ``--metrics``, ``--history``, …"""
    for option in options:
        parser.add_argument(option, **_SHARED[option])
