"""Several systems on one golden set, as columns: which is best at which metric, by how much, with intervals.

Plain data; `side_by_side_formats` shows it.  The first column is the reference of the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ..base.grouping import grouped
from ..base.records import Place, Record
from ..core.metrics_base import Measurement, Metric
from ..core.run import CaseResult, CaseState, MetricInfo, Run
from ..errors import AueporaError, NotComparableError
from ..history.compare import as_baseline
from ..metrics.registry import Registry
from ..regression.compare import comparability_of
from ..regression.guards.interval_guard import aggregate_of
from ..regression.statistics.intervals import Difference, Standing, aggregate_difference, finite, mean_difference
from ..regression.statistics.precision import TIE
from .numbers import plural
from .wording.changes import incomparable_text

Mark = Literal["best", "not distinguishable from the best", ""]

_CONFIDENCE = 0.95
"""Joint confidence of all intervals of one metric."""


@dataclass(frozen=True, slots=True)
class Column(Record):
    """One system.  The counts are over all its cases; rows are over those that every system has."""

    name: str
    """The configuration."""
    title: str
    """Suite, with the configuration in brackets."""
    cases: Place
    """All of its cases."""
    passed: Place
    """Cases that passed."""
    failed: Place
    """Cases that failed."""
    errored: Place
    """Cases that errored."""
    skipped: Place
    """Cases that were skipped."""


@dataclass(frozen=True, slots=True)
class Figure(Record):
    """One metric of one system, over the cases of the row."""

    value: float | None
    """Null where nothing comparable was measured."""
    mark: Mark = ""
    """Whether it is the best of its row."""
    standing: Standing | None = None
    """What the interval of the difference says."""
    difference: Difference | None = None
    """This column - the first; null in the first, and where they do not compare."""
    note: str = ""
    """Why they do not compare."""


@dataclass(frozen=True, slots=True)
class Row(Record):
    """One metric, a figure per system."""

    metric: str
    """A metric of the suite, or pass_rate: the share of cases that passed."""
    direction: str
    """Whether higher or lower is better."""
    owner: str
    """Owner of the metric, if not that of the suite."""
    n: int
    """Cases that all comparable systems have measured."""
    figures: tuple[Figure, ...]
    """One per column."""
    target: str = ""
    """Target category of the Auepora framework; empty for pass_rate."""
    decimals: int = 4
    """Of its values."""

    @property
    def is_idle(self) -> bool:
        """Whether the row says nothing: the rate of empty results where there are none."""
        return self.metric == "empty_result_rate" and not any(figure.value for figure in self.figures)

    @property
    def is_tied(self) -> bool:
        """Whether all systems are the best, so that marks say nothing."""
        return all(figure.mark == "best" for figure in self.figures)


@dataclass(frozen=True, slots=True)
class SystemCase(Record):
    """The result of a case in one system."""

    state: CaseState
    """What became of it."""
    scores: dict[str, float | None]
    """By metric; null where there is no number."""


@dataclass(frozen=True, slots=True)
class CaseRow(Record):
    """One case in every system."""

    case_id: str
    """Its id in the golden file."""
    where: str
    """file:line of the case."""
    differs: bool
    """Whether some systems pass the case and others fail it."""
    systems: tuple[SystemCase | None, ...]
    """One per column; null where the case was not run."""


@dataclass(frozen=True, slots=True)
class SideBySide(Record):
    """Several systems on one suite; numbers are unrounded."""

    suite: str
    """Name of the golden suite."""
    path: str
    """The golden file."""
    owner: str
    """Who answers for the suite."""
    confidence: float
    """Joint level of all intervals of a metric."""
    shared: int
    """Cases with the same wording that every system ran."""
    columns: tuple[Column, ...]
    """The first is the reference of the others."""
    rows: tuple[Row, ...]
    """The pass rate, then the metrics in the suite's order."""
    cases: tuple[CaseRow, ...]
    """All cases that any system ran, in the suite's order."""
    notes: tuple[str, ...]
    """What was left out, and why."""


def side_by_sides(runs: Sequence[Run], *, registry: Registry | None = None) -> list[SideBySide]:
    """Return a comparison for each suite with several *runs*, its columns in the order of *runs*."""
    suites = grouped(((run.path, run.suite), run) for run in runs)
    return [side_by_side(group, registry=registry) for group in suites.values() if len(group) > 1]


