"""``auepora schema``: JSON Schemas, of golden files for editors, of reports for programs."""

from __future__ import annotations

import argparse
import json

from ..io.golden.fields import golden_schema
from .common import PASSED, write_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "schema", nargs="?", choices=("golden", "report", "side-by-side"), default="golden",
        help="golden files (default), JSON reports, or what auepora compare prints of several runs",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    schema = golden_schema
    if args.schema != "golden":
        from ..reporting.formats.json_report import report_schema, side_by_side_schema

        schema = report_schema if args.schema == "report" else side_by_side_schema
    write_output(f"{json.dumps(schema(), indent=1, ensure_ascii=False)}\n", None)
    return PASSED
