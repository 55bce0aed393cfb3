"""The verdict on one case: its own thresholds, its assertions, and the case guard against its baseline.

A drop in one new answer proves nothing if answers vary.  So the guard covers deterministic metrics only, and a failing
case is asked again before it fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import Any

from ...base.text import names_words
from ...core.run import CaseResult, MetricInfo
from ..baseline import CONTRACTS, STILL_FAILING
from ..compare import SINCE, CaseComparison
from ..policy import RegressionPolicy
from ..thresholds import Bound

FELL = re.compile(rf"(\S+) (fell|rose) from (\S+) to (\S+) {SINCE}, (limit \S+)")
"""Matches a line of `guard_case`, to report several together."""

VARIES = "varies"
"""Key in ``extra`` of a case that failed at first and passed when asked again: answers, passed ones, problems."""


def judge_case(
    result: CaseResult,
    thresholds: Mapping[str, Sequence[Bound]],
    metrics: Mapping[str, MetricInfo],
    comparison: CaseComparison | None,
    policy: RegressionPolicy,
    *,
    advisory: Collection[str] = (),
    steady: Collection[str] = (),
    accepting: bool = False,
) -> None:
    """Set ``state`` and ``problems`` of *result*.  An errored or skipped case keeps its state.

    Problems of *advisory* metrics go to ``extra["advisory"]`` instead.  A failed assertion goes to
    ``extra["still_failing"]`` if it failed in the baseline too, if the result is about to become the baseline
    (*accepting*), and in a quarantined case.  Only *steady* metrics are compared with the baseline.
    """
    if result.state in ("error", "skipped"):
        return
    problems = _score_problems(result, thresholds)
    result.problems = [line for name, line in problems if name not in advisory]
    if advisory_lines := [line for name, line in problems if name in advisory]:
        result.extra["advisory"] = advisory_lines
    before = comparison.before if comparison is not None and comparison.paired else None
    accepted = before.scores if before is not None else {}
    excused = accepting or result.quarantined()
    assertions = failed_assertions(result, thresholds) if policy.assertions == "fail" else {}
    still_failing = [line for name, line in assertions.items() if excused or accepted.get(name) == 0]
    if result.expected_to_fail:  # which is to be seen, accepted or not: a strict xfail fails where a case passes
        still_failing = []
    if still_failing:
        result.extra[STILL_FAILING] = still_failing
    result.problems += [line for line in assertions.values() if line not in still_failing]
    if comparison is not None and before is not None and not result.quarantined():
        result.problems += guard_case(comparison, metrics, policy, steady=steady, always="must_pass" in result.extra)
    result.state = "failed" if result.problems else "passed"


def _score_problems(result: CaseResult, thresholds: Mapping[str, Sequence[Bound]]) -> list[tuple[str, str]]:
    """Return (metric, line) for each missed threshold, n/a never missing one, and for each metric that raised."""
    values = {name: score.value for name, score in result.scores.items() if score.value is not None}
    missed = [
        (name, f"{name} {bound.shown(values[name], 2)}, wanted {bound}")
        for name, bounds in thresholds.items()
        for bound in bounds
        if name in values and not bound.holds(values[name])
    ]
    scores = result.scores.items()
    return missed + [(n, f"{n}: the metric raised {score.reason}") for n, score in scores if score.state == "error"]


def failed_assertions(result: CaseResult, thresholds: Container[str]) -> dict[str, str]:
    """Return a line for each assertion that holds in no answer; a case's own threshold on it replaces this rule."""
    return {
        name: f"{name}: {assertion_fault(score.details) or 'the assertion does not hold'}"
        for name in CONTRACTS
        if (score := result.scores.get(name)) is not None and score.value is not None and score.value <= 0
        if name not in thresholds
    }


def assertion_fault(details: Mapping[str, Any], most: int | None = None, shown: Callable[[str], str] = repr) -> str:
    """Return what is wrong with an answer by the *details* of an assertion; empty if they do not say.

    At most *most* phrases are named, each formatted by *shown*.
    """
    kinds = {"missing": "misses", "forbidden_present": "says", "problems": "breaks its schema:"}
    faults = [
        f"{verb} {names_words(phrases, most or len(phrases), str if key == 'problems' else shown)}"
        for key, verb in kinds.items()
        if (phrases := details.get(key))
    ]
    return f"the answer {' and '.join(faults)}" if faults else ""


def guard_case(
    comparison: CaseComparison, metrics: Mapping[str, MetricInfo], policy: RegressionPolicy, *,
    steady: Collection[str], always: bool = False,
) -> list[str]:  # fmt: skip
    """Return one line for each *steady* metric that fell by more than the policy allows; judged metrics never count.

    With *always* (a ``must_pass`` case) also if the policy leaves single cases alone.
    """
    out: list[str] = []
    for name, change in comparison.changes.items():
        if change.gain >= 0 or change.errored or name not in steady:
            continue
        info, own = metrics[name], policy.for_metric(name)
        is_large = -change.gain > own.case_max_drop + 1e-9 and (always or own.case_guard == "auto")
        if is_large and feeds_case_guard(name, info, policy, always=always):
            verb = "fell" if info.direction == "higher" else "rose"
            before, after = _distinguishable(change.before, change.after, own.case_max_drop)
            out.append(f"{name} {verb} from {before} to {after} {SINCE}, limit {own.case_max_drop:g}")
    return out


def feeds_case_guard(name: str, info: MetricInfo, policy: RegressionPolicy, *, always: bool = False) -> bool:
    """Whether the case guard covers this metric: never a judged metric, nor one without a finite range.

    With *always* (a ``must_pass`` case) also under the policy ``report``.
    """
    exempt = policy.for_metric(name).policy == "report" and not always
    return not (exempt or info.judge) and info.deterministic and all(map(math.isfinite, info.range))


def _distinguishable(before: float, after: float, limit: float) -> tuple[str, str]:
    """Format both with enough digits to show a drop beyond *limit*, not '0.70 to 0.20, limit 0.5'."""
    for digits in range(2, 17):
        texts = f"{before:.{digits}f}", f"{after:.{digits}f}"
        if abs(float(texts[0]) - float(texts[1])) > limit + 1e-9:
            return texts
    return repr(before), repr(after)


def wants_confirmation(
    result: CaseResult, asked: list[CaseResult], n_cases: int, policy: RegressionPolicy, *, timed: bool = False
) -> bool:
    """Whether to ask a case again before it fails; if so it is added to *asked*, which is of its suite in this process.

    Asking again clears no error, and no metric that raised.  More failures than max(10, 5 %) of the cases are not
    noise.  Cases that passed when asked again do not count: a large suite of a sampling system always has some.
    """
    raised = any(score.state == "error" for score in result.scores.values())
    if not policy.confirm or timed or raised or result.state != "failed":
        return False
    asked[:] = [earlier for earlier in asked if earlier.state == "failed"]
    if is_wanted := len(asked) < max(10, math.ceil(0.05 * n_cases)):
        asked.append(result)
    return is_wanted


def merge_confirmed(result: CaseResult, again: Sequence[CaseResult]) -> None:
    """Decide a failed case by the answers to asking it *again*, each judged like the first: it fails if all fail.

    The scores of *result* stay those of the first answer, else asking failing cases again would raise the means.
    """
    passed = sum(answer.state == "passed" for answer in again)
    if not passed:
        return
    result.extra[VARIES] = {"answers": 1 + len(again), "passed": passed, "problems": list(result.problems)}
    result.state, result.problems = "passed", []
