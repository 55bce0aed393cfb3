"""The verdict on one case: its own thresholds, its assertions, and the case guard against its baseline.

One new answer says that a case broke only where the system, asked again, says the same: so the guard holds steady
metrics, and a case that would fail is asked again before it does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.run import CaseResult, MetricInfo
from ...errors import names_words
from ..baseline import CONTRACTS
from ..compare import SINCE, CaseComparison
from ..policy import RegressionPolicy
from ..thresholds import Bound

STILL_FAILING = "still_failing"
"""Key in ``extra``: assertions that fail, and failed in the accepted baseline: listed, not red."""

RAISED = ": the metric raised "
"""In the problem of a case of which a metric raised, between its name and the reason."""

FELL = re.compile(rf"(\S+) (fell|rose) from (\S+) to (\S+) {SINCE}, (limit \S+)")
"""A line of `guard_case`, to tell several together."""

VARIES = "varies"
"""Key in ``extra`` of a case that failed at first and passed when asked again: answers, how many passed, problems."""


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

    What the *advisory* metrics would have failed goes to ``extra["advisory"]`` instead.  An assertion goes to
    ``extra["still_failing"]`` where it failed in the baseline as well, where the result is about to become the baseline
    (*accepting*), and in a quarantined case.  Only *steady* metrics are held to the baseline.
    """
    if result.state in ("error", "skipped"):
        return
    told = _score_problems(result, thresholds)
    result.problems = [line for name, line in told if name not in advisory]
    if opinions := [line for name, line in told if name in advisory]:
        result.extra["advisory"] = opinions
    if comparison is not None and not comparison.paired:
        comparison = None
    accepted = comparison.before.scores if comparison is not None and comparison.before is not None else {}
    excused = accepting or result.quarantined()
    broken = broken_assertions(result, thresholds) if policy.assertions == "fail" else {}
    if known := [line for name, line in broken.items() if excused or accepted.get(name) == 0]:
        result.extra[STILL_FAILING] = known
    result.problems += [line for line in broken.values() if line not in known]
    if comparison is not None and not result.quarantined():
        result.problems += guard_case(comparison, metrics, policy, steady=steady, always="must_pass" in result.extra)
    result.state = "failed" if result.problems else "passed"


def _score_problems(result: CaseResult, thresholds: Mapping[str, Sequence[Bound]]) -> list[tuple[str, str]]:
    """Return the thresholds that each metric misses, n/a being held against no case, and which metrics raised."""
    values = {name: score.value for name, score in result.scores.items() if score.value is not None}
    missed = [
        (name, f"{name} {bound.shown(values[name], 2)}, wanted {bound}")
        for name, bounds in thresholds.items()
        for bound in bounds
        if name in values and not bound.holds(values[name])
    ]
    scores = result.scores.items()
    return missed + [(name, f"{name}{RAISED}{score.reason}") for name, score in scores if score.state == "error"]


def broken_assertions(result: CaseResult, thresholds: Mapping[str, Sequence[Bound]]) -> dict[str, str]:
    """Return a line for each assertion that does not hold in any answer; a case's own threshold on it comes first."""
    out = {}
    for name in CONTRACTS:
        score = result.scores.get(name)
        if score is None or score.value is None or score.value > 0 or name in thresholds:
            continue
        out[name] = f"{name}: {assertion_fault(score.details) or 'the assertion does not hold'}"
    return out


def assertion_fault(details: Mapping[str, Any], most: int | None = None, shown: Callable[[str], str] = repr) -> str:
    """Return what is wrong with an answer by the *details* of an assertion; empty where they do not tell.

    At most *most* phrases are named, each as *shown*.
    """
    kinds = (
        ("missing", "misses", shown),
        ("forbidden_present", "says", shown),
        ("problems", "breaks its schema:", str),
    )
    said = [
        f"{verb} {names_words(told, most or len(told), how)}" for key, verb, how in kinds if (told := details.get(key))
    ]
    return f"the answer {' and '.join(said)}" if said else ""


def guard_case(
    comparison: CaseComparison, metrics: Mapping[str, MetricInfo], policy: RegressionPolicy, *,
    steady: Collection[str], always: bool = False,
) -> list[str]:  # fmt: skip
    """Return one line for each *steady* metric that fell by more than the policy allows; never for a judge's.

    With *always* (a ``must_pass`` case) also where the policy leaves single cases alone.
    """
    out: list[str] = []
    for name, change in comparison.changes.items():
        if change.gain >= 0 or change.errored or name not in steady:
            continue
        info, own = metrics[name], policy.for_metric(name)
        if -change.gain <= own.case_max_drop + 1e-9 or not (always or own.case_guard == "auto"):
            continue
        if feeds_case_guard(name, info, policy, always=always):
            went = "fell" if info.direction == "higher" else "rose"
            then, now = _distinguishable(change.before, change.after, own.case_max_drop)
            out.append(f"{name} {went} from {then} to {now} {SINCE}, limit {own.case_max_drop:g}")
    return out


def feeds_case_guard(name: str, info: MetricInfo, policy: RegressionPolicy, *, always: bool = False) -> bool:
    """Whether the scores of single cases count in this metric: never those of a judge, nor those without bounds.

    With *always* (a ``must_pass`` case) also under the policy ``report``.
    """
    exempt = policy.for_metric(name).policy == "report" and not always
    return not (exempt or info.judge) and info.deterministic and all(map(math.isfinite, info.range))


def _distinguishable(before: float, after: float, limit: float) -> tuple[str, str]:
    """Return both with as many digits as it takes not to read '0.70 to 0.20, limit 0.5'."""
    for digits in range(2, 17):
        told = f"{before:.{digits}f}", f"{after:.{digits}f}"
        if abs(float(told[0]) - float(told[1])) > limit + 1e-9:
            return told
    return repr(before), repr(after)


def is_confirmable(result: CaseResult) -> bool:
    """Whether asking again may clear the case: it failed, and neither errored nor was a metric's error its problem."""
    raised = any(score.state == "error" for score in result.scores.values())
    return result.state == "failed" and not raised


@dataclass(slots=True)
class Confirmations:
    """Which cases of each suite were asked again in this process.

    Beyond max(10, 5 %) of the cases failing is no noise any more.  Those that passed when they were asked again do not
    count: in a large suite of a system that samples there are always some.
    """

    asked: dict[Hashable, list[CaseResult]] = field(default_factory=dict)

    def wants(
        self, suite: Hashable, n_cases: int, result: CaseResult, policy: RegressionPolicy, *, timed: bool = False
    ) -> bool:
        """Whether to ask a case again, of *suite* with *n_cases*; *result*, which that decides, is held if so."""
        if not policy.confirm or timed or not is_confirmable(result):
            return False
        failed = [one for one in self.asked.get(suite, ()) if one.state == "failed"]
        if asks := len(failed) < max(10, math.ceil(0.05 * n_cases)):
            failed.append(result)
        self.asked[suite] = failed
        return asks


def merge_confirmed(result: CaseResult, again: Sequence[CaseResult]) -> None:
    """Decide a failed case by the answers it was asked for *again*, each judged as the first: it fails if all do.

    The scores of *result* stay those of the first answer, or asking failing cases would pull means towards green.
    """
    passed = sum(one.state == "passed" for one in again)
    if not passed:
        return
    result.extra[VARIES] = {"answers": 1 + len(again), "passed": passed, "problems": list(result.problems)}
    result.state, result.problems = "passed", []
