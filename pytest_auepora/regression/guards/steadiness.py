"""Repeats of a case: which cases are flaky, where noise comes from, which answer a failure shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...base.records import Record
from ...core.findings import Value, WorstRepeat
from ...core.run import CaseResult, Run
from ..checks import CaseRules
from ..compare import Comparison
from ..statistics.precision import mean, sum_of_squares

Repeats = Sequence[Sequence[float]]
"""The scores of each case, one per repeat."""


def flaky_cases(comparison: Comparison | None) -> dict[str, float]:
    """Return the cases of which some accepted answers hold all checks and others do not, with their share."""
    if comparison is None:
        return {}
    return {i: change.before for i, change in comparison.pass_rate.items() if 0.0 < change.before < 1.0}


@dataclass(frozen=True, slots=True)
class VarianceSplit(Record):
    """The variance of a mean difference, split into variance between cases and between repeats of a case.

    All are variances of one case.
    """

    n_cases: int
    """Cases that compare."""
    total: float
    """Of the differences of case means."""
    between: float
    """Between cases."""
    within_baseline: float
    """Between the accepted answers to one case."""
    within_candidate: float
    """Between today's answers to one case."""

    @property
    def most_shrink(self) -> float:
        """The largest share by which any number of repeats could shrink the standard error, 0 to 1."""
        return 1.0 - math.sqrt(min(1.0, self.between / self.total)) if self.total else 0.0


def split_variance(baseline: Repeats, candidate: Repeats) -> VarianceSplit:
    """Split the variance of paired differences: between = max(0, s_d² - within(base)/R_b - within(cand)/R_c).

    Both sides have the scores of the same cases, two or more, some of them repeated on one side at least.  The variance
    within is pooled over the repeated cases of a side; a side without repeats is taken to be as noisy as the other.
    """
    n, sides = len(baseline), (baseline, candidate)
    total = sum_of_squares([mean(after) - mean(before) for before, after in zip(*sides, strict=True)]) / (n - 1)
    repeats = [n / math.fsum(1 / len(scores) for scores in side) for side in sides]
    pooled = [_pooled_variance(side) for side in sides]
    known = next(variance for variance in pooled if variance is not None)
    within = [known if variance is None else variance for variance in pooled]
    between = max(0.0, total - within[0] / repeats[0] - within[1] / repeats[1])
    return VarianceSplit(n, total, between, *within)


def _pooled_variance(repeats: Repeats) -> float | None:
    degrees = sum(len(scores) - 1 for scores in repeats)
    return math.fsum(map(sum_of_squares, repeats)) / degrees if degrees else None


def variance_splits(run: Run, comparison: Comparison | None) -> dict[str, VarianceSplit]:
    """Return the variance split of each metric that varied between repeats of *run*."""
    if comparison is None or all(case.repeats < 2 for case in run.cases.values()):
        return {}
    splits = ((name, split_metric(run, comparison, name)) for name in run.metrics)
    return {name: split for name, split in splits if split is not None}


def split_metric(run: Run, comparison: Comparison, name: str) -> VarianceSplit | None:
    """Split the variance of a metric's differences; None if it did not vary between repeats."""
    before: list[list[float]] = []
    after: list[list[float]] = []
    for case_id, pair in comparison.cases.items():
        if name in pair.changes and not pair.changes[name].errored and pair.before is not None:
            old, new = _numbers(pair.before.values(name)), _numbers(run.cases[case_id].values(name))
            if old and new:  # an edited baseline may hold a mean without its values
                before.append(old)
                after.append(new)
    varied = any(len(set(v)) > 1 for v in (*before, *after))
    return split_variance(before, after) if varied and len(before) > 1 else None


def _numbers(values: Iterable[Value]) -> list[float]:
    return [v for v in values if isinstance(v, (int, float))]


def note_worst(result: CaseResult, singles: Sequence[CaseResult], rules: CaseRules) -> None:
    """Record in *result*, a failed case merged from *singles*, the worst of them, for failures to show.

    It is the one that fails most checks.  The result's own means, ranks and texts do not change: one bad answer is no
    measurement.
    """
    if result.state != "failed" or len(singles) < 2:
        return
    failing = [len(rules.failing(single.as_answer())) for single in singles]
    if not any(failing):
        return
    worst = max(range(len(singles)), key=lambda i: failing[i])
    result.worst_repeat = WorstRepeat(worst + 1, len(singles), sum(count > 0 for count in failing))
    if worst:
        shown = singles[worst]
        result.worst_repeat.outputs, result.worst_repeat.ranks = shown.outputs, shown.ranks
        result.worst_repeat.details = {n: s.details for n, s in shown.scores.items() if s.details}
