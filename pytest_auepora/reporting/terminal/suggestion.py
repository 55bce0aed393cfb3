"""A suggestion for people: the noise of each metric as a table, and what to know about it."""

from __future__ import annotations

from ...core.run import Run
from ...regression.suggest import Suggestion
from ...regression.verdict import Verdict
from ..notes import flaky_line
from ..numbers import number, percent, plural
from ..text import listed
from .layout import Cell, Column, Line, table

_COLUMNS = (
    Column("metric", least=12),
    Column("mean", right=True),
    Column("n", right=True),
    Column("sd in a case", right=True),
    Column("sd of the mean", right=True),
    Column("vary", right=True),
    Column("suggested", right=True),
)


def noise_table(found: Suggestion, *, width: int = 80, ascii_only: bool = False) -> list[Line]:
    """Return one row per metric: its mean, its noise between repeats, and the threshold suggested for it."""
    rows = [
        [
            Cell(m.name), Cell(number(m.mean)), Cell(str(m.n)), Cell(number(m.within)), Cell(number(m.of_mean(), 4)),
            Cell(percent(m.varied)), Cell(str(found.bound(m.name) or "")),
        ]
        for m in found.noise
    ]  # fmt: skip
    return table(_COLUMNS, rows, width, ascii_only=ascii_only) if rows else []


def suggestion_notes(run: Run, verdict: Verdict, found: Suggestion) -> list[str]:
    """Return what it was learned from, and what no threshold mends."""
    out = [f"learned from {plural(found.repeats, 'answer')} to each of {plural(len(run.cases), 'case')}"]
    if errors := sum(case.state == "error" for case in run.cases.values()):
        out.append(f"{plural(errors, 'case')} errored and could teach nothing")
    if found.repeats < 2:
        out.append("one answer to each shows no noise: ask more often with --auepora-repeat")
    if told := flaky_line(verdict):
        out.append(f"{' '.join(told.split())}; fix them, or quarantine them for a while")
    if found.by_chance:
        told = "assert what every right answer says, or let `assertions: report` judge them over all cases"
        out.append(f"assertions that hold in some answers only: {listed(found.by_chance, 5)}; {told}")
    if found.missed:
        out.append(f"missed, and not by noise, so left as they are: {', '.join(found.missed)}")
    if found.too_noisy:
        out.append(f"missed by noise now and then, and no bound leaves room for it: {', '.join(found.too_noisy)}")
    if found.tolerant:
        out.append(f"policy: tolerance takes noise for loss: {', '.join(found.tolerant)}; policy: auto does not")
    return out
