"""``auepora compare A B``: is B worse than A, and in which cases?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..core.run import Run
from ..errors import AueporaError
from ..history.compare import compare
from ..regression.policy import RegressionPolicy
from .calibrations import add_calibrations, calibrations_folder
from .exit_codes import of_outcome
from .sources import Sources, add_history

__all__ = ["add_arguments", "run"]

_SIDES = "a run id or its beginning, last, last~2, a baseline or JSON report (.json), git:REF"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("a", nargs="?", default="last~1", metavar="A", help=f"the earlier run: {_SIDES}")
    parser.add_argument("b", nargs="?", default="last", metavar="B", help="the later run (default: last)")
    parser.add_argument("--strict-chunker-version", action="store_true", help="refuse runs whose chunks have other ids")
    parser.add_argument("--json", action="store_true", help="print JSON instead of Markdown")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report there instead of printing it")
    add_calibrations(parser)
    add_history(parser)


def run(given: argparse.Namespace) -> int:
    """Compare, print, and say by the exit code whether B is worse."""
    sources = Sources(given.history)
    if given.b.startswith("git:") and not given.a.startswith("git:"):
        name_a, a = sources.find(given.a)
        name_b, b = sources.find(given.b, a)
    else:
        name_b, b = sources.find(given.b)
        name_a, a = sources.find(given.a, b)
    report = compare(
        a, b, names=(name_a, name_b), strict_chunker_version=given.strict_chunker_version,
        policy=_policy(sources.root, b), calibrations=calibrations_folder(given.calibrations, sources.root / b.path),
    )  # fmt: skip
    if given.json:
        text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        from ..reporting.compared import render_report_md

        text = render_report_md(report)
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return of_outcome(report.outcome)


def _policy(root: Path, run: Run) -> RegressionPolicy | None:
    """Return the policy of the run's golden file, where that is still there and can be read."""
    path = root / run.path
    if not run.path or not path.is_file():
        return None
    from ..io.golden import load_golden

    try:
        return load_golden(path).policy
    except AueporaError:
        return None
