"""The suite guard: did the suite as a whole, or a slice of it, get worse than its baseline?

Its family: the mean of each metric, each slice, the pass rate, and of each metric that is n/a in some answers how often
it has a number.  `RegressionPolicy.policy` says how each member is judged; most of them get further looks.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from ...base.grouping import grouped
from ...core.metrics_base import Metric
from ...core.run import Run
from ..checks import accepted_checks, can_fail_alone, case_rules, shares_passed
from ..compare import Comparison, MetricChange, ScoreChange, mean_change
from ..outcomes import HAS_NUMBER, PASS_RATE, GateOutcome, Look, Test
from ..policy import CLUSTERS_FOR_STATISTICS, RegressionPolicy, Slice
from ..statistics.family import Member, MemberVerdict, look_at
from ..statistics.precision import TIE, cases_for_effect, count_clusters, planned_mde
from ..thresholds import part_title, slice_name
from .gates import apply_outcome, in_slice, label_values, regression_outcome
from .interval_guard import has_own_interval, judge_intervals


class Part(NamedTuple):
    """The changes of one member by case, over all comparable cases or one slice of them."""

    metric: str
    changes: Mapping[str, ScoreChange]
    clusters: int
    steady: bool
    slice: Mapping[str, str] = MappingProxyType({})
    stat: str = "aggregate"

    @property
    def title(self) -> str:
        """``recall@5``, or ``recall@5{scenario=typo}`` as gates write it."""
        return part_title(self.metric, self.stat, self.slice)

    @property
    def gains(self) -> Mapping[str, float]:
        """The gains by case."""
        return {i: change.gain for i, change in self.changes.items()}

    @property
    def change(self) -> MetricChange:
        """The means before and after; there is at least one change."""
        return mean_change(self.changes)


@dataclass(slots=True)
class SuiteJudgement:
    """What the suite guard says.

    Attributes:
        gates: one outcome per member, in the order of the run's metrics, each followed by its slices.
        look: which answers decided about members that vary.
        wants_look: whether every case is to be asked once more before the suite may fail.
    """

    gates: list[GateOutcome] = field(default_factory=list)
    look: Look = ""
    wants_look: bool = False


def judge_comparison(
    run: Run,
    comparison: Comparison,
    policy: RegressionPolicy,
    metrics: Mapping[str, Metric],
    advisory: Collection[str] = (),
    *,
    further: Sequence[tuple[Run, Comparison]] = (),
    can_look: bool = False,
    is_red: bool = False,
) -> SuiteJudgement:
    """Complete *comparison* and judge the family of *run*.

    Metrics missing in *metrics* are judged by the values of their cases alone.  The *advisory* metrics are a family of
    their own, so that they do not cost the others power.  *further* are further answers to every case, a run for each
    look; without them the first look decides at alpha, or waits for them where it *can_look* and the run is not
    *is_red* yet.
    """
    out = SuiteJudgement(judge_intervals(run, comparison, policy, metrics))
    parts = [part for part in parts_of(run, comparison, policy) if not is_too_small(part, policy)]
    judged = [part for part in parts if policy.for_metric(part.metric).policy != "report"]
    for of_advisory, family in grouped((part.metric in advisory, part) for part in judged).items():
        members = [_member(run, comparison, part, policy) for part in family]
        looks = look_at(members, (), run.clusters, alpha=policy.alpha)
        look: Look = "first"
        if not of_advisory and not is_red and looks.wants_another:
            look = "only"
            if further:
                gains = [_gains(*one, family, policy) for one in further]
                looks, look = look_at(members, gains, run.clusters, alpha=policy.alpha), "second"
            out.wants_look |= can_look and looks.wants_another
        if not of_advisory:
            out.look = look
        has_slices = any(part.slice for part in family)
        for i, (part, verdict, outcome) in enumerate(zip(family, looks.first, looks.outcomes, strict=True)):
            gate = _new_outcome(run, comparison, part, policy)
            gate.method = "tolerance" if verdict.test is None else "statistical"
            gate.test = _test(verdict, part, policy) if verdict.test is not None else None
            apply_outcome(gate, outcome, policy)
            if gate.test is not None:
                gate.test.members, gate.test.has_slices = len(family), has_slices
                second = looks.second[i].test if looks.second else None
                gate.test.second_p = second.p_drop if second is not None else None
            gate.look = "" if verdict.decides_at_once else look
            out.gates.append(gate)
    order = {name: i for i, name in enumerate(run.metrics)}
    out.gates.sort(key=lambda gate: order.get(gate.metric, len(order)))
    return out


def _member(run: Run, comparison: Comparison, part: Part, policy: RegressionPolicy) -> Member:
    own = policy.for_metric(part.metric)
    lost = 1.0
    if part.metric in run.metrics and part.stat == "aggregate":
        worst = run.metrics[part.metric].worst
        lost = abs(part.change.before - worst) if math.isfinite(worst) else 0.0
    accepted = min(before.answers for i in part.changes if (before := comparison.cases[i].before) is not None)
    return Member(part.title, part.gains, own.min_effect, own.margin, part.steady, own.policy, lost or None, accepted)


def _gains(
    run: Run, comparison: Comparison, family: Sequence[Part], policy: RegressionPolicy
) -> list[Mapping[str, float]]:
    """Return the differences of each part of *family* in the further answers of *run*."""
    by_title = {part.title: part.gains for part in parts_of(run, comparison, policy)}
    return [by_title.get(part.title, {}) for part in family]


def parts_of(run: Run, comparison: Comparison, policy: RegressionPolicy) -> list[Part]:
    """Return all members: the whole of each metric first, then its slices, then how often it has a number, and last
    the pass rate.

    Metrics with their own interval are left out, and slices that hold all cases or none.
    """
    out: list[Part] = []
    slices = _slices(run, policy.slices)
    cases_of_slices = [(labels, {i for i, case in run.cases.items() if in_slice(case, labels)}) for labels in slices]
    clusters = run.clusters
    for name, info in run.metrics.items():
        changes = _judged(run, comparison.changes_of(name)) if info.baselined and not has_own_interval(info) else {}
        if changes:
            steady = name in comparison.steady
            out.append(Part(name, changes, count_clusters(changes, clusters), steady))
            for labels, ids in cases_of_slices:
                of_slice = {i: change for i, change in changes.items() if i in ids}
                if 0 < len(of_slice) < len(changes):
                    out.append(Part(name, of_slice, count_clusters(of_slice, clusters), steady, labels))
        if having := _judged(run, comparison.has_number.get(name, {})):
            out.append(Part(name, having, count_clusters(having, clusters), steady=False, stat=HAS_NUMBER))
    if rates := comparison.pass_rate:
        out.append(Part(PASS_RATE, rates, count_clusters(rates, clusters), _answers_alike(run, comparison)))
    return out


def _judged(run: Run, changes: Mapping[str, ScoreChange]) -> dict[str, ScoreChange]:
    """Return the *changes* of the cases that are in the family: not of those that are expected to fail."""
    return {i: change for i, change in changes.items() if not run.cases[i].expected_to_fail}


def _answers_alike(run: Run, comparison: Comparison) -> bool:
    """Whether nothing differed between two answers to a case, accepted or of today: then no check varies.

    That a check held in each of five answers says less, where these answers differ.
    """
    accepted = [case.before for case in comparison.cases.values() if case.before is not None]
    varied = any(before.varied for before in accepted) or any(
        finding.passed for case in run.cases.values() for finding in case.findings
    )
    return not varied and not comparison.unsteady and any(before.answers > 1 for before in accepted)


def note_shares(run: Run, comparison: Comparison, policy: RegressionPolicy, advisory: Collection[str] = ()) -> None:
    """Complete *comparison* by V, the pass rate and, of metrics that are n/a in some answers, who has a number."""
    for case_id, case in comparison.cases.items():
        result = run.cases[case_id]
        if case.before is None or not case.paired or not can_fail_alone(result):
            continue
        rules = case_rules(result, case, run.metrics, policy, advisory=advisory)
        if case.before.answers == 1:  # which no answer can fall below itself by, and so would always look worse
            rules = replace(rules, guards={}, numbers={})
        accepted = accepted_checks(rules, case.before)
        comparison.varied += accepted.varied_checks
        if rules and policy.case_guard != "off":
            # of today's answers those that make the means: one, or the repeats
            before, after = shares_passed(rules, case.before, result.each_answer()[: result.repeats])
            after = before if result.reused else after  # each accepted answer is one of those it would be held against
            comparison.pass_rate[case_id] = ScoreChange(before, after, after - before)
    for name, info in run.metrics.items():
        if info.baselined and name not in comparison.incomparable and not info.judge:
            _note_numbers(run, comparison, name)


def _note_numbers(run: Run, comparison: Comparison, name: str) -> None:
    shares: dict[str, ScoreChange] = {}
    for case_id, case in comparison.cases.items():
        score = run.cases[case_id].scores.get(name)
        if case.before is None or not case.paired or score is None or score.state == "aggregate":
            continue
        if name in case.incomparable or not (accepted := case.before.values(name)):
            continue
        today = run.cases[case_id].values(name) or [score.value]
        before = sum(value is not None for value in accepted) / len(accepted)
        after = 1.0 if score.state == "error" else sum(value is not None for value in today) / len(today)
        shares[case_id] = ScoreChange(before, after, after - before)
    if any(change.before < 1.0 or change.after < 1.0 for change in shares.values()):
        comparison.has_number[name] = shares


def _slices(run: Run, declared: Sequence[Slice]) -> list[Mapping[str, str]]:
    """Return the *declared* slices without duplicates; a label alone stands for one slice per value."""
    out: list[Mapping[str, str]] = []
    for entry in declared:
        if isinstance(entry, str):
            values = sorted({value for case in run.cases.values() for value in label_values(case, entry)})
            out += [{entry: value} for value in values]
        else:
            out.append(dict(entry))
    return [labels for i, labels in enumerate(out) if labels not in out[:i]]


def is_too_small(part: Part, policy: RegressionPolicy) -> bool:
    """Whether it is a slice of too few clusters to be judged; an explicit ``tolerance`` judges any number."""
    is_small = bool(part.slice) and part.clusters < CLUSTERS_FOR_STATISTICS
    return is_small and policy.for_metric(part.metric).policy != "tolerance"


def small_slices(run: Run, comparison: Comparison, policy: RegressionPolicy) -> dict[str, int]:
    """Return the slices that were not judged as they have too few clusters, with their number."""
    small: dict[str, int] = {}
    for part in parts_of(run, comparison, policy) if policy.slices else ():
        if is_too_small(part, policy):
            name = slice_name(part.slice)
            small[name] = max(small.get(name, 0), part.clusters)
    return small


def _new_outcome(run: Run, comparison: Comparison, part: Part, policy: RegressionPolicy) -> GateOutcome:
    """Return the outcome of a member before it is judged; of a metric over pairs of cases it shows the aggregate."""
    change, own = part.change, policy.for_metric(part.metric)
    shown = change if part.slice or part.stat != "aggregate" else comparison.aggregates.get(part.metric, change)
    gate = regression_outcome(
        run, part.metric, shown, stat=part.stat, labels=part.slice, n=change.n, dropped=change.dropped
    )
    gate.steady, gate.limit = part.steady, own.min_effect
    return gate


def _test(verdict: MemberVerdict, part: Part, policy: RegressionPolicy) -> Test:
    test, estimate, own = verdict.test, verdict.estimate, policy.for_metric(part.metric)
    assert test is not None
    varies = not part.steady
    shift = verdict.detectable_shift if verdict.differs else planned_mde(estimate.n_clusters)
    return Test(
        policy.alpha, test.p_raw, test.p_drop, test.p_gain, verdict.drop, own.min_effect, own.margin,
        estimate.n_clusters, n_worse=verdict.n_worse, n_better=verdict.n_better,
        hall_agrees=not verdict.is_skewed_only, lower=verdict.lower_bound,
        detectable=shift if varies else verdict.cost_of_one,
        detectable_answers=verdict.detectable_losses if varies else None, cases_needed=_cases_needed(verdict, own),
    )  # fmt: skip


def _cases_needed(verdict: MemberVerdict, own: RegressionPolicy) -> int | None:
    """Return how many cases would decide an inconclusive member, if mean and spread stay as they are.

    They have to detect the observed drop (to fail) or margin - drop (to pass); the easier one counts.  None if neither
    is possible: the drop lies between margin and min_effect.
    """
    n, clusters = verdict.estimate.n_cases, verdict.estimate.n_clusters
    is_large = verdict.drop >= own.min_effect - TIE
    effect = max(own.margin - verdict.drop, verdict.drop if is_large else 0.0)
    if not n or effect <= TIE or verdict.outcome != "inconclusive":
        return None
    fewest_clusters = math.ceil(math.log2(1.0 / verdict.alpha))  # with fewer p exceeds alpha even if all are worse
    shift = verdict.detectable_shift if verdict.detectable_shift is not None else planned_mde(clusters)
    return max(n + 1, math.ceil(n * fewest_clusters / clusters), cases_for_effect(n, shift, effect))
