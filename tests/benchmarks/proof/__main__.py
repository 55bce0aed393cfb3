"""The page of proof by one command, without a network: every table that it has, computed anew.

    python -m tests.benchmarks.proof --write docs/pages/proof.md
    python -m tests.benchmarks.proof --check docs/pages/proof.md

Everything but times is seeded or counted, so that the second command, which compares, finds the same figures.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..verdict.verdict_rates import SHARED
from . import cost, exactness, gates, people

__all__ = ["main"]

VARYING = "times"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, put them into a page, or compare them with a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="TABLE", help="gates, people, exactness, calls, times")
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    to = parser.add_mutually_exclusive_group()
    to.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    to.add_argument("--check", type=Path, metavar="PAGE", help="say which figures of this page differ; not of times")
    given = parser.parse_args(arguments)
    tables: dict[str, Callable[[], Iterable[str]]] = {
        "people": lambda: people.table(given.data),
        "exactness": lambda: exactness.table(given.data),
        "calls": lambda: cost.calls(given.data),
        "gates": lambda: gates.tables(given.data),
        VARYING: cost.times,
    }
    if unknown := set(given.only) - set(tables):
        parser.error(f"there is no table {', '.join(sorted(unknown))}; there are {', '.join(tables)}")
    page = given.check or given.write
    text = page.read_text(encoding="utf-8") if page else ""
    differs = False
    for name in given.only or [name for name in tables if name != VARYING or not given.check]:
        table = "\n".join(tables[name]()).strip()
        if given.write:
            now = given.write.read_text(encoding="utf-8")  # a table takes minutes, in which somebody may edit the page
            given.write.write_text(filled(now, name, table), encoding="utf-8")
        elif given.check:
            differs |= _differs(name, table_of(text, name), table)
        else:
            print(f"## {name}\n\n{table}\n", flush=True)
    return int(differs)


def _place(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- table: {name} -->\n)((?:(?!<!-- end -->).)*)", re.DOTALL)


def table_of(text: str, name: str) -> str:
    """Return the table called *name* of a page."""
    found = _place(name).search(text)
    if found is None:
        raise SystemExit(f"the page has no place for the table {name}: <!-- table: {name} -->, a table, <!-- end -->")
    return found.group(1).strip()


def filled(text: str, name: str, table: str) -> str:
    """Return the page with this table in the place of its name."""
    table_of(text, name)
    return _place(name).sub(lambda _: f"\n{table}\n\n", text)


def _differs(name: str, before: str, now: str) -> bool:
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "the page", "computed now", lineterm=""))
    print(f"{name}: {'differs' if lines else 'the same figures'}", *lines, sep="\n", flush=True)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
