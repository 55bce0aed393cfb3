"""``auepora score OUTPUTS --golden FILE``: scores and judges recorded answers."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from ..api.evaluation import Evaluation
from ..api.recorded import score_recorded
from ..base.batches import all_cores
from ..base.files import write_atomically
from ..errors import UnsendableError
from ..history.settings import project_keep
from ..io.golden.model import GoldenSuite
from ..io.json_lines import is_jsonl
from ..io.source import MAX_BYTES
from ..metrics.registry import Registry
from ..regression.outcomes import Note
from ..reporting.formats.json_report import json_report
from ..reporting.formats.registry import report_text
from ..reporting.report import Report
from ..reporting.text import harmless
from ..reporting.wording.notes import baseline_text
from .arguments import add_shared, existing_path, whole_number
from .common import (
    FAILED,
    UNJUDGED,
    calibrations_folder,
    exit_code,
    load_suite,
    open_history,
    registry_of,
    write_output,
)
from .report import summary_text

_MOST_BYTES = 2_000_000_000  # bytes of golden JSON Lines: large files are expected here
_LARGE_OUTPUTS = 10_000_000  # bytes: for less, one process is faster


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    outputs = "one JSON object a line, or Parquet: id, answer, documents, timings (seconds); or id and error"
    jobs = "processes that score (default: all cores for large outputs, else 1)"
    add("outputs", type=existing_path, metavar="OUTPUTS", help=f"{outputs}; or a .run of TREC")
    add("--golden", type=existing_path, required=True, metavar="FILE", help="the golden file")
    add("--out", type=Path, default=Path("out"), metavar="DIR", help="for metrics.csv and summary.json (default: out)")
    add("--require-baseline", action="store_true", help="without a baseline nothing is judged")
    add("--jobs", type=whole_number(1), metavar="N", help=jobs)
    add("-q", "--quiet", action="store_true", help="no progress bar")
    add("--save", action="store_true", help="keep the run in the history")
    add("--json", action="store_true", help="print the JSON report")
    add_shared(parser, "--variant", "--baseline", "--calibrations", "--metrics", "--history")


def run(args: argparse.Namespace) -> int:
    """Score, write the two files, print the summary; the exit code is the verdict's."""
    registry = registry_of(args.metrics)
    suite = load_suite(args.golden, registry, _MOST_BYTES if is_jsonl(args.golden) else MAX_BYTES)
    result = _score(suite, registry, args)
    verdict = result.verdict
    if missing := result.run.missing_ids:
        verdict.notes.append(Note("no output", tuple(missing)))
    if args.save:
        store, keep = open_history(args.history), project_keep(Path.cwd())
        started = datetime.now(timezone.utc)
        run_id = store.add(result.run, verdict, started=started, keep=keep.runs or 0, keep_recorded=keep.answers or 0)
        print(f"kept as {run_id}", file=sys.stderr)
    report = Report([result.run], [verdict])
    write_atomically(args.out / "metrics.csv", report_text("csv", report))
    write_atomically(args.out / "summary.json", report_text("summary", report))
    if args.json:
        write_output(json_report(report), None)
    else:
        print(summary_text(report, steps=False), end="")
    if args.require_baseline and result.baseline is None:
        print(harmless(f"auepora: {baseline_text(result.baseline_note)}"), file=sys.stderr)
        return FAILED if verdict.outcome == "failed" else UNJUDGED
    return exit_code(verdict.outcome)


def _score(suite: GoldenSuite, registry: Registry, args: argparse.Namespace) -> Evaluation:
    """Score in ``--jobs`` processes; by default on all cores for large outputs, else in one process."""
    large = args.jobs is None and args.outputs.is_file() and args.outputs.stat().st_size > _LARGE_OUTPUTS
    scored = partial(
        score_recorded, suite, args.outputs, registry=registry, baseline=args.baseline, variant=args.variant,
        calibrations=calibrations_folder(args.golden, args.calibrations), progress=False if args.quiet else None,
    )  # fmt: skip
    if not large:
        return scored(jobs=args.jobs or 1)
    try:
        return scored(jobs=all_cores())
    except UnsendableError as exc:
        print(f"auepora: using one process: {exc}", file=sys.stderr)
        return scored(jobs=1)
