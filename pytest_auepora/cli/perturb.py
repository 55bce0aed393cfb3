"""``auepora perturb GOLDEN``: variants of golden queries with typos, other casing or punctuation."""

from __future__ import annotations

import argparse
import sys

from ..core.files import write_atomically
from ..io.edit import perturbed
from ..io.perturb import OPERATIONS
from .common import PASSED, to_read

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("golden", type=to_read, metavar="GOLDEN", help="the golden file")
    parser.add_argument(
        "--operation", action="append", choices=OPERATIONS, help="what is done to the queries (repeatable; typo)"
    )
    parser.add_argument("--count", type=int, default=3, metavar="N", help="variants of each case and operation (3)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="another number, other variants (0)")
    parser.add_argument("--write", action="store_true", help="append them to the file; else they are only printed")


def run(given: argparse.Namespace) -> int:
    """Print the new cases, or append them to the file for review."""
    made = perturbed(given.golden, given.operation or ["typo"], count=given.count, seed=given.seed)
    if given.write and made.ids:
        write_atomically(given.golden, made.text)
    if not given.write:
        print(made.block, end="")
    print(f"{len(made.ids)} variants{' appended; review them' if given.write and made.ids else ''}", file=sys.stderr)
    return PASSED
