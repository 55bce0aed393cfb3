"""Repeats of a case: which of them pass, which cases are flaky, where noise comes from, which repeat failures show."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...core.run import CaseResult, MetricInfo, Run
from ..compare import CaseComparison, Comparison
from ..policy import RegressionPolicy
from ..statistics.precision import mean, sum_of_squares
from ..statistics.significance import MetricVerdict
from ..thresholds import Bound

FLAKY_RATES = (0.1, 0.9)  # a case with a pass rate between the two is flaky
FLAKY_SD = 0.15  # and one whose scores have a larger standard deviation

WORST = "worst"
"""Key in ``extra``: the repeat, counted from 1, that failures show, the number of repeats, and of those that fail; with
outputs, ranks and score details of that repeat if it is not the first."""

_MAX_REPEATS = 20  # more are not suggested

Singles = Mapping[str, Sequence["float | None"]]
Repeats = Sequence[Sequence[float]]
"""The scores of each case, one per repeat."""


def passing_repeats(
    singles: Singles, held_to: Singles, result: CaseResult, metrics: Mapping[str, MetricInfo], policy: RegressionPolicy
) -> list[bool]:
    """Return for each repeat whether it passes: thresholds met, no score ``case_max_drop`` below the best *held_to*."""
    count = max(map(len, singles.values()), default=0)
    bounds = {n: [Bound(*b) for b in bs] for n, bs in result.extra.get("thresholds", {}).items()}
    numbers = {n: _numbers(values) for n, values in held_to.items()}
    best = {n: max(v) if metrics[n].direction == "higher" else min(v) for n, v in numbers.items() if v}

    def value_passes(name: str, value: float | None) -> bool:
        if value is None:
            return True
        fell = name in best and metrics[name].gain(best[name], value) < -policy.for_metric(name).case_max_drop - 1e-9
        return not fell and all(b.holds(value) for b in bounds.get(name, ()))

    return [all(value_passes(n, v[i]) for n, v in singles.items() if i < len(v)) for i in range(count)]


def flaky_cases(run: Run, comparison: Comparison | None, policy: RegressionPolicy) -> dict[str, str]:
    """Return the flaky cases with the reason, by the repeats of the baseline, or else of the run."""
    compared = {} if comparison is None else comparison.cases
    names = [n for n, i in run.metrics.items() if i.baselined and i.range == (0.0, 1.0)]
    out: dict[str, str] = {}
    for case_id, result in run.cases.items():
        pair = compared.get(case_id)
        before = pair.before if pair is not None and pair.paired else None
        source = before if before is not None and before.repeats > 1 else result
        if source.repeats < 2:
            continue
        singles = {n: values for n in names if len(values := source.values(n)) > 1}
        passed = passing_repeats(singles, singles, result, run.metrics, policy)
        if why := why_flaky(passed, {n: _numbers(v) for n, v in singles.items()}):
            out[case_id] = why + (" of the baseline" if source is before else "")
    return out


def why_flaky(passed: Sequence[bool], scores: Mapping[str, Sequence[float]]) -> str:
    """Return why a case is too unstable for the case guard; empty if it is not.

    *passed* says whether each repeat passed; *scores* are those of the repeats by metric, for scores in [0, 1].
    """
    spread = {m: math.sqrt(sum_of_squares(s) / (len(s) - 1)) for m, s in scores.items() if len(s) > 1}
    noisiest = max(spread, key=lambda m: spread[m], default="")
    reasons = []
    if len(passed) > 1 and FLAKY_RATES[0] < sum(passed) / len(passed) < FLAKY_RATES[1]:
        reasons.append(f"passes in {sum(passed)} of {len(passed)} repeats")
    if noisiest and spread[noisiest] > FLAKY_SD:
        reasons.append(f"{noisiest} varies by {spread[noisiest]:.2f} (standard deviation) between repeats")
    return " and ".join(reasons)


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """The variance of a mean difference, split into variance between cases and between repeats of a case.

    All are variances of one case; ``total`` = s_d², that of the differences of case means.
    """

    n_cases: int
    total: float
    between: float
    within_baseline: float
    within_candidate: float

    @property
    def most_shrink(self) -> float:
        """The largest share by which any number of repeats could shrink the standard error, 0 to 1."""
        return 1.0 - math.sqrt(min(1.0, self.between / self.total)) if self.total else 0.0

    def repeats_instead_of(self, cases_needed: int) -> int | None:
        """Return how many repeats on both sides are worth as much as *cases_needed* cases; None if no number is."""
        allowed = self.total * self.n_cases / cases_needed - self.between
        if allowed <= 0.0:
            return None
        return max(1, math.ceil((self.within_baseline + self.within_candidate) / allowed - 1e-9))

    def __str__(self) -> str:
        within = max(0.0, self.total - self.between)
        return (
            f"variance between cases {self.between:.4f}, within cases {within:.4f}; "
            f"more repeats can shrink the standard error by at most {self.most_shrink * 100:.0f} %"
        )


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
    """Return the variance split of each metric that varied between repeats of *run* or of the baseline."""
    if comparison is None:
        return {}
    repeats = [case.before.repeats for case in comparison.cases.values() if case.before is not None]
    if max([*repeats, *(case.repeats for case in run.having("repeats"))], default=1) < 2:
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


def repeats_instead_of_cases(run: Run, comparison: Comparison, verdict: MetricVerdict) -> str:
    """Return how many repeats would decide an inconclusive metric as well as more cases, as the end of a sentence."""
    needed, split = verdict.cases_needed, split_metric(run, comparison, verdict.metric.name)
    if split is None or needed is None:
        return ""
    repeats = split.repeats_instead_of(needed)
    if repeats is None or repeats > _MAX_REPEATS:
        return ", but not more repeats of these"
    return f", or these cases asked {repeats} times each, in the baseline as well"


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def note_worst(
    result: CaseResult, singles: Sequence[CaseResult], comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo], *, policy: RegressionPolicy, advisory: Collection[str] = (),
) -> None:  # fmt: skip
    """Record in *result*, a failed case merged from *singles*, the worst of them, for failures to show.

    The result's own means, ranks and texts do not change: one bad answer is no measurement.
    """
    if result.state != "failed" or len(singles) < 2:
        return
    accepted: Singles = {}
    if comparison is not None and comparison.before is not None and comparison.paired and not result.quarantined():
        deterministic = [n for n in comparison.changes if metrics[n].deterministic]  # as in the case guard
        accepted = {n: comparison.before.values(n) for n in deterministic}
    bounded = result.extra.get("thresholds", {})
    names = [n for n in result.scores if n in metrics and n not in advisory and (n in accepted or n in bounded)]
    values = {n: [single.scores[n].value for single in singles] for n in names}
    passed = passing_repeats(values, accepted, result, metrics, policy)
    failing = [i for i, repeat_passed in enumerate(passed) if not repeat_passed]
    if not failing:
        return
    worst = min(failing, key=lambda i: sum(metrics[n].gain(0.0, values[n][i] or 0.0) for n in names))
    result.extra[WORST] = {"repeat": worst + 1, "of": len(singles), "failing": len(failing)}
    if worst:
        shown = singles[worst]
        details = {n: s.details for n, s in shown.scores.items() if s.details}
        result.extra[WORST] |= {"outputs": shown.outputs, "ranks": shown.ranks, "details": details}


def as_shown(result: CaseResult) -> CaseResult:
    """Return *result* with texts, ranks and details of its worst repeat; its scores stay the means."""
    if "outputs" not in (worst := result.extra.get(WORST, {})):
        return result
    scores = {n: replace(s, details=worst["details"].get(n, {})) for n, s in result.scores.items()}
    shown = replace(result, ranks=worst["ranks"], scores=scores)
    shown.outputs = worst["outputs"]
    return shown


def shown_repeat(result: CaseResult) -> str:
    """Return ``2 of 3 fail; shown is number 3``; empty if nothing was repeated."""
    worst = result.extra.get(WORST)
    return f"{worst['failing']} of {worst['of']} fail; shown is number {worst['repeat']}" if worst else ""
