"""The rates of the rows, kept in a file, and tables of them in Markdown with a column for each size of a suite."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_auepora.base.files import write_atomically

from .other_rules import RULES

REAL, MADE_UP = "real answers", "scores of our own making"
UNCHANGED, CHANGED, BETTER = "Nothing got worse", "Something did", "Something got better"
MAIN, BROKEN = "sampling model", "sampling model, one case broken"
TENTH, FIFTH = "sampling model, a tenth of the cases lost", "sampling model, a fifth of the cases lost"
COMPARED = {"unchanged": MAIN, "one case broken": BROKEN, "a tenth lost": TENTH, "a fifth lost": FIFTH}
"""The rows of which other rules are counted too, by their short names."""


class Rates(NamedTuple):
    """What all runs of a row came to.

    Attributes:
        baselines, runs: how many baselines were accepted, and how many runs there were against each.
        red: share of the red runs; ``error`` is its standard error, baselines being drawn.
        unlucky: the 95th percentile over baselines of the same share.
        by_case, by_suite: share of runs red by a case, by the suite.
        words: the share of each word.
        calls, most_calls: further answers, the mean and the 95th percentile of runs.
        asked: answers that an update asks for.
        others: share of the runs that would be red by each of `RULES`.
    """

    baselines: int
    runs: int
    red: float
    error: float
    unlucky: float
    by_case: float
    by_suite: float
    words: dict[str, float]
    calls: float
    most_calls: float
    asked: float
    others: Sequence[float]


Found = Mapping[tuple[str, str], Mapping[int, Rates]]
"""The rates by heading, name of the row, and size."""


class Kept:
    """The rates of all rows, whose headings and names are in *order*; in a *file*, if any, that is continued."""

    def __init__(self, file: Path | None, order: Sequence[tuple[str, str]]) -> None:
        self._file, self._order = file, order
        self._found: dict[tuple[str, str, str], dict[int, Rates]] = {}
        for source, heading, name, n, rates in json.loads(file.read_text("utf-8")) if file and file.exists() else ():
            self._found.setdefault((source, heading, name), {})[n] = Rates(*rates)

    def has(self, key: tuple[str, str, str], n: int) -> bool:
        """Whether a size was counted of the row of this source, heading and name."""
        return n in self._found.get(key, ())

    def add(self, key: tuple[str, str, str], n: int, rates: Rates) -> None:
        """Add what one size of a row came to."""
        print(*key, n, rates, file=sys.stderr, flush=True)
        self._found.setdefault(key, {})[n] = rates
        if self._file:
            every = [(*key, n, rates) for key, of_row in self._found.items() for n, rates in of_row.items()]
            write_atomically(self._file, json.dumps(every, indent=0))

    def of(self, source: str) -> Found:
        """Return the rates of one source, in the order of the rows."""
        return {row: found for row in self._order if (found := self._found.get((source, *row)))}


def pages(kept: Kept, seed: int) -> list[str]:
    """Return the tables: all of the real answers; of scores that are made up, where both were counted, the rates."""
    real, made_up = kept.of(REAL), kept.of(MADE_UP)
    out = [*_counted(real or made_up, seed), *([] if real else ["Scores are made up.", ""])]
    out += [f"## {UNCHANGED}", "", *_red(real or made_up, UNCHANGED), *_page(real or made_up)]
    if real and made_up:
        out += ["## The same with scores of our own making", "", *_counted(made_up, seed)]
        out += [line for heading in (UNCHANGED, CHANGED, BETTER) for line in _red(made_up, heading)]
    return out


def _counted(found: Found, seed: int) -> list[str]:
    """Say how much was simulated."""
    sizes: dict[str, list[str]] = {}
    for n in _sizes(found):
        rows = [of_row[n] for of_row in found.values() if n in of_row and of_row[n].runs > 1]
        counts = sorted({rates.baselines for rates in rows})
        runs = max((rates.runs for rates in rows), default=1)
        said = " to ".join(dict.fromkeys(map(str, (counts[0], counts[-1])))) if counts else "no"
        sizes.setdefault(f"{said} baselines a row with {runs} runs each", []).append(str(n))
    told = "; ".join(f"n = {', '.join(of)}: {said}" for said, of in sizes.items())
    return [
        f"{told}. A fifth of the runs",
        "where something changed; four times the baselines, with one run each, where all runs against one are alike.",
        f"Seed {seed}.",
        "",
    ]


def _red(found: Found, heading: str) -> list[str]:
    """Return the table of the red runs under a *heading*."""
    if heading == UNCHANGED:
        head = "nothing got worse: **red** ± standard error (95th percentile over baselines)"
        return _table(head, found, _rows(found, heading, _with_error))
    head = "something did: **red**" if heading == CHANGED else "something got better: **red**"
    return _table(head, found, _rows(found, heading, lambda r: f"{r.red:.1%}"))


def _with_error(rates: Rates) -> str:
    unlucky = f" ({rates.unlucky:.0%})" if rates.runs > 1 else ""
    return f"{rates.red:.1%} ± {rates.error:.1%}{unlucky}"


def _page(found: Found) -> list[str]:
    """Return all tables but the first."""

    def share_of(word: str) -> Callable[[Rates], str]:
        return lambda rates: f"{rates.words.get(word, 0):.0%}"

    def share_by(rule: int) -> Callable[[Rates], str]:
        return lambda rates: f"{rates.others[rule]:.0%}"

    by_name = {name: of_row for (_, name), of_row in found.items()}
    out = _table("*inconclusive*", found, _rows(found, UNCHANGED, share_of("inconclusive")))
    by = _rows(found, CHANGED, lambda r: f"{r.by_case:.0%}, {r.by_suite:.0%}")
    out += [f"## {CHANGED}", "", *_red(found, CHANGED), *_table("red by a case, red by the suite", found, by)]
    out += [
        f"## {BETTER}",
        "",
        *_red(found, BETTER),
        *_table("*better*", found, _rows(found, BETTER, share_of("better"))),
    ]
    if MAIN in by_name:
        calls = "further answers in an unchanged run: mean (95th percentile)"
        out += ["## What it costs", "", *_table("sampling model", found, {
            "answers that an update asks for": _cells(found, by_name[MAIN], lambda r: f"{r.asked:.0f}"),
            calls: _cells(found, by_name[MAIN], lambda r: f"{r.calls:.1f} ({r.most_calls:.0f})"),
        })]  # fmt: skip
    if all(name in by_name for name in COMPARED.values()):
        out += ["## What else a team would use", ""]
        for short, name in COMPARED.items():
            rules = {"**`pytest --auepora`**": _cells(found, by_name[name], lambda r: f"**{r.red:.0%}**")}
            for i, rule in enumerate(RULES):
                rules[(rule.__doc__ or "").strip()] = _cells(found, by_name[name], share_by(i))
            out += _table(f"sampling model, {short}: red", found, rules)
    return out


def _rows(found: Found, heading: str, cell: Callable[[Rates], str]) -> dict[str, list[str]]:
    """Return the cells of the rows under a *heading*, by name."""
    return {name: _cells(found, of_row, cell) for (of, name), of_row in found.items() if of == heading}


def _cells(found: Found, of_row: Mapping[int, Rates], cell: Callable[[Rates], str]) -> list[str]:
    """Return the cells of one row, empty where a size was not counted."""
    return [cell(of_row[n]) if n in of_row else "" for n in _sizes(found)]


def _sizes(found: Found) -> list[int]:
    """Return the sizes that any row was counted for."""
    return sorted({n for of_row in found.values() for n in of_row})


def _table(head: str, found: Found, lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a Markdown table with a column a size."""
    sizes = _sizes(found)
    out = [f"| {head} | {' | '.join(f'n = {n}' for n in sizes)} |", f"|---|{'--:|' * len(sizes)}"]
    return [*out, *(f"| {name} | {' | '.join(cells)} |" for name, cells in lines.items()), ""]
