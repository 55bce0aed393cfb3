"""Several systems on one golden set, as columns: which is best at what, by how much, and whether that can be told.

Plain data; `side_by_side_formats` shows it.  The first column is the one that the others are held against.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from ..core.grouping import grouped
from ..core.metrics_base import Measurement, Metric
from ..core.run import CaseResult, CaseState, MetricInfo, Run
from ..core.scoring import Score
from ..errors import AueporaError, NotComparableError
from ..history.compare import as_baseline
from ..metrics.registry import Registry
from ..regression.compare import comparability_of
from ..regression.statistics.intervals import Difference, Standing, aggregate_difference, mean_difference
from ..regression.statistics.precision import TIE
from .numbers import plural

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
        mark: whether it is the best of its row, or cannot be told from it.
        standing: what the difference amounts to, in the metric's direction.
        difference: value - that of the first column; None in the first column and where they do not compare.
        note: why it has no value or does not compare.
    """

    value: float | None
    mark: Mark = ""
    standing: Standing | None = None
    difference: Difference | None = None
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
class SystemCase:
    """What became of a case in one system."""

    state: CaseState
    scores: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in every system; None where a system did not run it."""

    case_id: str
    where: str
    differs: bool
    systems: tuple[SystemCase | None, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Several systems on one suite.

    Attributes:
        confidence: of all intervals of a metric together.
        shared: how many cases every system ran, in the same wording.
        columns: the first is what others are compared with.
        rows: ``pass_rate``, then the metrics in the suite's order.
        cases: every case that any system ran, in the suite's order.
        notes: what was left out, and why.
    """

    suite: str
    path: str
    owner: str
    confidence: float
    shared: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cases: tuple[CaseRow, ...]
    notes: tuple[str, ...]

    def row(self, name: str) -> Row | None:
        """Return the row of a metric."""
        return next((row for row in self.rows if row.name == name), None)


def side_by_sides(runs: Sequence[Run], *, registry: Registry | None = None) -> list[SideBySide]:
    """Return one for each suite that several of *runs* are of, their configurations in the order of *runs*."""
    suites = grouped(((run.path, run.suite), run) for run in runs)
    return [side_by_side(group, registry=registry) for group in suites.values() if len(group) > 1]


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
    ids = list(dict.fromkeys(case_id for run in runs for case_id in run.cases))
    shared, notes = _shared(runs, ids)
    apart = [{}, *(comparability_of(run, as_baseline(runs[0])).incomparable for run in runs[1:])]
    alpha = (1.0 - CONFIDENCE) / (len(runs) - 1)
    rows: list[Row] = []
    said: list[tuple[str, str]] = []
    for name in ("pass_rate", *dict.fromkeys(n for run in runs for n in run.metrics)):
        seen = _measured(name, runs, shared, [why.get(name, "") for why in apart], registry or Registry())
        if seen is None:
            said.append(("the metric is not known here, nor how to aggregate it", name))
        elif any(seen.values):
            rows.append(Row(name, seen.info, len(seen.case_ids), tuple(_figures(seen, alpha))))
            if seen.lacking:
                said.append((f"{plural(seen.lacking, 'case')} not measured by all, left out", name))
    for run, reasons in zip(runs, apart, strict=True):
        said += [(f"not comparable in {run.title} ({why})", name) for name, why in reasons.items()]
    notes += [f"{', '.join(of)}: {what}" for what, of in grouped(said).items()]
    wanted = names if names is not None else [run.variant or run.suite for run in runs]
    columns = tuple(_column(run, name) for run, name in zip(runs, _distinct_names(wanted), strict=True))
    cases = tuple(_case(case_id, [run.cases.get(case_id) for run in runs]) for case_id in ids)
    like = runs[0].suite, runs[0].path, runs[0].owner
    return SideBySide(*like, CONFIDENCE, len(shared), columns, tuple(rows), cases, tuple(notes))


