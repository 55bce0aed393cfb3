"""``auepora merge BASE OURS THEIRS``: a merge driver of git for baselines; the result is written to OURS."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..base.files import read_text, write_atomically
from ..base.text import names_words
from ..errors import BaselineError
from ..regression.baseline import Baseline
from ..regression.baseline_file import parse_baseline
from ..regression.merge_baselines import Merged, merge_baselines
from ..reporting.numbers import plural
from ..reporting.text import harmless
from .arguments import existing_path
from .common import FAILED, PASSED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command, in the order in which git gives them: %O %A %B %P."""
    for name, what in (("base", "what both sides began with"), ("ours", "this side; the result is written here"),
                       ("theirs", "the other side")):  # fmt: skip
        parser.add_argument(name, type=existing_path, metavar=name.upper(), help=what)
    parser.add_argument("name", nargs="?", metavar="NAME", help="the baseline's path, for messages")


def run(args: argparse.Namespace) -> int:
    """Merge, say what was taken, and fail where something has to be accepted anew."""
    name = args.name or str(args.ours)
    base, ours, theirs = (_read(path, name) for path in (args.base, args.ours, args.theirs))
    if ours is None or theirs is None:
        raise BaselineError(f"{name}: nothing to merge, as a side is empty")
    if (ours.suite, ours.variant) != (theirs.suite, theirs.variant):
        raise BaselineError(f"{name}: the sides are baselines of two suites, {ours.suite!r} and {theirs.suite!r}")
    merged = merge_baselines(base, ours, theirs)
    write_atomically(args.ours, merged.baseline.dumps())
    print(harmless(f"{name}: {_told(merged)}"), file=sys.stderr)
    return FAILED if merged.anew else PASSED


def _read(path: Path, name: str) -> Baseline | None:
    text = read_text(path, BaselineError)
    return parse_baseline(text, name) if text.strip() else None


def _told(merged: Merged) -> str:
    told = [f"{plural(len(merged.taken), 'case')} of the other side taken"]
    if merged.differing:
        told.append(f"measured differently on both sides: {', '.join(merged.differing)}")
    if merged.anew:
        cases = plural(len(merged.anew), "case")
        told.append(
            f"{cases} to be accepted anew ({names_words(merged.anew)}): `pytest --auepora-update=new`, then git add"
        )
    return "; ".join(told)