def side_by_side(
    runs: Sequence[Run], *, names: Sequence[str] | None = None, registry: Registry | None = None
) -> SideBySide:
    """Compare *runs* of one suite; the first is the reference of the others.

    An errored case counts as a metric's worst value.  The intervals of a metric hold jointly: each is widened for the
    number of compared systems.

    Args:
        runs: two or more.
        names: the names of the columns; by default the configurations.
        registry: the metrics, for those whose aggregate is no mean; by default those of this package.

    Raises:
        NotComparableError: fewer than two runs, or runs of different suites.
    """
    if len(runs) < 2:
        raise NotComparableError(f"{plural(len(runs), 'run')} cannot stand side by side; give two or more")
    if len(suites := sorted({run.suite for run in runs})) > 1:
        raise NotComparableError(f"runs of different suites do not compare: {', '.join(suites)}")
    ids = list(dict.fromkeys(case_id for run in runs for case_id in run.cases))
    shared, notes = _shared_cases(runs, ids)
    differing = [{}, *(comparability_of(run, as_baseline(runs[0])).incomparable for run in runs[1:])]
    incomparable = [{name: incomparable_text(why) for name, why in one.items()} for one in differing]
    rows: list[Row] = []
    remarks: list[tuple[str, str]] = []
    for name in ("pass_rate", *dict.fromkeys(n for run in runs for n in run.metrics)):
        table = _metric_table(name, runs, shared, [why.get(name, "") for why in incomparable], registry or Registry())
        if table is None:
            remarks.append(("the metric is not known here, nor how to aggregate it", name))
        elif any(table.values):
            direction, owner = (info.direction, info.owner) if (info := table.info) is not None else ("higher", "")
            unit = (info.target, info.decimals) if info is not None else ()
            rows.append(Row(name, direction, owner, len(table.case_ids), tuple(_figures(table, direction)), *unit))
            if table.lacking:
                remarks.append((f"{plural(table.lacking, 'case')} not measured by all, left out", name))
    for run, reasons in zip(runs, incomparable, strict=True):
        remarks += [(f"not comparable in {run.title} ({why})", name) for name, why in reasons.items()]
    notes += [f"{', '.join(metric_names)}: {remark}" for remark, metric_names in grouped(remarks).items()]
    columns = []
    column_names = names if names is not None else [run.variant or run.suite for run in runs]
    for run, name in zip(runs, distinct_names(column_names), strict=True):
        states = Counter(case.state for case in run.cases.values())
        counts = (states[state] for state in ("passed", "failed", "error", "skipped"))
        columns.append(Column(name, run.title, len(run.cases), *counts))
    cases = tuple(_case_row(case_id, [run.cases.get(case_id) for run in runs]) for case_id in ids)
    suite_fields = runs[0].suite, runs[0].path, runs[0].owner
    return SideBySide(*suite_fields, _CONFIDENCE, len(shared), tuple(columns), tuple(rows), cases, tuple(notes))


