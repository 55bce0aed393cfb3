"""``auepora import PATH --from FORMAT``: another tool's data set to a golden file; with ``--to`` the other way.

``--from otel`` makes drafts of traces, as `import_traces` says.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..base.files import write_atomically
from ..io.golden.load import load_golden
from ..io.importers import export_cases, formats, import_cases
from ..io.importers.golden import golden_text
from ..io.importers.imported import ImportProblem
from ..io.importers.rows import write_lines
from ..reporting.numbers import plural
from .arguments import add_shared, existing_path
from .common import PASSED, Offered, UsageError, is_ascii_output, load_suite, print_notes, registry_of
from .drafting.import_traces import TITLE, add_trace_arguments, import_traces


def add_arguments(parser: argparse.ArgumentParser) -> None:
    known = formats()
    titles = {**{name: fmt.title for name, fmt in known.items()}, **TITLE}
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
    add_trace_arguments(parser)
    add_shared(parser, "--metrics")


def run(args: argparse.Namespace) -> int:
    """Convert, write or print, and report on standard error what was dropped."""
    if args.source in TITLE:
        return import_traces(args)
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
