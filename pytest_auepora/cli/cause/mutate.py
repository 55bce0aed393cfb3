"""``auepora mutate GOLDEN``: which changes would this suite notice, by mutants of recorded answers, without a call."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from ...base.files import shown_path
from ...cause.mutate import Sensitivity, mutate
from ...errors import UnknownRunError
from ...evaluation.replay import RecordedRun
from ...history.answers import load_recorded
from ...history.store import HistoryStore
from ...io.golden.model import GoldenSuite
from ...reporting.terminal.layout import Cell, Column, table
from ...reporting.wording.mutants import detection_rows, sensitivity_lines, share_text, unchanged_text
from ..arguments import add_shared, existing_path, whole_number
from ..common import (
    PASSED,
    accepted_baseline,
    calibrations_folder,
    load_suite,
    open_history,
    print_page,
    registry_of,
    terminal_page,
    write_output,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    run = "the recorded run whose answers are broken (default: the one that passed with most answers to a case)"
    add("golden", type=existing_path, metavar="GOLDEN", help="the golden file")
    add("--run", dest="run_name", default="", metavar="RUN", help=run)
    runs = "runs drawn for each change and share (default: 100, or 25 where these agree)"
    add("--runs", type=whole_number(1), metavar="N", help=runs)
    add_shared(parser, "--variant", "--baseline", "--seed", "--json", "--calibrations", "--metrics", "--history")


def run(args: argparse.Namespace) -> int:
    """Break the answers of a recorded run, and print what would be seen."""
    registry = registry_of(args.metrics)
    suite = load_suite(args.golden, registry)
    source = _recorded_run(open_history(args.history), suite, args)
    baseline = accepted_baseline(suite, args.variant, args.baseline)
    found = mutate(
        suite, source, registry, baseline=baseline, calibrations=calibrations_folder(args.golden, args.calibrations),
        runs=args.runs, seed=args.seed, progress=None,
    )  # fmt: skip
    if args.json:
        write_output(json.dumps(asdict(found), indent=1, ensure_ascii=False) + "\n", None)
    else:
        _print_found(found)
    return PASSED


def _recorded_run(store: HistoryStore, suite: GoldenSuite, args: argparse.Namespace) -> RecordedRun:
    """Return the run to break: the one that was named, else of those that passed the one with most answers."""
    if args.run_name:
        path = shown_path(suite.path.resolve(), store.root)
        return load_recorded(store, store.resolve(args.run_name, suite.name, args.variant, path))
    runs = [run for run in store.recorded() if (run.suite, run.variant) == (suite.name, args.variant)]
    runs = store.runs_of_file(runs, shown_path(suite.path.resolve(), store.root))
    whole = [run for run in runs if run.complete and not run.failed] or runs
    if not whole:
        of_variant = f"[{args.variant}]" if args.variant else ""
        raise UnknownRunError(
            f"no run of {suite.name}{of_variant} with recorded answers in {store.name}; "
            "pytest --auepora-update records them"
        )
    recorded = (load_recorded(store, run.run_id) for run in whole)
    return max(recorded, key=lambda source: sum(case.n_answers for case in source.run.cases.values()))


def _print_found(found: Sensitivity) -> None:
    """Print the table, and what to do about what is not seen."""
    shares = list(dict.fromkeys(detection.share for detection in found.detections[1:]))
    columns = [
        Column("broken"), Column("cases", right=True),
        *(Column(share_text(share, found.cases), right=True) for share in shares), Column("seen by", least=10),
    ]  # fmt: skip
    rows = [[Cell(text) for text in row] for row in detection_rows(found)]
    page = terminal_page()
    for text in unchanged_text(found):
        page.paragraph(text)
    page.lines += [[], *table(columns, rows, page.width), []]
    for text in sensitivity_lines(found):
        page.paragraph(text)
    print_page(page)
