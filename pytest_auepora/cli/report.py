"""``auepora report RUN``: a stored run, or a JSON report, with its verdict of the time."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..core.run import Run
from ..errors import Problem
from ..history.store import HistoryStore
from ..regression.verdict import Verdict
from ..reporting.formats import FORMATS, report_text, wants_trend
from ..reporting.json_report import from_outside
from ..reporting.side_by_side import side_by_sides
from ..reporting.side_by_side_formats import side_by_side_lines
from ..reporting.tally import mistakes_note
from ..reporting.terminal.layout import Cell, render
from ..reporting.terminal.summary import summary_lines
from ..reporting.text import printable
from ..reporting.trend import trend_of
from .common import PASSED, add_history, open_history, read_report, stored_verdict, write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "name", metavar="RUN", help="a run id or its beginning, last, last~2, or a JSON report (.json)"
    )  # fmt: skip
    parser.add_argument("--format", choices=["text", *FORMATS], default="text", help="what to make (default: text)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report there instead of printing it")
    add_history(parser)


def run(args: argparse.Namespace) -> int:
    """Print the report; the exit code does not depend on the run's verdict."""
    store = None if args.name.endswith(".json") else open_history(args.history)
    runs, verdicts, mistakes = read_report(args.name) if store is None else _stored_report(store, args.name)
    with from_outside(args.name):
        if args.format == "text":
            text = summary_text(runs, verdicts, mistakes)
        else:
            trends = {}
            if store is not None and wants_trend(args.format):  # a report from elsewhere has no past here
                trends = {(run.path, run.variant): trend_of(store, run, store.resolve(args.name)) for run in runs}
            text = report_text(args.format, runs, verdicts, trends=trends, mistakes=mistakes)
    write_output(text, args.out)
    return PASSED


def _stored_report(store: HistoryStore, name: str) -> tuple[list[Run], list[Verdict], list[Problem]]:
    run_id = store.resolve(name)
    return [store.load(run_id)], [stored_verdict(store, run_id)], []


def summary_text(
    runs: Sequence[Run], verdicts: Sequence[Verdict], mistakes: Sequence[Problem] = (), *, steps: bool = True
) -> str:
    """Return the summary that closes a pytest run, as wide as the terminal, below the *mistakes* in golden files.

    Without *steps* it leaves out what to do next, which pytest does.
    """
    width = shutil.get_terminal_size((100, 24)).columns
    problem_lines = [mistakes_note(mistakes), *map(str, mistakes)] if mistakes else []
    parts = [[[Cell(printable(text))] for text in problem_lines]] if problem_lines else []
    parts += [
        summary_lines(run, verdict, width=width, steps=steps, later=verdicts[i:])
        for i, (run, verdict) in enumerate(zip(runs, verdicts, strict=True), 1)
    ]
    parts += [[[], *side_by_side_lines(comparison, width=width)] for comparison in side_by_sides(runs)]
    return "".join(render(lines) + "\n" for lines in parts)
