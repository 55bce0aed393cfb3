"""``auepora score OUTPUTS.jsonl --golden FILE``: recorded answers, scored and judged as if they had just been given."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..adapters.outputs import to_outputs
from ..adapters.systems import System
from ..core.types import EvaluationSample
from ..errors import AueporaError, did_you_mean
from ..evaluation.suite import Evaluation, evaluate
from ..io.golden import GoldenSuite
from ..io.json_lines import load_lines
from ..io.source import Source
from ..metrics.registry import Registry
from .calibrations import add_calibrations
from .exit_codes import FAILED, UNJUDGED, of_outcome
from .registry import add_metrics, load_suite, registry_of
from .sources import add_history, open_history

__all__ = ["add_arguments", "run"]

_ID_KEYS = ("id", "case_id", "sample_id")


class RecordedError(AueporaError):
    """What a system raised when the outputs were recorded."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "outputs", type=Path, metavar="OUTPUTS.jsonl",
        help="one JSON object a line: id, answer, documents, timings (seconds); or id and error",
    )  # fmt: skip
    parser.add_argument("--golden", type=Path, required=True, metavar="FILE", help="the golden file")
    add = parser.add_argument
    add("--out", type=Path, default=Path("out"), metavar="DIR", help="for metrics.csv and summary.json (default: out)")
    add("--baseline", type=Path, metavar="PATH", help="directory or .json file instead of __baselines__/")
    parser.add_argument("--require-baseline", action="store_true", help="without a baseline nothing is judged")
    parser.add_argument("--variant", default="", metavar="NAME", help="the configuration that gave the outputs")
    parser.add_argument("--save", action="store_true", help="keep the run in the history")
    parser.add_argument("--json", action="store_true", help="print the JSON report")
    add_calibrations(parser)
    add_metrics(parser)
    add_history(parser)


def run(given: argparse.Namespace) -> int:
    """Score, write the two files, print the summary; the exit code is the verdict's."""
    registry = registry_of(given.metrics)
    suite = load_suite(given.golden, registry)
    recorded = _recorded(given.outputs, suite)
    done = _evaluate(suite, registry, recorded, given)
    missing = [c.id for c in suite.cases if c.skip is None and c.id not in recorded]
    for case_id in missing:
        del done.run.cases[case_id]
    verdict = done.verdict
    if missing:
        verdict.notes.append(f"no output for {', '.join(missing[:5])}{' …' if len(missing) > 5 else ''}")
    if given.save:
        store = open_history(given.history)
        print(f"kept as {store.add(done.run, verdict, started=datetime.now(timezone.utc))}", file=sys.stderr)
    _write(given.out, done)
    if given.json:
        from ..reporting.json_report import json_report

        print(json_report([done.run], [verdict]), end="")
    else:
        from .report import summary_text

        print(summary_text([done.run], [verdict]), end="")
    if given.require_baseline and done.baseline is None:
        print(f"auepora: {done.baseline_note}", file=sys.stderr)
        return FAILED if verdict.outcome == "failed" else UNJUDGED
    return of_outcome(verdict.outcome)


def _recorded(path: Path, suite: GoldenSuite) -> dict[str, dict[str, Any]]:
    """Read the outputs by case id; raises `GoldenFileError` with the place of everything wrong."""
    source = Source.load(path)
    known = {case.id for case in suite.cases}
    out: dict[str, dict[str, Any]] = {}
    for raw in list(load_lines(source)):
        key = next((k for k in _ID_KEYS if k in raw), None)
        case_id = raw.get(key) if key is not None else None
        if not isinstance(case_id, str):
            source.bad_whole(raw, "no id: which case is this the output of?")
        elif case_id not in known:
            source.bad(raw, key, f"{suite.path.name} has no case {case_id!r}{did_you_mean(case_id, known)}")
        elif case_id in out:
            source.bad(raw, key, f"{case_id!r} is there twice")
        else:
            out[case_id] = {k: v for k, v in raw.items() if k != key}
    if not out and not source.problems:
        source.complain(0, 0, "is empty")
    if source.problems:
        raise source.error()
    return out


def _evaluate(
    suite: GoldenSuite, registry: Registry, recorded: dict[str, dict[str, Any]], given: argparse.Namespace
) -> Evaluation:
    def answer(sample: EvaluationSample, top_k: int) -> Any:  # noqa: ARG001 - it is recorded already
        said = recorded.get(sample.sample_id, {})
        if error := said.get("error"):
            raise RecordedError(str(error))
        return said

    # the time it takes to look an answer up is no latency: only recorded timings count
    return evaluate(
        suite, System(given.outputs.name, False, answer), convert=lambda raw, _: to_outputs(raw), timed=False,
        registry=registry, baseline=given.baseline, variant=given.variant, calibrations=given.calibrations,
    )  # fmt: skip


def _write(folder: Path, done: Evaluation) -> None:
    from ..reporting.formats import report_text

    folder.mkdir(parents=True, exist_ok=True)
    for name, kind in (("metrics.csv", "csv"), ("summary.json", "summary")):
        (folder / name).write_text(report_text(kind, [done.run], [done.verdict]), encoding="utf-8")
