"""A suggestion for people: the noise of each metric as a table, and the settings as YAML to paste."""

from __future__ import annotations

import json
import re

from ...core.run import Run
from ...regression.suggest import Suggestion
from ...regression.verdict import Verdict
from ..notes import flaky_line
from ..numbers import number, percent, plural
from .layout import Cell, Column, Line, table

__all__ = ["noise_table", "patch_text"]

_COLUMNS = (
    Column("metric", least=12),
    Column("mean", right=True),
    Column("n", right=True),
    Column("within-case sd", right=True),
    Column("sd of the mean", right=True),
    Column("flipping cases", right=True),
)
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w@.]*")


def noise_table(found: Suggestion, *, width: int = 80, ascii_only: bool = False) -> list[Line]:
    """Return one row per metric: its mean and its noise between repeats."""
    rows = [
        [
            Cell(m.name), Cell(number(m.mean)), Cell(str(m.n)), Cell(number(m.within)), Cell(number(m.of_mean(), 4)),
            Cell(percent(m.flips)),
        ]
        for m in found.noise
    ]  # fmt: skip
    return table(_COLUMNS, rows, width, ascii_only=ascii_only) if rows else []


def patch_text(run: Run, verdict: Verdict, found: Suggestion) -> str:
    """Return the settings as keys of a golden file, each with its reason; valid YAML by itself."""
    asked = f"{plural(found.repeats, 'answer')} to each of {plural(len(run.cases), 'case')}"
    lines = [f"# {run.path}: learned from {asked}; a key that the file has already is to be replaced"]
    if errors := sum(c.state == "error" for c in run.cases.values()):
        lines.append(f"# {plural(errors, 'case')} errored and could teach nothing")
    if told := flaky_line(verdict):
        lines.append(f"# {' '.join(told.split())}; fix them, or quarantine them for a while")
    if found.repeats < 2:
        lines.append("# one answer to each shows no noise: ask more often with --auepora-repeat")
    elif found.repeat > 1:
        lines.append(f"repeat: {found.repeat}")
    elif any(m.within for m in found.noise):
        lines.append("repeat: 1  # what varied would take more repeats than anybody waits for")
    else:
        lines.append("repeat: 1  # nothing varied between repeats")
    if found.thresholds:
        lines.append("thresholds:")
    by_name = {m.name: m for m in found.noise}
    for name, (op, limit) in found.thresholds.items():
        metric = by_name[name]
        spread = f", sd {number(metric.of_mean(found.repeat), 4)} from run to run" if metric.within else ""
        lines.append(f"  {_key(name)}: {{{op}: {limit:g}}}  # mean {number(metric.mean, 4)}{spread}")
    if found.metrics:
        lines += ["regression:", "  metrics:"]
    for name, own in found.metrics.items():
        said = ", ".join(f"{key}: {value}" for key, value in own.items())
        why = "  # too noisy to judge" if own.get("policy") == "report" else ""
        lines.append(f"    {_key(name)}: {{{said}}}{why}")
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) else json.dumps(name)