def _shared(runs: Sequence[Run], ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the cases that every run has, not skipped and in the same wording, and what is to be said of others."""
    out, left = [], Counter[str]()
    for case_id in ids:
        found = [run.cases[case_id] for run in runs if case_id in run.cases]
        if len(found) < len(runs):
            left["not run by all"] += 1
        elif any(case.state == "skipped" for case in found):
            left["skipped"] += 1
        elif len({case.content_hash for case in found}) > 1:
            left["edited between the runs"] += 1
        else:
            out.append(case_id)
    return out, [f"{plural(n, 'case')} {why}: left out of the figures" for why, n in left.items()]


def _case(case_id: str, found: Sequence[CaseResult | None]) -> CaseRow:
    """Return a case; it differs if some systems pass it and others do not."""
    first = next(case for case in found if case is not None)
    passes = {case.state == "passed" for case in found if case is not None and case.state != "skipped"}
    systems = [
        SystemCase(case.state, {n: _finite(s.value) for n, s in case.scores.items()}) if case is not None else None
        for case in found
    ]
    return CaseRow(case_id, first.where, len(passes) > 1, tuple(systems))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _column(run: Run, name: str) -> Column:
    states = Counter(case.state for case in run.cases.values())
    return Column(
        name, run.title, len(run.cases), states["passed"], states["failed"], states["error"], states["skipped"]
    )  # fmt: skip


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return different names: two runs of one configuration are told apart by a number."""
    seen = Counter[str]()
    out = []
    for name in names:
        seen[name] += 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


@dataclass(frozen=True, slots=True)
class _Measured:
    """One metric in every system over the same cases.

    Attributes:
        info: the metric, of the first system that has it.
        values: by system, case id → measurement.
        case_ids: the cases that every system measured, of those that compare.
        reasons: by system, why it does not compare, or an empty string.
        metric: makes an aggregate of measurements that is no mean; None where the mean is meant.
        lacking: cases that only some of the systems that compare have measured.
    """

    info: MetricInfo | None
    values: list[dict[str, Measurement]]
    case_ids: list[str]
    reasons: list[str]
    clusters: dict[str, str]
    metric: Metric | None
    lacking: int

    def aggregate(self, seen: Sequence[Measurement]) -> float | None:
        """Return the number that *seen* amount to; None over none."""
        if not seen:
            return None
        if self.metric is not None:
            result = self.metric.aggregate(seen)
            return result.value if result.details.get("num_samples", len(seen)) else None
        return math.fsum(_number(m) for m in seen) / len(seen)

    def difference(self, reference: int, candidate: int, alpha: float) -> Difference:
        """Return how far system *candidate* is from system *reference*; a quantile of too few cases has no interval."""
        a, b = self.values[reference], self.values[candidate]
        if self.metric is None:
            pairs = {i: (_number(a[i]), _number(b[i])) for i in self.case_ids}
            return mean_difference(pairs, self.clusters, alpha=alpha)
        union = self.info is not None and self.info.target == "DIVERSITY"
        measurements = {i: (a[i], b[i]) for i in self.case_ids}
        found = aggregate_difference(self.aggregate, measurements, self.clusters, union=union, alpha=alpha)
        stands = self.metric.aggregate([*a.values()]).details.get("reliable", True)
        return found if stands else replace(found, low=None, high=None)  # draws from a handful know no tail


def _number(seen: Measurement) -> float:
    assert seen.value is not None
    return seen.value


def _measured(
    name: str, runs: Sequence[Run], shared: Sequence[str], reasons: list[str], registry: Registry
) -> _Measured | None:
    """Gather metric *name* of all *runs* over the *shared* cases that each of them measured.

    *reasons* says for each run why the metric does not compare with the first one, if it does not.  None is returned of
    a metric of a project's own that has an aggregate of its own, where the project is not here.
    """
    info = next((run.metrics[name] for run in runs if name in run.metrics), None)
    try:
        metric = registry.get(name)
    except AueporaError:  # of a project whose conftest.py is not here; or ``pass_rate``
        metric = None
    scores = [s for run in runs for c in run.cases.values() if (s := c.scores.get(name)) is not None]
    if metric is None and any(s.data is not None for s in scores):
        return None
    if metric is not None and not (
        type(metric).aggregate is not Metric.aggregate or any(s.state == "aggregate" for s in scores)
    ):
        metric = None  # its aggregate is the mean of the cases' own values
    columns = [_of_run(name, run, shared, info, metric) for run in runs]
    for i, (run, seen) in enumerate(zip(runs, columns, strict=True)):
        if not seen and not reasons[i]:
            reasons[i] = "not measured" if name in run.metrics else "not asked for"
    kept = [seen for seen, why in zip(columns, reasons, strict=True) if not why]
    ids = [i for i in shared if kept and all(i in seen for seen in kept)]
    values = [seen if why else {i: seen[i] for i in ids} for seen, why in zip(columns, reasons, strict=True)]
    clusters = {i: runs[0].cases[i].cluster or i for i in ids}
    lacking = len(set[str]().union(*kept)) - len(ids)
    return _Measured(info, values, ids, reasons, clusters, metric, lacking)


def _of_run(
    name: str, run: Run, shared: Sequence[str], info: MetricInfo | None, metric: Metric | None
) -> dict[str, Measurement]:
    if name == "pass_rate":
        return {i: Measurement(float(run.cases[i].state == "passed")) for i in shared}
    scores = {i: run.cases[i].scores[name] for i in shared if name in run.cases[i].scores}
    found = {i: _measurement(score, info, metric) for i, score in scores.items()}
    return {i: seen for i, seen in found.items() if seen is not None}


def _measurement(score: Score, info: MetricInfo | None, metric: Metric | None) -> Measurement | None:
    """Return what counts of a score: an error is the worst value of a mean, and cannot be had of anything else."""
    if score.state == "error":
        countable = metric is None and info is not None and math.isfinite(info.worst)
        return Measurement(info.worst) if countable and info is not None else None
    seen = score.measurement
    if seen is None or (metric is None and _finite(seen.value) is None):
        return None
    return seen


def _figures(seen: _Measured, alpha: float) -> list[Figure]:
    """Return the value of each system, its difference from the first, and which of them is best."""
    direction = seen.info.direction if seen.info is not None else "higher"
    values = [seen.aggregate([*of_one.values()]) for of_one in seen.values]
    difference = cache(lambda a, b: seen.difference(a, b, alpha))
    fit = [None if why else value for value, why in zip(values, seen.reasons, strict=True)]
    best = _best(fit, direction)
    out = []
    for i, (value, note) in enumerate(zip(values, seen.reasons, strict=True)):
        if fit[i] is None or not best:
            out.append(Figure(value, note=note))
            continue
        mark: Mark = "best" if i in best else ""
        if not mark and not difference(*sorted((best[0], i))).is_clear:
            mark = "not distinguishable from the best"
        apart = difference(0, i) if i and fit[0] is not None else None
        out.append(Figure(value, mark, apart.standing(direction) if apart else None, apart, note))
    return out


def _best(values: Sequence[float | None], direction: str) -> list[int]:
    """Return the systems with the best value, several where they tie; none where there is nobody to beat."""
    found = [value for value in values if value is not None]
    if len(found) < 2:
        return []
    top = max(found) if direction == "higher" else min(found)
    return [i for i, value in enumerate(values) if value is not None and abs(value - top) <= TIE]
