"""The numbers of one metric in several systems: over the same cases, the best of them, differences with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...core.metrics_base import Measurement, Metric
from ...core.run import MetricInfo, Run
from ...core.scoring import Score
from ...errors import AueporaError
from ...metrics.registry import Registry
from ...regression.statistics.intervals import Difference, Standing, aggregate_difference, mean_difference
from ...regression.statistics.precision import TIE


@dataclass(slots=True)
class Measured:
    """One metric in every system over the same cases.

    Attributes:
        info: the metric, of the first system that has it.
        values: by system, case id → measurement.
        case_ids: the cases that every system measured, of those that compare.
        reasons: by system, why it does not compare, or an empty string.
        metric: makes an aggregate of measurements that is no mean; None where the mean is meant.
        is_unknown: it is a metric of a project's own with an aggregate of its own, and the project is not here.
        lacking: cases that only some of the systems that compare have measured.
    """

    info: MetricInfo | None
    values: list[dict[str, Measurement]] = field(default_factory=list)
    case_ids: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    clusters: dict[str, str] = field(default_factory=dict)
    metric: Metric | None = None
    lacking: int = 0
    is_unknown: bool = False

    @property
    def direction(self) -> str:
        """Which values are better."""
        return self.info.direction if self.info is not None else "higher"

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


@dataclass(frozen=True, slots=True)
class Reckoned:
    """What became of one system in one metric."""

    value: float | None = None
    difference: Difference | None = None
    standing: Standing | None = None
    is_best: bool = False
    is_near: bool = False


def measured(
    name: str, runs: Sequence[Run], shared: Sequence[str], reasons: Sequence[str], registry: Registry
) -> Measured:
    """Gather metric *name* of all *runs* over the *shared* cases that each of them measured.

    *reasons* says for each run why the metric does not compare with the first one, if it does not.
    """
    info = next((run.metrics[name] for run in runs if name in run.metrics), None)
    metric = _known(name, registry)
    scores = [s for run in runs for c in run.cases.values() if (s := c.scores.get(name)) is not None]
    if metric is None and any(s.data is not None for s in scores):
        return Measured(info, is_unknown=True)
    out = Measured(info, metric=metric if _aggregates(metric, scores) else None, reasons=list(reasons))
    columns = [_of_run(name, run, shared, out) for run in runs]
    for i, (run, seen) in enumerate(zip(runs, columns, strict=True)):
        if not seen and not out.reasons[i]:
            out.reasons[i] = "not measured" if name in run.metrics else "not asked for"
    kept = [seen for seen, why in zip(columns, out.reasons, strict=True) if not why]
    out.case_ids = [i for i in shared if kept and all(i in seen for seen in kept)]
    out.clusters = {i: runs[0].cases[i].cluster or i for i in out.case_ids}
    out.values = [
        seen if why else {i: seen[i] for i in out.case_ids} for seen, why in zip(columns, out.reasons, strict=True)
    ]
    out.lacking = len(set[str]().union(*kept)) - len(out.case_ids)
    return out


def _known(name: str, registry: Registry) -> Metric | None:
    """Return the metric; None for one of a project whose conftest.py is not here, and for ``pass_rate``."""
    try:
        return registry.get(name)
    except AueporaError:
        return None


def _aggregates(metric: Metric | None, scores: Sequence[Score]) -> bool:
    """Whether the aggregate of *metric* is something else than the mean of the cases' own values."""
    if metric is None:
        return False
    return type(metric).aggregate is not Metric.aggregate or any(s.state == "aggregate" for s in scores)


def _of_run(name: str, run: Run, shared: Sequence[str], out: Measured) -> dict[str, Measurement]:
    if name == "pass_rate":
        return {i: Measurement(float(run.cases[i].state == "passed")) for i in shared}
    found: dict[str, Measurement] = {}
    for case_id in shared:
        score = run.cases[case_id].scores.get(name)
        if score is not None and (seen := _measurement(score, out)) is not None:
            found[case_id] = seen
    return found


def _measurement(score: Score, out: Measured) -> Measurement | None:
    """Return what counts of a score: an error is the worst value of a mean, and cannot be had of anything else."""
    if score.state == "error":
        worst = _worst(out.info)
        return None if worst is None or out.metric is not None else Measurement(worst)
    seen = score.measurement
    if seen is None or (out.metric is None and (seen.value is None or not math.isfinite(seen.value))):
        return None
    return seen


def _worst(info: MetricInfo | None) -> float | None:
    if info is None:
        return None
    return info.worst if math.isfinite(info.worst) else None


def _number(seen: Measurement) -> float:
    assert seen.value is not None
    return seen.value


def figures_of(seen: Measured, alpha: float) -> list[Reckoned]:
    """Return the value of each system, its difference from the first, and which of them is best."""
    values = [seen.aggregate([*of_one.values()]) for of_one in seen.values]
    known: dict[tuple[int, int], Difference] = {}

    def difference(a: int, b: int) -> Difference:
        if (a, b) not in known:
            known[a, b] = seen.difference(a, b, alpha)
        return known[a, b]

    fit = [None if why else value for value, why in zip(values, seen.reasons, strict=True)]
    best = _best(fit, seen.direction)
    out = []
    for i, value in enumerate(values):
        if fit[i] is None or not best:
            out.append(Reckoned(value))
            continue
        apart = difference(0, i) if i and fit[0] is not None else None
        near = i not in best and not difference(*sorted((best[0], i))).is_clear
        out.append(Reckoned(value, apart, apart.standing(seen.direction) if apart else None, i in best, near))
    return out


def _best(values: Sequence[float | None], direction: str) -> list[int]:
    """Return the systems with the best value, several where they tie; none where there is nobody to beat."""
    found = [value for value in values if value is not None]
    if len(found) < 2:
        return []
    top = max(found) if direction == "higher" else min(found)
    return [i for i, value in enumerate(values) if value is not None and abs(value - top) <= TIE]
