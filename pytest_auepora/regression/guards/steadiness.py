"""What repeats tell: which of them pass, which cases are flaky, where noise comes from, which answer to look at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...core.run import CaseResult, MetricInfo, Run
from ..compare.cases import CaseComparison, Comparison
from ..policy import RegressionPolicy
from ..thresholds import Bound

if TYPE_CHECKING:
    from ..statistics.repeats import VarianceSplit
    from ..statistics.significance import MetricVerdict

_MOST_REPEATS = 20
"""More than that nobody waits for."""

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
        low = name in best and metrics[name].gain(best[name], value) < -policy.for_metric(name).case_max_drop - 1e-9
        return not low and all(b.holds(value) for b in bounds.get(name, ()))

    return [all(holds(n, v[i]) for n, v in singles.items() if i < len(v)) for i in range(count)]


def flaky_cases(run: Run, compared: Mapping[str, CaseComparison], policy: RegressionPolicy) -> dict[str, str]:
    """Return the flaky cases with the reason: by the repeats of the baseline, or else by those of the run."""
    from ..statistics.repeats import why_flaky

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
        if why := why_flaky(passed, {n: _numbers(v) for n, v in singles.items()}):
            out[case_id] = why + (" of the baseline" if source is before else "")
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
    if repeats is None or repeats > _MOST_REPEATS:
        return ", but not more repeats of these"
    return f", or these cases asked {repeats} times each, in the baseline as well"


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def best_of(singles: Singles, metrics: Mapping[str, MetricInfo]) -> dict[str, float]:
    """Return the best value of each metric over the repeats; those without any are left out."""
    numbers = {name: _numbers(values) for name, values in singles.items()}
    return {n: max(v) if metrics[n].direction == "higher" else min(v) for n, v in numbers.items() if v}


WORST = "worst"
"""Key in ``extra``: the repeat, counted from 1, that failures show, how many there were and how many of them fail;
with its outputs, ranks and the details of its scores where it is not the first."""


def note_worst(
    result: CaseResult, singles: Sequence[CaseResult], comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo], *, policy: RegressionPolicy, advisory: Collection[str] = (),
) -> None:  # fmt: skip
    """Keep in *result*, a failed case merged from *singles*, which of them is to be looked at.

    Means, ranks and texts of the result itself stay those they were: one bad answer is no measurement.
    """
    if result.state != "failed" or len(singles) < 2:
        return
    compared = comparison is not None and comparison.paired and not result.quarantined()
    held = comparison.changes if comparison is not None and compared else {}
    changes = {n for n in held if metrics[n].deterministic}  # as the case guard holds them
    bounded = result.extra.get("thresholds", {})
    names = [n for n in result.scores if n in metrics and n not in advisory and (n in changes or n in bounded)]
    values = {n: [single.scores[n].value for single in singles] for n in names}
    before = comparison.before if comparison is not None and compared else None
    best = best_of({n: before.values(n) for n in names if n in changes}, metrics) if before is not None else {}
    good = passes(values, best, result, metrics, policy)
    if all(good):
        return
    bad = [i for i, holds in enumerate(good) if not holds]
    worst = min(bad, key=lambda i: sum(metrics[n].gain(0.0, values[n][i] or 0.0) for n in names))
    kept: dict[str, Any] = {"repeat": worst + 1, "of": len(singles), "failing": len(bad)}
    result.extra[WORST] = kept
    if worst:
        show_instead(result, singles[worst])


def show_instead(result: CaseResult, worst: CaseResult) -> None:
    """Let failures show texts, ranks and details of *worst*."""
    details = {n: s.details for n, s in worst.scores.items() if s.details}
    result.extra[WORST] |= {"outputs": worst.outputs, "ranks": worst.ranks, "details": details}


def as_shown(result: CaseResult) -> CaseResult:
    """Return *result* with texts, ranks and details of the repeat to look at; its scores stay the means."""
    kept = result.extra.get(WORST, {})
    if "outputs" not in kept:
        return result
    scores = {n: replace(s, details=kept["details"].get(n, {})) for n, s in result.scores.items()}
    return replace(result, outputs=kept["outputs"], ranks=kept["ranks"], scores=scores)


def shown_repeat(result: CaseResult) -> str:
    """Return ``2 of 3 fail; shown is number 3``; empty where nothing was repeated."""
    kept = result.extra.get(WORST)
    return f"{kept['failing']} of {kept['of']} fail; shown is number {kept['repeat']}" if kept else ""
