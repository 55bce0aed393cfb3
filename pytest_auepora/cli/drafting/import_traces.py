"""``auepora import PATH --from otel``: drafts of golden cases from traces of real questions, for ``auepora review``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ...drafting.files import add_cases
from ...drafting.from_traces import draft_cases
from ...drafting.known import Known, asked
from ...drafting.spans import TraceProblem, read_spans
from ...drafting.traces import calls_of
from ...errors import MetricError
from ...io.edit import raw_cases
from ...io.importers.golden import golden_text
from ...io.importers.imported import ImportedSuite
from ...metrics.registry import import_object
from ...reporting.numbers import plural
from ..arguments import existing_path, whole_number
from ..common import (
    GOLDEN_ENDINGS,
    PASSED,
    UsageError,
    is_ascii_output,
    known_samples,
    print_notes,
    registry_of,
)

TITLE = {"otel": "traces of OpenTelemetry (OTLP as JSON, or a span a line), as drafts"}
"""The format, and what it is called."""


def add_trace_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that traces alone have."""
    add = parser.add_argument_group("otel", "drafts from traces").add_argument
    redact = "function that redacts a text, or the hook pytest_auepora_redact: file.py:name; called before all else"
    known = "golden files or folders of them whose questions are left out (repeatable; those beside the output always)"
    by = "slice the questions by model, feedback, tag, or an attribute of the trace's root span"
    add("--redact", metavar="FILE:FUNCTION", help=redact)
    add("--no-redact", action="store_true", help="take the texts as they are")
    add("--known", type=existing_path, action="append", default=[], metavar="GOLDEN", help=known)
    add("--by", default="", metavar="ATTRIBUTE", help=by)
    add("--per-slice", type=whole_number(1), metavar="N", help="how many questions of each slice are drawn (all)")
    add("--seed", type=int, default=0, metavar="N", help="seed for what is drawn (0)")


def import_traces(args: argparse.Namespace) -> int:
    """Append the drafts to the golden file, or print them; say what was left out."""
    output = args.output
    if output is not None and not output.name.lower().endswith(GOLDEN_ENDINGS):
        raise UsageError(f"{output}: a golden file ends in .golden.yaml or .golden.jsonl")
    if bool(args.redact) == args.no_redact:
        raise UsageError(
            "traces hold what people wrote: name a function that redacts a text, --redact file.py:function, or say "
            "--no-redact"
        )
    redact = _redactor(args.redact) if args.redact else None
    registry = registry_of(args.metrics)
    samples = known_samples(output if output is not None else Path("x"), args.known, registry)
    known = Known(asked(sample.query, sample.chat_history) for sample in samples)
    traces = read_spans(args.path)
    suite = draft_cases(
        calls_of(traces), redact=redact, known=known, by=args.by, per_slice=args.per_slice, seed=args.seed
    )
    summary = f"{plural(len(suite.cases), 'draft')} from {plural(len(traces), 'trace')} in {args.path}"
    if not suite.cases:
        raise TraceProblem(f"{args.path}: no draft. Dropped: {'; '.join(suite.dropped) or 'nothing'}")
    if output is None:
        print(golden_text(ImportedSuite(suite.cases), ascii_only=is_ascii_output()), end="")
    else:
        add_cases(output, _with_free_ids(suite.cases, output), registry)
        summary += f" to {output}; accept them with: auepora review {output}"
    print_notes(suite.dropped, summary, suite.notes)
    return PASSED


def _redactor(spelling: str) -> Any:
    function = import_object(spelling, "a function that redacts is")
    if not callable(function):
        raise MetricError(f"{spelling} is no function")
    return function


def _with_free_ids(cases: list[dict[str, Any]], output: Path) -> list[dict[str, Any]]:
    """Return *cases* with ids that the file at *output* does not have yet."""
    taken = {case["id"] for case in raw_cases(output)} if output.exists() else set()
    out = []
    for case in cases:
        case_id, number = case["id"], 2
        while case_id in taken:
            case_id, number = f"{case['id']}-{number}", number + 1
        taken.add(case_id)
        out.append({**case, "id": case_id})
    return out
