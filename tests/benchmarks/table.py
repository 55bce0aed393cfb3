"""What the plugin costs beside pytest, and the metrics beside other people's: one command, one table.

    python -m tests.benchmarks.table [--quick] [--only WORD ...] [--also PYTHON ...]

Each row measures ours and what it is compared with in turns, so that a busy machine disturbs both alike, and
shows medians and their ratio.  Whole processes are measured by the processor time they took (the wall clock where
waiting is the point), with byte code cached as it is for every user.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from . import library_rows, model_rows, parallel_rows, peer_rows, process_rows, waiting_rows
from .measuring import FLOOR, PEER, LeftOut, ProcessError, Row

__all__ = ["main"]


@dataclass(frozen=True)
class _Printed:
    row: Row
    ours: float
    floor: float

    def __str__(self) -> str:
        row = self.row
        ratio = self.floor / self.ours if row.goal.startswith(">=") else self.ours / self.floor
        mark = ""
        if row.goal not in (PEER, FLOOR):
            limit = float(row.goal.split()[1])
            mark = "ok" if (ratio <= limit if row.goal.startswith("<=") else ratio >= limit) else "MISSED"
        numbers = f"{self.ours:>10.4g} {self.floor:>10.4g}  {ratio:>7.2f}"
        return f"{row.title:<58} {numbers}  {row.goal:<9} {mark:<7} {row.unit}, against {row.against}"


def rows(folder: Path, *, quick: bool, also: Sequence[str] = ()) -> Iterator[Callable[[], Row]]:
    """Yield what makes each row; a row whose peer is not installed says so and is left out."""
    yield from process_rows.rows(folder, quick=quick)
    yield from waiting_rows.rows(folder)
    yield from parallel_rows.rows(folder, quick=quick)
    yield from peer_rows.rows(folder, also)
    yield from library_rows.rows(quick=quick)
    yield from model_rows.rows(quick=quick)


def _measured(row: Row, times: int) -> _Printed:
    if not row.at_most:
        row.ours(), row.other()  # byte code, file cache, memoised stems: what the second run of anybody has
    rounds = range(min(times, row.at_most or times))
    ours, floor = zip(*((row.ours(), row.other()) for _ in rounds), strict=True)
    return _Printed(row, median(ours), median(floor))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repetitions")
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD", help="rows whose title has one of the words")
    parser.add_argument("--repeat", type=int, metavar="N", help="measure each side N times (5; quick: 3)")
    parser.add_argument("--also", nargs="*", default=[], metavar="PYTHON", help="interpreters that have more peers")
    options = parser.parse_args(argv)
    if options.repeat is not None and options.repeat < 1:
        parser.error(f"--repeat {options.repeat}: expected 1 or more")
    times = options.repeat or (3 if options.quick else 5)
    print(f"{'':<58} {'ours':>10} {'other':>10}  {'ratio':>7}  goal")
    shown, others = 0, list[str]()
    with tempfile.TemporaryDirectory() as name:
        for make in rows(Path(name), quick=options.quick, also=options.also):
            title = make.__doc__ or ""
            if options.only and not any(word.lower() in title.lower() for word in options.only):
                others.append(title)
                continue
            shown += 1
            try:
                print(_measured(make(), times), flush=True)
            except ImportError as exc:
                print(f"{title:<58} left out: {exc.name} is not installed")
            except LeftOut as exc:
                print(f"{title:<58} left out: {exc}")
            except ProcessError as exc:
                print(f"{title:<58} left out: {exc.told}")
    if not shown:
        words = " or ".join(map(repr, options.only))
        print(f"no row has {words} in its title; there are:", *others, sep="\n  ", file=sys.stderr)
    return 0 if shown else 2


if __name__ == "__main__":
    sys.exit(main())
