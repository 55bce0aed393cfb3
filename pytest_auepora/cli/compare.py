"""``auepora compare A B``: is B worse than A, and in which cases?  With more of them: all side by side."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..core.run import Run
from ..errors import AueporaError, NotComparableError
from ..history.compare import compare
from ..io.golden.load import load_policy
from ..regression.baseline import baseline_path, load_baseline
from ..regression.policy import RegressionPolicy
from ..reporting import side_by_side_formats as formats
from ..reporting.comparison_report import render_report_md
from ..reporting.json_report import from_outside
from ..reporting.side_by_side import side_by_side
from ..reporting.terminal.layout import render
from .common import PASSED, Sources, UsageError, add_history, of_outcome, open_history, put

_SIDES = "a run id or its beginning, last, last~2, a baseline or JSON report (.json), git:REF"
_DEFAULT = ("last~1", "last")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "runs", nargs="*", metavar="RUN",
        help=f"the earlier run, the later one (default: {' '.join(_DEFAULT)}), and more, side by side: {_SIDES}",
    )  # fmt: skip
    parser.add_argument(
        "--side-by-side", action="store_true",
        help="columns against the first; also for two runs, and for the configurations in one JSON report",
    )  # fmt: skip
    parser.add_argument("--strict-chunker-version", action="store_true", help="refuse runs whose chunks have other ids")
    parser.add_argument(
        "--format", choices=["text", "md", "json", "csv"], help="what to make (text, csv: side by side)"
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="print JSON")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report there instead of printing it")
    add_history(parser)


def run(given: argparse.Namespace) -> int:
    """Compare, print, and say by the exit code whether B is worse; side by side nothing is judged."""
    if given.side_by_side or len(given.runs) > 2:
        with from_outside(_told(given)):
            return _side_by_side(given)
    if given.format in ("text", "csv"):
        raise UsageError(f"--format {given.format} is for --side-by-side; two runs are compared as md or json")
    with from_outside(_told(given)):
        return _pair(given, *given.runs, *_DEFAULT[len(given.runs) :])


def _told(given: argparse.Namespace) -> str:
    """Return what the runs are called, and where they are kept."""
    names = given.runs or _DEFAULT
    kept = any(not name.endswith(".json") and not name.startswith("git:") for name in names)
    return " or ".join(names) + (f" of {open_history(given.history).name}" if kept else "")


def _pair(given: argparse.Namespace, a_said: str, b_said: str) -> int:
    sources = Sources(given.history)
    if b_said.startswith("git:") and not a_said.startswith("git:"):
        name_a, a = sources.find(a_said)
        name_b, b = sources.find(b_said, a)
    else:
        name_b, b = sources.find(b_said)
        name_a, a = sources.find(a_said, b)
    if name_a == name_b:
        raise UsageError(f"{a_said} and {b_said} are one and the same, {name_a}; name two runs, such as last~1 last")
    report = compare(
        a, b, names=(name_a, name_b), strict_chunker_version=given.strict_chunker_version,
        policy=policy_of(sources.root, b), steady=steady_of(sources.root, b),
    )  # fmt: skip
    if given.format == "json":
        text = json.dumps(report.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = render_report_md(report)
    put(text, given.out)
    return of_outcome(report.outcome)


def _side_by_side(given: argparse.Namespace) -> int:
    found = _columns(Sources(given.history), given.runs or _DEFAULT)
    runs = [run for _, run in found]
    if given.strict_chunker_version:
        for name, other in found[1:]:
            compare(runs[0], other, names=(found[0][0], name), strict_chunker_version=True)
    inside_one = len(given.runs) == 1  # the configurations of one report, which need not say whose they are
    compared = side_by_side(runs, names=None if inside_one else [name for name, _ in found])
    if not compared.shared:
        raise NotComparableError(f"they share no case that compares: {'; '.join(compared.notes)}")
    if given.format == "md":
        text = formats.side_by_side_markdown(compared)
    elif given.format == "json":
        text = formats.side_by_side_json(compared)
    elif given.format == "csv":
        text = formats.side_by_side_csv([compared])
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        text = render(formats.side_by_side_lines(compared, width=width)) + "\n"
    put(text, given.out)
    return PASSED


def _columns(sources: Sources, said: Sequence[str]) -> list[tuple[str, Run]]:
    """Find the runs in their order; a baseline at a commit is that of the suite of the others."""
    like: Run | None = None
    found: dict[int, list[tuple[str, Run]]] = {}
    for i in sorted(range(len(said)), key=lambda i: (said[i].startswith("git:"), -i)):
        found[i] = sources.find_all(said[i], like)
        like = like or found[i][0][1]
    return [one for i in range(len(said)) for one in found[i]]


def steady_of(root: Path, run: Run) -> frozenset[str]:
    """Return the metrics that the baseline beside the run's golden file knows as steady; none without one."""
    path = baseline_path(root / run.path, run.suite, run.variant)
    try:
        found = load_baseline(path, run.suite, run.variant) if run.path else None
    except AueporaError:
        return frozenset()
    return frozenset() if found is None else found.steady


def policy_of(root: Path, run: Run) -> RegressionPolicy | None:
    """Return the policy of the run's golden file, where that is still there and can be read."""
    path = root / run.path
    if not run.path or not path.is_file():
        return None
    try:
        return load_policy(path)
    except AueporaError:
        return None
