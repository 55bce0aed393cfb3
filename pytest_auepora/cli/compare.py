"""``auepora compare A B``: is B worse than A, and in which cases?  With more of them: all side by side."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..base.files import is_there
from ..core.run import Run
from ..errors import AueporaError, NotComparableError
from ..history.compare import CompareReport, compare
from ..io.golden.load import load_policy
from ..regression.baseline import baseline_path
from ..regression.baseline_file import load_baseline
from ..regression.policy import RegressionPolicy
from ..reporting.formats import side_by_side_formats as formats
from ..reporting.formats.comparison_report import comparison_json, comparison_lines, render_report_md
from ..reporting.formats.json_report import from_outside
from ..reporting.side_by_side import side_by_side
from ..reporting.terminal.layout import Line, render
from .arguments import add_shared
from .common import PASSED, Sources, UsageError, calibrations_folder, exit_code, open_history, write_output

_SIDES = "a run id or its beginning, last, last~2, a baseline or JSON report (.json), git:REF"
_DEFAULT = ("last~1", "last")
"""What is compared where one run is named, or several are asked for side by side."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    runs = f"the earlier run, the later one (default: the last two full runs), and more, side by side: {_SIDES}"
    columns = "columns against the first; also for two runs, and for the configurations in one JSON report"
    add = parser.add_argument
    add("runs", nargs="*", metavar="RUN", help=runs)
    add("--side-by-side", action="store_true", help=columns)
    add("--strict-chunker-version", action="store_true", help="refuse runs whose chunks have other ids")
    add("--format", choices=["text", "md", "json"], help="what to make (default: text; md for a file)")
    add("--json", action="store_const", const="json", dest="format", help="print JSON")
    add_shared(parser, "--out", "--history")


def run(args: argparse.Namespace) -> int:
    """Compare and print; the exit code says whether B is worse, except side by side."""
    is_side_by_side = args.side_by_side or len(args.runs) > 2
    names = args.runs or _DEFAULT
    stored = any(not name.endswith(".json") and not name.startswith("git:") for name in names)
    title = " or ".join(names) + (f" of {open_history(args.history).name}" if stored else "")
    with from_outside(title):
        if is_side_by_side:
            return _side_by_side(args)
        names = [*args.runs, *_DEFAULT[len(args.runs) :]] if args.runs else _last_full_runs(args.history)
        return _compare_two(args, *names)


def _last_full_runs(location: str) -> list[str]:
    """Return the last two full runs of one golden file and configuration, the earlier one first."""
    store = open_history(location)
    full = [stored for stored in store.runs() if stored.complete] if store.exists() else []
    last = next(iter(full), None)
    same = [stored for stored in full if last and (stored.suite, stored.variant) == (last.suite, last.variant)]
    same = store.runs_of_file(same, last.path) if last is not None else []
    if len(same) < 2:
        found = f"only one full run of {last.title}" if last is not None else "no full run"
        raise UsageError(f"there is {found} in {store.name}; name two runs, auepora runs lists what there is")
    return [same[1].run_id, same[0].run_id]


def _compare_two(args: argparse.Namespace, a_name: str, b_name: str) -> int:
    sources = Sources(args.history)
    names = [a_name, b_name]
    (title_a, a), (title_b, b) = _find_runs(lambda name, reference: [sources.find(name, reference)], names)
    if title_a == title_b:
        raise UsageError(f"{a_name} and {b_name} are one and the same, {title_a}; name two runs, such as last~1 last")
    strict = args.strict_chunker_version
    report = compare_in_project(sources.root, a, b, names=(title_a, title_b), strict_chunker_version=strict)
    if args.format == "json":
        text = comparison_json(report)
    elif args.format == "md" or (args.out is not None and args.format is None):
        text = render_report_md(report)
    else:
        text = _as_text(comparison_lines, report)
    write_output(text, args.out)
    return exit_code(report.outcome)


def _side_by_side(args: argparse.Namespace) -> int:
    columns = _find_runs(Sources(args.history).find_all, args.runs or _DEFAULT)
    runs = [run for _, run in columns]
    if args.strict_chunker_version:
        for name, other in columns[1:]:
            compare(runs[0], other, names=(columns[0][0], name), strict_chunker_version=True)
    inside_one = len(args.runs) == 1  # the configurations of one report need no prefix
    compared = side_by_side(runs, names=None if inside_one else [name for name, _ in columns])
    if not compared.shared:
        raise NotComparableError(f"they share no comparable case: {'; '.join(compared.notes)}")
    if args.format == "md":
        text = formats.side_by_side_markdown(compared)
    elif args.format == "json":
        text = formats.side_by_side_json(compared)
    else:
        text = _as_text(formats.side_by_side_lines, compared)
    write_output(text, args.out)
    return PASSED


def _as_text(make: Callable[..., list[Line]], what: Any) -> str:
    """Return the lines that *make* makes of *what*, as wide as the terminal."""
    return render(make(what, width=shutil.get_terminal_size((100, 24)).columns)) + "\n"


def _find_runs(find: Callable[[str, Run | None], list[tuple[str, Run]]], names: Sequence[str]) -> list[tuple[str, Run]]:
    """Return titles and runs in the order of *names*; ``git:REF`` is the baseline of the suite of the others."""
    reference: Run | None = None
    found: dict[int, list[tuple[str, Run]]] = {}
    for i in sorted(range(len(names)), key=lambda i: (names[i].startswith("git:"), -i)):
        found[i] = find(names[i], reference)
        reference = reference or found[i][0][1]
    return [titled_run for i in sorted(found) for titled_run in found[i]]


def compare_in_project(
    root: Path, a: Run, b: Run, *, names: tuple[str, str], strict_chunker_version: bool = False
) -> CompareReport:
    """Compare *b* with *a* as `compare` does, by the policy, calibrations and baseline of the golden file of *b*."""
    return compare(
        a, b, names=names, strict_chunker_version=strict_chunker_version, policy=policy_of(root, b),
        calibrations=calibrations_folder(root / b.path if b.path else None), steady=steady_metrics(root, b),
    )  # fmt: skip


def steady_metrics(root: Path, run: Run) -> frozenset[str]:
    """Return the metrics that are steady by the baseline of the run's golden file; none without a baseline."""
    path = baseline_path(root / run.path, run.suite, run.variant)
    with suppress(AueporaError):
        if run.path and (baseline := load_baseline(path, run.suite, run.variant)) is not None:
            return baseline.steady
    return frozenset()


def policy_of(root: Path, run: Run) -> RegressionPolicy | None:
    """Return the policy of the run's golden file; None where the file is gone or cannot be read."""
    path = root / run.path
    with suppress(AueporaError):
        return load_policy(path) if run.path and is_there(path) else None
    return None
