"""Two baselines that were accepted on two branches, merged case by case: what only one side changed is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .baseline import GIT_COMMIT, Baseline, BaselineMetric

__all__ = ["Merged", "merge_baselines"]


class Merged(NamedTuple):
    """What a merge came to.

    Attributes:
        baseline: the merged one.
        taken: the cases that the other side changed, and this one did not.
        anew: the cases that nobody accepted as they are now, as both sides changed them, or one measured differently;
            the merged baseline does not have them.
        differing: what both sides measure by, where they differ: metrics, and keys of the provenance.
    """

    baseline: Baseline
    taken: list[str]
    anew: list[str]
    differing: list[str]


def merge_baselines(base: Baseline | None, ours: Baseline, theirs: Baseline) -> Merged:
    """Merge *theirs* into *ours*; both were made of *base*, which is None where there was no baseline yet.

    Where they measure differently (other versions or options of metrics, another corpus), the side that changed this
    measured every case again, so that what the other one accepted meanwhile counts no more.
    """
    base = base or Baseline(ours.suite, ours.variant)
    differing = [name for name, how in _measures(ours).items() if _measures(theirs).get(name, how) != how]
    differing += sorted(_measures(ours).keys() ^ _measures(theirs).keys())
    leads, follows = (theirs, ours) if differing and _measures(ours) == _measures(base) else (ours, theirs)
    metrics = {name: _falls(base.metrics, one, follows.metrics.get(name), name) for name, one in leads.metrics.items()}
    merged = Baseline(ours.suite, ours.variant, metrics, dict(leads.provenance))
    taken, anew = [], []
    for case_id in sorted({*leads.cases, *follows.cases}):
        before, first, second = (side.cases.get(case_id) for side in (base, leads, follows))
        block = first
        if second not in (before, first):
            if first == before and not differing:
                block = second
            elif first is not None:  # where a side dropped the case, there is nothing left to ask
                block = None
                anew += [case_id] if second is not None else []
        if block is not None:
            merged.cases[case_id] = block
            taken += [case_id] if block != ours.cases.get(case_id) else []
    return Merged(merged, taken, anew, differing)


def _measures(side: Baseline) -> dict[str, Any]:
    """Return what must be equal for the scores of two baselines to be of one kind."""
    known = {key: value for key, value in side.provenance.items() if key != GIT_COMMIT}
    return {**{name: metric.key for name, metric in side.metrics.items()}, **known}


def _falls(
    base: Mapping[str, BaselineMetric], one: BaselineMetric, other: BaselineMetric | None, name: str
) -> BaselineMetric:
    """Return *one* with the accepted falls of both sides: nobody has seen them together."""
    if other is None or other.key != one.key:
        return one
    before = base[name].falls if name in base else 0
    larger = max(one, other, key=lambda metric: metric.falls)
    added = min(one.falls, other.falls) - before
    return BaselineMetric(one.version, one.params, larger.falls + max(0, added), larger.fell_from)
