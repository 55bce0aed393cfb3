"""What several commands share: exit codes, arguments of one meaning, where output goes."""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ..errors import AueporaError, GoldenFileError, Problem, did_you_mean
from ..history.settings import settings_of
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenSuite
from ..io.source import MAX_BYTES
from ..metrics.extensions import add_from, add_installed
from ..metrics.judge.chosen import use_judge
from ..metrics.registry import Registry
from ..regression.guards.calibration import FOLDER

METRICS_VARIABLE = "AUEPORA_METRICS"
_HOOK = "pytest_auepora_metrics"

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


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads an argument that is a whole number, *least* or more, *most* or less."""
    wanted = f"{least} or more" if most is None else f"{least} to {most}"

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f"a whole number, {wanted}, is wanted, not {text!r}")
        return int(text)

    return read


def of_outcome(outcome: str) -> int:
    """Return the code of a verdict or comparison: inconclusive passes, as it does in pytest."""
    if outcome in ("failed", "worse", "mixed"):
        return FAILED
    return UNJUDGED if outcome == "not judged" else PASSED


def put(text: str, path: Path | None) -> None:
    """Write *text* to *path*, or print it where that is None.

    Raises:
        AueporaError, OSError: it cannot be written.
    """
    from ..reporting.formats import write_report

    if path is None:
        if text[:1] in ("{", "["):  # JSON, in which no line begins with a user's words
            text = re.sub("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]", lambda m: json.dumps(m[0])[1:-1], text)
        print(text, end="")
    else:
        write_report(path, text)


def add_calibrations(parser: argparse.ArgumentParser) -> None:
    """Add ``--calibrations``."""
    what = f"folder of calibrated judges (default: {FOLDER} beside the golden file)"
    parser.add_argument("--calibrations", type=Path, metavar="DIR", help=what)


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Add ``--metrics``."""
    parser.add_argument(
        "--metrics", action="append", default=[], metavar="MODULE:OBJECT",
        help=f"metrics of your own (repeatable): a metric, or a function that takes the registry, "
        f"such as conftest.py:{_HOOK} (default: ${METRICS_VARIABLE})",
    )  # fmt: skip


def registry_of(given: Iterable[str]) -> Registry:
    """Return a registry with the metrics of *given* (or of the environment) and of installed packages.

    Judged metrics ask the judge that the project's settings name.
    """
    folder, settings = settings_of(Path.cwd()) or (Path(), {})
    file = str(settings.get("auepora_judge", "")).strip()
    use_judge(folder / file if file else None)
    registry = Registry()
    add_installed(registry)
    for spelling in given or os.environ.get(METRICS_VARIABLE, "").split():
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
