"""What the suite guard looks at: each metric over all cases that compare, and over those of a slice."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...core.run import CaseResult, Run
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy, Slice
from ..statistics.precision import count_clusters
from ..thresholds import sliced
from .cases import Comparison, MetricChange, ScoreChange, change_over
from .measurements import is_apart


class Part(NamedTuple):
    """The changes of one metric, by case, over everything that compares or over one slice of it."""

    metric: str
    changes: Mapping[str, ScoreChange]
    clusters: int
    slice: Mapping[str, str] = MappingProxyType({})

    @property
    def title(self) -> str:
        """``recall@5``, or ``recall@5{scenario=typo}`` as gates write it."""
        return sliced(self.metric, self.slice)

    @property
    def gains(self) -> Mapping[str, float]:
        """The gains alone."""
        return {i: change.gain for i, change in self.changes.items()}

    @property
    def change(self) -> MetricChange:
        """Means before and after; there is at least one change."""
        return change_over(self.changes)


def in_slice(case: CaseResult, part: Mapping[str, str]) -> bool:
    """Whether the labels of *case* have every value of *part*.

    ``tag`` is in a case's tags; a label that a case does not have is ``none``.
    """
    return all(_values(case, key, "none").count(str(value)) for key, value in part.items())


def _values(case: CaseResult, key: str, missing: str = "") -> list[str]:
    if key == "tag":
        return [str(tag) for tag in case.labels.get("tags", ())]
    value = str(case.labels.get(key, missing))
    return [value] if value else []


def _label_values(run: Run, key: str) -> list[str]:
    """Return what the cases of *run* have for a label, sorted."""
    return sorted({value for case in run.cases.values() for value in _values(case, key)})


def _slices(run: Run, wanted: Sequence[Slice]) -> Iterator[dict[str, str]]:
    """Yield each slice once: a label by itself stands for one slice for each of its values."""
    seen: list[dict[str, str]] = []
    for one in wanted:
        many = [{one: value} for value in _label_values(run, one)] if isinstance(one, str) else [dict(one)]
        for part in many:
            if part not in seen:
                seen.append(part)
                yield part


def parts_of(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[Part]:
    """Return every part of every baselined metric that compares: the whole first, then its slices.

    Metrics that stand apart are left out, as is a slice that holds all cases, or none, and says nothing of its own.
    """
    out: list[Part] = []
    inside = [
        (part, {i for i, case in run.cases.items() if in_slice(case, part)}) for part in _slices(run, policy.slices)
    ]
    clusters = run.clusters
    for name, info in run.metrics.items():
        changes = comparison.changes_of(name) if info.baselined and not is_apart(info) else {}
        if not changes:
            continue
        out.append(Part(name, changes, count_clusters(changes, clusters)))
        for part, ids in inside:
            own = _among(changes, ids)
            if 0 < len(own) < len(changes):
                out.append(Part(name, own, count_clusters(own, clusters), part))
    return out


def _among(changes: Mapping[str, ScoreChange], ids: Collection[str]) -> Mapping[str, ScoreChange]:
    return {i: change for i, change in changes.items() if i in ids}


def slice_notes(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[str]:
    """Say which slices were not judged for want of cases."""
    small: dict[str, int] = {}
    for part in parts_of(run, comparison, policy) if policy.slices else ():
        if part.slice and is_too_small(part, policy):
            name = sliced("", part.slice)[1:-1]
            small[name] = max(small.get(name, 0), part.clusters)
    if not small:
        return []
    told = ", ".join(f"{name} ({n})" for name, n in small.items())
    return [f"slices of fewer than {CLUSTERS_FOR_STATISTICS} clusters are not judged: {told}"]


def is_too_small(part: Part, policy: RegressionPolicy) -> bool:
    """Whether the slice has too few clusters to be judged; a tolerance that was asked for holds for any number."""
    return part.clusters < CLUSTERS_FOR_STATISTICS and policy.for_metric(part.metric).policy != "tolerance"
