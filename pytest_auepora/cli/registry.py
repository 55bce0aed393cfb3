"""The metrics a command knows: this package's, those of installed packages, and the project's own."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from ..errors import GoldenFileError, Problem
from ..io.golden.load import MAX_BYTES, GoldenSuite, load_golden
from ..metrics.extensions import add_from, add_installed
from ..metrics.registry import Registry

__all__ = ["VARIABLE", "add_metrics", "load_suite", "registry_of"]

VARIABLE = "AUEPORA_METRICS"
_HOOK = "pytest_auepora_metrics"


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Add ``--metrics``."""
    parser.add_argument(
        "--metrics", action="append", default=[], metavar="MODULE:OBJECT",
        help=f"metrics of your own (repeatable): a metric, or a function that takes the registry, "
        f"such as conftest.py:{_HOOK} (default: ${VARIABLE})",
    )  # fmt: skip


def registry_of(given: Iterable[str]) -> Registry:
    """Return a registry with the metrics of *given* (or of the environment) and of installed packages."""
    registry = Registry()
    add_installed(registry)
    for spelling in given or os.environ.get(VARIABLE, "").split():
        add_from(registry, spelling)
    return registry


def load_suite(path: Path, registry: Registry, max_bytes: int = MAX_BYTES) -> GoldenSuite:
    """Read a golden file as `load_golden`; where a metric is unknown, say that a conftest.py nearby may know it.

    Raises:
        GoldenFileError: the file is wrong.
    """
    try:
        return load_golden(path, registry, max_bytes=max_bytes)
    except GoldenFileError as exc:
        raise GoldenFileError([_hinted(p, path) for p in exc.problems]) from None


def _hinted(problem: Problem, golden: Path) -> Problem:
    if not problem.message.startswith("unknown metric"):
        return problem
    for folder in golden.resolve().parents:
        conftest = folder / "conftest.py"
        try:
            hooked = _HOOK in conftest.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if hooked:
            shown = os.path.relpath(conftest)
            hint = f"; if {shown} defines it: --metrics {shown}:{_HOOK}"
            return Problem(problem.path, problem.line, problem.col, problem.message + hint)
    return problem
