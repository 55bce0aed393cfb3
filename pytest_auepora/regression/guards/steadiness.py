"""What repeats tell about single cases and single metrics: which repeats pass, who is flaky, where noise comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...core.run import CaseResult, MetricInfo, Run
from ..compare.cases import CaseComparison, Comparison
from ..policy import RegressionPolicy
from ..thresholds import Bound

if TYPE_CHECKING:
    from ..statistics.repeats import VarianceSplit
    from ..statistics.significance import MetricVerdict

__all__ = [
    "Steadiness",
    "best_of",
    "flaky_cases",
    "instead_of_cases",
    "passes",
    "split_metric",
    "steadiness",
]

Singles = Mapping[str, Sequence["float | None"]]


@dataclass(eq=False, repr=False, slots=True)
class Steadiness:
    """What the repeats of a run and its baseline show.

    ``flaky`` has the reason by case; ``noise`` the variance split by metric, where anything varied.
    """

    flaky: dict[str, str] = field(default_factory=dict)
    noise: dict[str, VarianceSplit] = field(default_factory=dict)


def steadiness(run: Run, comparison: Comparison | None, policy: RegressionPolicy) -> Steadiness:
    """Look at the repeats of *run* and of the baseline it was compared with; nothing where nobody repeated."""
    compared = {} if comparison is None else comparison.cases
    before = comparison is not None and comparison.repeated
    if not before and not any(c.repeats > 1 for c in run.having("repeats")):
        return Steadiness()
    out = Steadiness(flaky_cases(run, compared, policy))
    if comparison is not None:
        splits = ((name, split_metric(run, comparison, name)) for name in run.metrics)
        out.noise = {name: split for name, split in splits if split is not None}
    return out


def passes(
    singles: Singles, best: Mapping[str, float], result: CaseResult, metrics: Mapping[str, MetricInfo],
    policy: RegressionPolicy,
) -> list[bool]:  # fmt: skip
    """Say of each repeat whether it keeps the case's thresholds and no score is ``case_max_drop`` below *best*."""
    count = max(map(len, singles.values()), default=0)
    bounds = {n: [Bound(*b) for b in bs] for n, bs in result.extra.get("thresholds", {}).items()}

    def holds(name: str, value: float | None) -> bool:
        if value is None:
            return True
        low = name in best and _gain(value, best[name], metrics[name]) < -policy.for_metric(name).case_max_drop - 1e-9
        return not low and all(b.holds(value) for b in bounds.get(name, ()))

    return [all(holds(n, v[i]) for n, v in singles.items() if i < len(v)) for i in range(count)]


def flaky_cases(run: Run, compared: Mapping[str, CaseComparison], policy: RegressionPolicy) -> dict[str, str]:
    """Return the flaky cases with the reason: by the repeats of the baseline, or else by those of the run."""
    from ..statistics.repeats import classify_flaky

    names = [n for n, i in run.metrics.items() if i.baselined and i.range == (0.0, 1.0)]
    out: dict[str, str] = {}
    for case_id, result in run.cases.items():
        found = compared.get(case_id)
        before = found.before if found is not None and found.paired else None
        source = before if before is not None and before.repeats > 1 else result
        if source.repeats < 2:
            continue
        singles = {n: values for n in names if len(values := source.values(n)) > 1}
        passed = passes(singles, best_of(singles, run.metrics), result, run.metrics, policy)
        flakiness = classify_flaky(passed, {n: _numbers(v) for n, v in singles.items()})
        if flakiness.flaky:
            out[case_id] = flakiness.reason + (" of the baseline" if source is before else "")
    return out


def split_metric(run: Run, comparison: Comparison, name: str) -> VarianceSplit | None:
    """Split the variance of a metric's differences; None where it did not vary between repeats."""
    from ..statistics.repeats import split_variance

    before: dict[str, list[float]] = {}
    after: dict[str, list[float]] = {}
    for case_id, found in comparison.cases.items():
        if name in found.changes and not found.changes[name].errored and found.before is not None:
            then, now = _numbers(found.before.values(name)), _numbers(run.cases[case_id].values(name))
            if then and now:  # a baseline that was edited may hold a mean without its values
                before[case_id], after[case_id] = then, now
    varied = any(len(set(v)) > 1 for v in (*before.values(), *after.values()))
    return split_variance(before, after) if varied and len(before) > 1 else None


def instead_of_cases(run: Run, comparison: Comparison, found: MetricVerdict) -> str:
    """Return how many repeats would decide an inconclusive metric as well as more cases, as the end of a sentence."""
    split = None if found.cases_needed is None else split_metric(run, comparison, found.name)
    if split is None or found.cases_needed is None:
        return ""
    repeats = split.repeats_instead_of(found.cases_needed)
    if repeats is None:
        return ", but no number of repeats: the cases differ too much"
    return f", or these cases asked {repeats} times each, in the baseline as well"


def _gain(value: float, level: float, info: MetricInfo) -> float:
    return value - level if info.direction == "higher" else level - value


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def best_of(singles: Singles, metrics: Mapping[str, MetricInfo]) -> dict[str, float]:
    """Return the best value of each metric over the repeats; those without any are left out."""
    numbers = {name: _numbers(values) for name, values in singles.items()}
    return {n: max(v) if metrics[n].direction == "higher" else min(v) for n, v in numbers.items() if v}