def _shared_cases(runs: Sequence[Run], ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the cases that every run has, not skipped and in the same wording, and notes on the others."""
    out, left_out = [], Counter[str]()
    for case_id in ids:
        results = [run.cases[case_id] for run in runs if case_id in run.cases]
        if len(results) < len(runs):
            left_out["not run by all"] += 1
        elif any(case.state == "skipped" for case in results):
            left_out["skipped"] += 1
        elif len({case.content_hash for case in results}) > 1:
            left_out["edited between the runs"] += 1
        else:
            out.append(case_id)
    return out, [f"{plural(n, 'case')} {why}: left out of the figures" for why, n in left_out.items()]


def _case_row(case_id: str, results: Sequence[CaseResult | None]) -> CaseRow:
    first = next(case for case in results if case is not None)
    passes = {case.state == "passed" for case in results if case is not None and case.state != "skipped"}
    systems = tuple(
        SystemCase(case.state, {n: finite(s.value) for n, s in case.scores.items()}) if case is not None else None
        for case in results
    )
    return CaseRow(case_id, first.where, len(passes) > 1, systems)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return distinct names: further runs of one configuration get a number."""
    counts = [names[: i + 1].count(name) for i, name in enumerate(names)]
    return [name if n == 1 else f"{name} ({n})" for name, n in zip(names, counts, strict=True)]


@dataclass(frozen=True, slots=True)
class _MetricTable:
    """One metric in every system over the *case_ids* that every comparable system measured.

    ``values`` has each system's measurements by case, ``reasons`` why it does not compare, or an empty string;
    ``metric`` is None where the aggregate is the mean; ``lacking`` counts the cases that only some of them measured.
    """

    info: MetricInfo | None
    values: list[dict[str, Measurement]]
    case_ids: list[str]
    reasons: list[str]
    clusters: dict[str, str]
    metric: Metric | None
    lacking: int

    def aggregate(self, measurements: Sequence[Measurement]) -> float | None:
        """Return the aggregate of *measurements*; None without any."""
        if not measurements:
            return None
        if self.metric is not None:
            return aggregate_of(self.metric, measurements)
        return math.fsum(_value(m) for m in measurements) / len(measurements)

    def difference(self, reference: int, candidate: int) -> Difference:
        """Return the difference of *candidate* from *reference*; a quantile of too few cases has no interval."""
        a, b = self.values[reference], self.values[candidate]
        alpha = (1.0 - _CONFIDENCE) / (len(self.values) - 1)
        if self.metric is None:
            pairs = {i: (_value(a[i]), _value(b[i])) for i in self.case_ids}
            return mean_difference(pairs, self.clusters, alpha=alpha)
        union = self.info is not None and self.info.target == "DIVERSITY"
        measurements = {i: (a[i], b[i]) for i in self.case_ids}
        result = aggregate_difference(self.aggregate, measurements, self.clusters, union=union, alpha=alpha)
        is_reliable = self.metric.aggregate([*a.values()]).details.get("reliable", True)
        return result if is_reliable else replace(result, low=None, high=None)  # too few cases to resample a tail


def _value(measurement: Measurement) -> float:
    assert measurement.value is not None
    return measurement.value


def _metric_table(
    name: str, runs: Sequence[Run], shared: Sequence[str], reasons: list[str], registry: Registry
) -> _MetricTable | None:
    """Return metric *name* of all *runs* over the *shared* cases that each of them measured.

    *reasons* says of each run why the metric does not compare with the first, if it does not.  None for an unknown
    metric whose aggregate is no mean.
    """
    info = next((run.metrics[name] for run in runs if name in run.metrics), None)
    try:
        metric = registry.get(name)
    except AueporaError:  # a metric of a project whose conftest.py is not loaded, or ``pass_rate``
        metric = None
    scores = [s for run in runs for c in run.cases.values() if (s := c.scores.get(name)) is not None]
    if metric is None and any(s.data is not None for s in scores):
        return None
    own_aggregate = metric is not None and type(metric).aggregate is not Metric.aggregate
    if not own_aggregate and all(s.state != "aggregate" for s in scores):
        metric = None  # its aggregate is the mean of the cases' own values
    columns = [_run_measurements(name, run, shared, info, metric) for run in runs]
    for i, (run, column) in enumerate(zip(runs, columns, strict=True)):
        if not column and not reasons[i]:
            reasons[i] = "not measured" if name in run.metrics else "not asked for"
    comparable = [column for column, why in zip(columns, reasons, strict=True) if not why]
    ids = [i for i in shared if comparable and all(i in column for column in comparable)]
    values = [column if why else {i: column[i] for i in ids} for column, why in zip(columns, reasons, strict=True)]
    clusters = {i: runs[0].cases[i].cluster or i for i in ids}
    lacking = len(set[str]().union(*comparable)) - len(ids)
    return _MetricTable(info, values, ids, reasons, clusters, metric, lacking)


def _run_measurements(
    name: str, run: Run, shared: Sequence[str], info: MetricInfo | None, metric: Metric | None
) -> dict[str, Measurement]:
    """Return the measurements by case; an error counts as the worst value of a mean, and has none otherwise."""
    if name == "pass_rate":
        return {i: Measurement(float(run.cases[i].state == "passed")) for i in shared}
    out: dict[str, Measurement] = {}
    for case_id in shared:
        score = run.cases[case_id].scores.get(name)
        if score is None:
            continue
        measurement = score.measurement
        if score.state == "error" and metric is None and info is not None:
            measurement = Measurement(info.worst)
        if measurement is not None and (metric is not None or finite(measurement.value) is not None):
            out[case_id] = measurement
    return out


def _figures(table: _MetricTable, direction: str) -> list[Figure]:
    """Return a figure per system: its value, its difference from the first, whether it is best; several may tie."""
    values = [table.aggregate([*measurements.values()]) for measurements in table.values]
    difference = cache(table.difference)
    comparable = {i: v for i, v in enumerate(values) if v is not None and not table.reasons[i]}
    top = (max if direction == "higher" else min)(comparable.values(), default=0.0)
    best = [i for i, value in comparable.items() if abs(value - top) <= TIE]
    out = []
    for i, (value, note) in enumerate(zip(values, table.reasons, strict=True)):
        if i not in comparable or len(comparable) < 2:
            out.append(Figure(value, note=note))
            continue
        mark: Mark = "best" if i in best else ""
        if not mark and not difference(*sorted((best[0], i))).is_significant:
            mark = "not distinguishable from the best"
        from_first = difference(0, i) if i and 0 in comparable else None
        out.append(Figure(value, mark, from_first.standing(direction) if from_first else None, from_first, note))
    return out
