"""``auepora schema``: JSON Schemas, of golden files for editors, of reports for programs."""

from __future__ import annotations

import argparse
import json
from typing import Any

from ..io.golden.fields import golden_schema
from .common import PASSED

_KINDS = ("golden", "report", "side-by-side")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "schema", nargs="?", choices=_KINDS, default="golden",
        help="golden files (default), JSON reports, or what auepora compare prints of several runs",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(_schema(args.schema), indent=1, ensure_ascii=False))
    return PASSED


def _schema(kind: str) -> dict[str, Any]:
    if kind == "golden":
        return golden_schema()
    from ..reporting.formats.json_report import report_schema, side_by_side_schema

    return report_schema() if kind == "report" else side_by_side_schema()
