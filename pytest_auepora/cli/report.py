"""``auepora report RUN``: a stored run, or a JSON report, with its verdict of the time."""

from __future__ import annotations

import argparse
import shutil

from ..reporting.formats.json_report import from_outside
from ..reporting.formats.registry import WITH_TRENDS, formats, report_text
from ..reporting.formats.side_by_side_formats import side_by_side_lines
from ..reporting.report import Report, trend_of
from ..reporting.terminal.layout import Cell, render
from ..reporting.terminal.summary import summary_lines
from ..reporting.text import printable
from ..reporting.wording.verdict import mistakes_text
from .arguments import add_shared
from .common import PASSED, Offered, open_history, read_report, write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="RUN", help="a run id or its beginning, last, last~2, or a JSON report (.json)")
    parser.add_argument(
        "--format", choices=Offered(["text", *formats()]), default="text", help="what to make (default: text)"
    )
    add_shared(parser, "--out", "--history")


def run(args: argparse.Namespace) -> int:
    """Print the report; the exit code does not depend on the run's verdict."""
    if args.name.endswith(".json"):
        report = read_report(args.name)
    else:
        store = open_history(args.history)
        run_id = store.resolve(args.name)
        stored = store.load(run_id)
        trends = {(stored.path, stored.variant): trend_of(store, stored, run_id)} if args.format in WITH_TRENDS else {}
        report = Report([stored], [store.verdict(run_id)], trends=trends)
    with from_outside(args.name):
        text = summary_text(report) if args.format == "text" else report_text(args.format, report)
    write_output(text, args.out)
    return PASSED


def summary_text(report: Report, *, steps: bool = True) -> str:
    """Return the summary that closes a pytest run, as wide as the terminal, below the mistakes in golden files.

    Without *steps* it leaves out what to do next, which pytest does.
    """
    width = shutil.get_terminal_size((100, 24)).columns
    mistakes = [mistakes_text(report.mistakes), *map(str, report.mistakes)] if report.mistakes else []
    parts = [[[Cell(printable(text))]] for text in mistakes]
    for i, (run, verdict) in enumerate(report.pairs, 1):
        parts.append(summary_lines(run, verdict, width=width, steps=steps, later=report.pairs[i:]))
    parts += [[[], *side_by_side_lines(comparison, width=width)] for comparison in report.comparisons()]
    return "".join(render(lines) + "\n" for lines in parts)
