"""Several systems on one golden set, as columns: which is best at what, by how much, and whether that can be told.

Plain data; `side_by_side_text`, `side_by_side_markdown` and `side_by_side_data` show it.  The first column is the
one that the others are held against.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...core.run import CaseResult, CaseState, MetricInfo, Run
from ...errors import NotComparableError
from ...history.baselines import as_baseline
from ...metrics.registry import Registry
from ...regression.compare.comparability import incomparable_metrics
from ...regression.statistics.intervals import Difference, Standing
from ..numbers import plural
from .figures import Measured, figures_of, measured

Mark = Literal["best", "not distinguishable from the best", ""]

CONFIDENCE = 0.95
"""Of all intervals of one metric together."""


@dataclass(frozen=True, slots=True)
class Column:
    """One system.  The counts are over all its cases; rows are over those that every system has."""

    name: str
    title: str
    cases: int
    passed: int
    failed: int
    errored: int
    skipped: int


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one system.

    Attributes:
        value: over the cases of the row; None where nothing was measured, or nothing that compares.
        difference: value - that of the first column; None in the first column and where they do not compare.
        standing: what that difference amounts to, in the metric's direction.
        mark: whether it is the best of its row, or cannot be told from it.
        note: why it has no value or does not compare.
    """

    value: float | None
    difference: Difference | None = None
    standing: Standing | None = None
    mark: Mark = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One metric: *n* of the cases that all systems have were measured in every column that compares.

    ``info`` is None for ``pass_rate``, which is no metric of the suite: the share of cases that passed.
    """

    name: str
    info: MetricInfo | None
    n: int
    figures: tuple[Figure, ...]

    @property
    def direction(self) -> str:
        """Which values are better."""
        return self.info.direction if self.info is not None else "higher"

    @property
    def is_idle(self) -> bool:
        """Whether nobody needs to see it: the rate of empty results where there are none."""
        return self.name == "empty_result_rate" and not any(figure.value for figure in self.figures)

    @property
    def is_tied(self) -> bool:
        """Whether all systems are the best, so that marking them says nothing."""
        return all(figure.mark == "best" for figure in self.figures)

    @property
    def owner(self) -> str:
        """Who answers for the metric, where that is known."""
        return self.info.owner if self.info is not None else ""


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in every system; the state is None and scores are missing where a system did not run it."""

    case_id: str
    query: str
    where: str
    states: tuple[CaseState | None, ...]
    scores: tuple[dict[str, float | None], ...]

    @property
    def differs(self) -> bool:
        """Whether some systems pass the case and others do not."""
        return len({state == "passed" for state in self.states if state not in (None, "skipped")}) > 1


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several systems on one suite.

    Attributes:
        shared: how many cases every system ran, in the same wording.
        rows: ``pass_rate``, then the metrics in the suite's order.
        cases: every case that any system ran, in the suite's order.
        notes: what was left out, and why.
    """

    suite: str
    path: str
    owner: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cases: tuple[CaseRow, ...]
    shared: int
    notes: tuple[str, ...] = ()
    confidence: float = CONFIDENCE

    def row(self, name: str) -> Row | None:
        """Return the row of a metric."""
        return next((row for row in self.rows if row.name == name), None)


def side_by_sides(runs: Sequence[Run], *, registry: Registry | None = None) -> list[SideBySide]:
    """Return one for each suite that several of *runs* are of, their configurations in the order of *runs*."""
    by: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        by.setdefault((run.path, run.suite), []).append(run)
    return [side_by_side(group, registry=registry) for group in by.values() if len(group) > 1]


def side_by_side(
    runs: Sequence[Run], *, names: Sequence[str] | None = None, registry: Registry | None = None
) -> SideBySide:
    """Hold *runs* of one suite against each other; the first is what the others are compared with.

    An errored case counts as a metric's worst value.  The intervals of a metric hold together: each is widened for
    the number of systems it is compared with.

    Args:
        runs: two or more.
        names: what to call them; by default their configurations.
        registry: the metrics, for those whose aggregate is no mean; by default those of this package.

    Raises:
        NotComparableError: fewer than two runs, or runs of different suites.
    """
    if len(runs) < 2:
        raise NotComparableError(f"{plural(len(runs), 'run')} cannot stand side by side; give two or more")
    if len(suites := sorted({run.suite for run in runs})) > 1:
        raise NotComparableError(f"runs of different suites do not compare: {', '.join(suites)}")
    shared, notes = _shared(runs)
    apart = [{}, *(incomparable_metrics(run, as_baseline(runs[0])) for run in runs[1:])]
    alpha = (1.0 - CONFIDENCE) / (len(runs) - 1)
    rows: list[Row] = []
    said: dict[str, list[str]] = {}
    for name in ("pass_rate", *dict.fromkeys(n for run in runs for n in run.metrics)):
        seen = measured(name, runs, shared, [why.get(name, "") for why in apart], registry or Registry())
        if seen.is_unknown:
            said.setdefault("the metric is not known here, nor how to aggregate it", []).append(name)
        elif any(seen.values):
            rows.append(_row(name, seen, alpha))
            if seen.lacking:
                said.setdefault(f"{plural(seen.lacking, 'case')} not measured by all, left out", []).append(name)
    for run, reasons in zip(runs, apart, strict=True):
        for name, why in reasons.items():
            said.setdefault(f"not comparable in {run.title} ({why})", []).append(name)
    notes += [f"{', '.join(of)}: {what}" for what, of in said.items()]
    columns = [_column(run, name) for run, name in zip(runs, _names(runs, names), strict=True)]
    return SideBySide(
        runs[0].suite, runs[0].path, runs[0].owner, tuple(columns), tuple(rows), _cases(runs), len(shared), tuple(notes)
    )


def _row(name: str, seen: Measured, alpha: float) -> Row:
    found = figures_of(seen, alpha)
    made = [
        Figure(f.value, f.difference, f.standing, _mark(f.is_best, f.is_near), note)
        for f, note in zip(found, seen.reasons, strict=True)
    ]
    return Row(name, seen.info, len(seen.case_ids), tuple(made))


def _mark(best: bool, near: bool) -> Mark:
    return "best" if best else "not distinguishable from the best" if near else ""


def _shared(runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Return the cases that every run has, not skipped and in the same wording, and what is to be said of others."""
    out, left = [], Counter[str]()
    for case_id in _ids(runs):
        found = [run.cases.get(case_id) for run in runs]
        if any(case is None for case in found):
            left["not run by all"] += 1
        elif any(case.state == "skipped" for case in found if case is not None):
            left["skipped"] += 1
        elif len({case.content_hash for case in found if case is not None}) > 1:
            left["edited between the runs"] += 1
        else:
            out.append(case_id)
    notes = [f"{plural(n, 'case')} {why}: left out of the figures" for why, n in left.items()]
    return out, notes


def _ids(runs: Sequence[Run]) -> list[str]:
    return list(dict.fromkeys(case_id for run in runs for case_id in run.cases))


def _cases(runs: Sequence[Run]) -> tuple[CaseRow, ...]:
    return tuple(_case(case_id, [run.cases.get(case_id) for run in runs]) for case_id in _ids(runs))


def _case(case_id: str, found: Sequence[CaseResult | None]) -> CaseRow:
    first = next(case for case in found if case is not None)
    scores = [{n: _finite(s.value) for n, s in case.scores.items()} if case is not None else {} for case in found]
    states = tuple(case.state if case is not None else None for case in found)
    return CaseRow(case_id, first.query, first.where, states, tuple(scores))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _column(run: Run, name: str) -> Column:
    states = Counter(case.state for case in run.cases.values())
    return Column(
        name, run.title, len(run.cases), states["passed"], states["failed"], states["error"], states["skipped"]
    )  # fmt: skip


def _names(runs: Sequence[Run], names: Sequence[str] | None) -> list[str]:
    """Return different names: two runs of one configuration are told apart by a number."""
    wanted = list(names) if names is not None else [run.variant or run.suite for run in runs]
    seen = Counter[str]()
    out = []
    for name in wanted:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
