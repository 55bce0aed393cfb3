"""``auepora import PATH --from FORMAT``: another tool's data set to a golden file; with ``--to`` the other way.

``--from otel`` makes drafts of traces of real questions, for ``auepora review``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..base.files import write_atomically
from ..drafting.files import add_cases
from ..drafting.from_traces import draft_cases
from ..drafting.known import Known, asked
from ..drafting.spans import TraceProblem, read_spans
from ..drafting.traces import calls_of
from ..errors import MetricError
from ..io.edit import raw_cases
from ..io.golden.load import load_golden
from ..io.importers import export_cases, formats, import_cases
from ..io.importers.golden import golden_text
from ..io.importers.imported import ImportedSuite, ImportProblem
from ..io.importers.rows import write_lines
from ..metrics.registry import import_object
from ..reporting.numbers import plural
from .arguments import add_shared, existing_path, whole_number
from .common import (
    PASSED,
    Offered,
    UsageError,
    check_golden_name,
    is_ascii_output,
    known_samples,
    load_suite,
    print_notes,
    registry_of,
)

_TRACES = {"otel": "traces of OpenTelemetry (OTLP as JSON, or a span a line), as drafts"}
"""The format of traces, and what it is called."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    known = formats()
    titles = {**{name: fmt.title for name, fmt in known.items()}, **_TRACES}
    listed = "; ".join(f"{name}: {title}" for name, title in titles.items())
    parser.add_argument("path", type=existing_path, metavar="PATH", help="the file or directory to read")
    direction = parser.add_mutually_exclusive_group(required=True)
    direction.add_argument(
        "--from", dest="source", choices=Offered(titles), metavar="FORMAT", help=f"read PATH as {listed}"
    )
    target = "read PATH, a golden file, and write FORMAT"
    direction.add_argument("--to", dest="target", choices=Offered(known), metavar="FORMAT", help=target)
    parser.add_argument("-o", "--output", type=Path, help="what to write; without it, golden YAML is printed")
    answers = "write the answers that PATH has recorded, for auepora score"
    parser.add_argument("--answers", type=Path, metavar="FILE.jsonl", help=answers)
    parser.add_argument("--topics", type=Path, metavar="FILE", help="trec: the file of the queries")
    parser.add_argument("--split", help="beir: which qrels (test)")
    parser.add_argument("--texts", action="store_true", help="beir: also import the texts of the judged documents")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    add_shared(parser, "--metrics")
    of_traces = parser.add_argument_group("otel", "drafts from traces")
    add = of_traces.add_argument
    redact = "function that redacts a text, or the hook pytest_auepora_redact: file.py:name; called before all else"
    by = "slice the questions by model, feedback, tag, or an attribute of the trace's root span"
    add("--redact", metavar="FILE:FUNCTION", help=redact)
    add("--no-redact", action="store_true", help="take the texts as they are")
    add("--by", default="", metavar="ATTRIBUTE", help=by)
    add("--per-slice", type=whole_number(1), metavar="N", help="how many questions of each slice are drawn (all)")
    add_shared(of_traces, "--known", "--seed")


def run(args: argparse.Namespace) -> int:
    """Convert, write or print, and report on standard error what was dropped."""
    if args.source in _TRACES:
        return _import_traces(args)
    options = {k: v for k in ("topics", "split", "texts") if (v := getattr(args, k))}
    return _export(args, options) if args.target else _import(args, options)


def _import(args: argparse.Namespace, options: dict[str, Any]) -> int:
    """Write or print a golden file; a written file that needs mending by hand stays, and its problems are raised."""
    path, output = args.path, args.output
    if output is not None and output.suffix.lower() not in (".yaml", ".yml"):
        raise UsageError(f"{output}: a golden file ends in .golden.yaml")
    _check_free(args)
    suite = import_cases(path, args.source, **options)
    if not suite.cases:
        raise ImportProblem(f"{path}: no case was found. Dropped: {'; '.join(suite.dropped) or 'nothing'}")
    if args.answers is not None and not suite.answers:
        raise UsageError(f"--answers {args.answers}: there is no recorded answer in {path}")
    if args.answers is None and suite.answers:
        suite.dropped.append(f"{plural(len(suite.answers), 'recorded answer')}: --answers FILE.jsonl keeps them")
    text = golden_text(suite, progress=None, ascii_only=output is None and is_ascii_output())
    summary = f"{plural(len(suite.cases), 'case')} from {path}"
    if output is None:
        print(text, end="")
    else:
        write_atomically(output, text)
        load_golden(output)  # a file that cannot be read fails here, not in the first run
        summary += f" to {output}"
    if args.answers is not None:
        write_lines(args.answers, suite.answers)
        summary += f"; {plural(len(suite.answers), 'recorded answer')} to {args.answers}"
    print_notes(suite.dropped, summary, suite.notes)
    return PASSED


def _export(args: argparse.Namespace, options: dict[str, Any]) -> int:
    if args.output is None:
        raise UsageError("--to needs --output")
    _check_free(args)
    options.pop("texts", None)
    suite = load_suite(args.path, registry_of(args.metrics))
    dropped = export_cases(suite, args.output, args.target, **options)
    print_notes(dropped, f"{plural(len(suite.cases), 'case')} from {args.path} to {args.output}")
    return PASSED


def _check_free(args: argparse.Namespace) -> None:
    for path in (args.output, args.answers):
        if path is not None and path.exists() and not args.force:
            raise UsageError(f"{path} exists; --force overwrites it")


def _import_traces(args: argparse.Namespace) -> int:
    """Append the drafts to the golden file, or print them; say what was left out."""
    output = args.output
    if output is not None:
        check_golden_name(output)
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
