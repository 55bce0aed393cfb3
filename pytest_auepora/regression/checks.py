"""Checks: what can fail a case, and which of them one answer to it fails.

The same rules are held against today's answers and against the accepted ones, so that changed thresholds judge both.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..core.findings import CheckKind, Finding, OneAnswer
from ..core.run import CaseResult, MetricInfo
from ..core.scoring import Score
from .baseline import BaselineCase
from .compare import CaseComparison
from .policy import RegressionPolicy
from .statistics.precision import TIE
from .thresholds import Bound

ASSERTIONS: Mapping[str, tuple[str, str]] = {
    "must_contain": ("assertion_pass", "missing"),
    "forbidden": ("assertion_pass", "forbidden_present"),
    "answer_schema": ("json_schema_valid", "problems"),
    "forbidden_docs": ("no_leak", "leaked"),
}
"""Assertions by their key in golden files: the metric that measures each, and where its details say what is wrong."""

Key = tuple[str, str, str]
"""What tells the checks of a case apart: what it is about, the metric or assertion, the side of a threshold."""


def held_assertions(scores: Mapping[str, Score], labels: Collection[str]) -> dict[str, bool]:
    """Return whether each assertion holds, by its key among the *labels* of a case; none whose metric has no number."""
    out: dict[str, bool] = {}
    for metric in dict.fromkeys(metric for metric, _ in ASSERTIONS.values()):
        keys = [key for key, (name, _) in ASSERTIONS.items() if name == metric and key in labels]
        score = scores.get(metric)
        if not keys or score is None or score.value is None:
            continue
        held = {key: score.value > 0 or not score.details.get(ASSERTIONS[key][1]) for key in keys}
        if score.value <= 0 and all(held.values()):  # an empty answer holds nothing
            held = dict.fromkeys(keys, False)
        out |= held
    return out


@dataclass(frozen=True, slots=True)
class Guard:
    """A metric whose falls can fail a case: its centre, and how far below it a score may be."""

    info: MetricInfo
    centre: float
    max_drop: float


@dataclass(frozen=True, slots=True)
class CaseRules:
    """What the checks of one case hold against an answer to it.

    Attributes:
        thresholds: bounds on its own scores.
        assertions: the keys of its assertions that can fail it.
        guards: metrics that may not fall.
        numbers: metrics that must have a number, as an accepted answer had one.
        advisory: metrics that fail nothing.
    """

    thresholds: Mapping[str, Sequence[Bound]] = field(default_factory=dict)
    assertions: Collection[str] = ()
    guards: Mapping[str, Guard] = field(default_factory=dict)
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    advisory: Collection[str] = ()

    def failing(self, answer: OneAnswer) -> dict[Key, Finding]:
        """Return the checks that *answer* fails, those of advisory metrics included."""
        if not answer.answered:
            return {("raised", "", ""): Finding("timed out" if answer.timed_out else "raised")}
        out: dict[Key, Finding] = {}

        def add(kind: CheckKind, metric: str, op: Literal["", "min", "max"] = "", **found: Any) -> None:
            out[kind, metric, op] = Finding(kind, metric, op=op, **found)

        for name, value in answer.values.items():
            if value == "error":  # which is one fault, whatever else is held against the metric
                add("metric raised", name)
        for name, bounds in self.thresholds.items():
            value = answer.values.get(name)
            if isinstance(value, (int, float)):
                for bound in bounds:
                    if not bound.holds(value):
                        add("threshold", name, bound.op, after=value, limit=bound.limit)
        for key in self.assertions:
            if answer.assertions.get(key) is False:
                add("assertion", key)
        for name, guard in self.guards.items():
            value = answer.values.get(name)
            if isinstance(value, (int, float)) and -guard.info.gain(guard.centre, value) > guard.max_drop + TIE:
                add("fell", name, before=guard.centre, after=value, limit=guard.max_drop)
        for name, centre in self.numbers.items():
            if name in answer.values and answer.values[name] is None:  # what counts in pairs alone is not in them
                add("no number", name, before=centre)
        return out

    def __bool__(self) -> bool:
        """Whether there is anything beyond an error that an answer can fail."""
        return bool(self.thresholds or self.assertions or self.guards or self.numbers)

    def passes(self, answer: OneAnswer) -> bool:
        """Whether *answer* fails no check that can fail the case."""
        return all(metric in self.advisory for _, metric, _ in self.failing(answer))


@dataclass(frozen=True, slots=True)
class AcceptedChecks:
    """How the accepted answers to a case fare by the rules of today.

    Attributes:
        answers: how many there are.
        failed: by check, in how many of them it failed.
        varied: whether they differ in anything.
        steady: the metrics in which they do not.
        apart: the metrics that may not fall, in which two of them are further apart than one may fall.
    """

    answers: int
    failed: Mapping[Key, int]
    varied: bool
    steady: Collection[str] = ()
    apart: Collection[str] = ()

    def held(self, key: Key) -> int:
        """Return in how many accepted answers the check held."""
        return self.answers - self.failed.get(key, 0)

    @property
    def varied_checks(self) -> int:
        """How many checks held in some accepted answers and not in others.

        A fall below the centre of answers of which it is one hardly ever shows; below the best of them it does.
        """
        varied = {key for key, count in self.failed.items() if 0 < count < self.answers}
        return len(varied | {("fell", name, "") for name in self.apart})


def accepted_checks(rules: CaseRules, before: BaselineCase) -> AcceptedChecks:
    """Hold the accepted answers of *before* against *rules*."""
    varied = before.varied
    answers = before.each_answer()[: None if varied else 1]
    times = 1 if varied else before.answers  # all are alike
    failed: Counter[Key] = Counter()
    for answer in answers:
        failing = [key for key in rules.failing(answer) if key[1] not in rules.advisory]
        failed.update(dict.fromkeys(failing, times))
    steady = [name for name, values in before.scores.items() if not isinstance(values, list)]
    apart = [n for n, g in rules.guards.items() if before.spread(n, g.info.worst) > g.max_drop + TIE] if varied else ()
    return AcceptedChecks(before.answers, failed, varied, steady, apart)


def shares_passed(rules: CaseRules, before: BaselineCase, today: Sequence[OneAnswer]) -> tuple[float, float]:
    """Return the shares of the accepted answers of *before*, and of those of *today*, that fail no check.

    A score may not fall below the centre of the *other* accepted answers: a centre is closer to the answers that it is
    the mean of than to new ones, and against it an unchanged system would look worse.
    """
    if not before.varied:
        accepted = rules.passes(before.each_answer()[0])
        return float(accepted), sum(rules.passes(answer) for answer in today) / len(today)
    without = [_without(rules, before, i) for i in range(before.answers)]
    held = [one.passes(answer) for one, answer in zip(without, before.each_answer(), strict=True)]
    now = [one.passes(answer) for one in without for answer in today]
    return sum(held) / len(held), sum(now) / len(now)


def _without(rules: CaseRules, before: BaselineCase, i: int) -> CaseRules:
    """Return *rules* with the centres of all accepted answers but the one at *i*."""
    centres = {name: before.centre(name, guard.info.worst, without=i) for name, guard in rules.guards.items()}
    guards = {n: replace(rules.guards[n], centre=centre) for n, centre in centres.items() if centre is not None}
    return replace(rules, guards=guards)


def case_rules(
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
    policy: RegressionPolicy,
    *,
    advisory: Collection[str] = (),
) -> CaseRules:
    """Return what is held against answers to the case of *result*.

    Its own threshold on an assertion's metric replaces the assertion.  *comparison* is with its baseline, if any.
    """
    before = comparison.before if comparison is not None and comparison.paired else None
    thresholds = {name: [Bound(*bound) for bound in bounds] for name, bounds in result.thresholds.items()}
    asserted = {*result.assertions, *(before.assertions if before is not None else ())}
    keys = [key for key, (metric, _) in ASSERTIONS.items() if key in asserted and metric not in thresholds]
    guards: dict[str, Guard] = {}
    numbers: dict[str, float | None] = {}
    keys = keys if policy.assertions == "fail" else []
    if comparison is None or before is None:
        return CaseRules(thresholds, keys, advisory=advisory)
    for name in before.scores:
        info = metrics.get(name)
        if info is None or name in comparison.incomparable or name in advisory or not info.baselined:
            continue
        own = policy.for_metric(name)
        if (centre := before.centre(name, info.worst)) is None or (own.policy == "report" and not result.must_pass):
            continue
        if info.judge or not all(map(math.isfinite, info.range)):
            continue
        if own.case_guard == "auto" or result.must_pass:
            guards[name] = Guard(info, centre, own.case_max_drop)
        had_number = any(isinstance(value, (int, float)) for value in before.values(name))
        if had_number and (own.case_guard != "off" or result.must_pass):
            numbers[name] = centre
    return CaseRules(thresholds, keys, guards, numbers, advisory)


def can_fail_alone(result: CaseResult) -> bool:
    """Whether the checks of the case are confirmed before they fail it, and count in V and in the pass rate."""
    return not (result.must_pass or result.expected_to_fail or result.quarantined() or result.state == "skipped")
