"""The verdict on a run, in gates and in one word: thresholds, coverage, errors, the comparison with a baseline.

A run fails by the case guard (`case_guard`, part of each case's result) or by the suite guard here.  Suite gates do not
judge a partial run: a mean over three of forty cases says nothing about forty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from ..base.grouping import grouped
from ..base.records import Record
from ..core.metrics_base import Metric
from ..core.run import Run
from ..core.scoring import Aggregate, aggregate
from .baseline import Baseline
from .baseline_file import Anchor
from .cause import Cause
from .compare import CaseComparison, Comparison, Incomparable, compare
from .guards.calibration import advisory_metrics, judge_outcomes, make_advisory
from .guards.coverage import coverage_outcomes, no_match_notes, nothing_compares
from .guards.gates import judge_gate
from .guards.interval_guard import compare_pairs, score_pairs
from .guards.steadiness import VarianceSplit, flaky_cases, variance_splits
from .guards.suite_guard import judge_comparison, note_shares, small_slices
from .outcomes import Advisory, BaselineNote, GateOutcome, GateReason, Look, Note
from .policy import RegressionPolicy
from .thresholds import Bound, Gate

Word = Literal["worse", "better", "same", "inconclusive", "not judged", "mixed"]
"""The comparison with the baseline in a word; ``mixed``: single cases fell, the suite is the same or better."""


def word_of(gates: Sequence[GateOutcome], regressed_cases: Sequence[str] = ()) -> Word:
    """Return the word for a run, by its gates against baseline and anchor (advisory ones do not count).

    *regressed_cases* are those that failed because they are worse than their baseline, or that newly errored.
    """
    words = {g.word for g in gates if g.kind in ("regression", "anchor") and g.state not in ("advisory", "not judged")}
    if any(gate.reason == "nothing compares" for gate in gates):  # that no case has a number, then as now, is no "same"
        words.discard("same")
    if "worse" in words:
        return "worse"
    if regressed_cases:
        return "mixed" if words & {"same", "better"} and "inconclusive" not in words else "worse"
    return next((word for word in ("better", "inconclusive", "same") if word in words), "not judged")


Outcome = Literal["passed", "failed", "inconclusive", "not judged"]


@dataclass(slots=True)
class Verdict(Record):
    """The verdict on one run."""

    title: str
    """Suite, with the configuration in brackets."""
    gates: list[GateOutcome] = field(default_factory=list)
    """What was judged, in the order it is shown."""
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    """Every metric of the run."""
    comparison: Comparison | None = None
    """The run beside its baseline; null without one."""
    baseline_note: BaselineNote = field(default_factory=BaselineNote)
    """Why there is no baseline."""
    notes: list[Note] = field(default_factory=list)
    """What is worth knowing and fails nothing."""
    failed_cases: int = 0
    """Cases that failed or errored, without those that are expected to."""
    flaky: dict[str, float] = field(default_factory=dict)
    """Cases of which some accepted answers hold all checks and others do not: the share that does."""
    noise: dict[str, VarianceSplit] = field(default_factory=dict)
    """By metric, where cases were repeated: variance within and between cases."""
    regressed_cases: list[str] = field(default_factory=list)
    """Cases that failed because they are worse than their baseline."""
    improved_cases: list[str] = field(default_factory=list)
    """Cases in which a score rose by more than `case_max_drop`, or a failed check holds now."""
    varies: list[str] = field(default_factory=list)
    """Cases in which a check failed at first, and chance is not ruled out."""
    suspects: list[str] = field(default_factory=list)
    """Cases in which a check failed, and no answer could rule chance out."""
    advisory: dict[str, Advisory] = field(default_factory=dict)
    """Metrics of LLM judges that cannot fail the run, and why."""
    look: Look = ""
    """Which answers decided about metrics that vary."""
    cause: Cause | None = None
    """What it got worse by; null where nobody asked."""
    wants_look: bool = False
    """Whether every case is to be asked once more before the suite may fail."""

    @property
    def case_comparisons(self) -> Mapping[str, CaseComparison]:
        """Each case that has a baseline against it."""
        return self.comparison.cases if self.comparison is not None else {}

    def leave_unjudged(self, reason: GateReason) -> None:
        """Judge no gate of the suite, for *reason*; what is wrong with its files stays."""
        for gate in self.gates:
            if gate.kind not in ("baseline", "calibration"):
                gate.state, gate.would_be, gate.reason = "not judged", "", reason

    @property
    def word(self) -> Word:
        """The comparison with the baseline in a word: worse, better, same, inconclusive, not judged, mixed."""
        return word_of(self.gates, self.regressed_cases)

    @property
    def outcome(self) -> Outcome:
        """``failed`` if any gate or case failed, else the least certain state of a gate."""
        states = {g.state for g in self.gates}
        if "failed" in states or self.failed_cases:
            return "failed"
        return next((state for state in ("not judged", "inconclusive") if state in states), "passed")


def judge(
    run: Run,
    gates: Iterable[Gate],
    policy: RegressionPolicy,
    metrics: Mapping[str, Metric],
    *,
    baseline: Baseline | None = None,
    baseline_note: BaselineNote | None = None,
    require_baseline: bool = False,
    accepting: bool = False,
    pruning: bool = False,
    calibrations: Path | None = None,
    anchor: Anchor | None = None,
    further: Sequence[Run] = (),
    can_look: bool = False,
) -> Verdict:
    """Judge *run*.

    Args:
        run: full or partial; of a partial run only single cases are judged.
        gates: suite thresholds.
        policy: how the comparison with the baseline is judged.
        metrics: the metric objects of ``run.metrics``, for aggregation.
        baseline: the accepted results, or None.
        baseline_note: why there is no baseline; a broken one fails the run.
        require_baseline: a missing baseline fails, and so does a case that is suspect.
        accepting: the run is about to become the baseline, so changes are shown and not judged.
        pruning: vanished cases and metrics are about to be dropped from the baseline.
        calibrations: the folder of calibration files, which decide whether judged metrics may fail the run.
        anchor: an older baseline; it is judged also while accepting, as accepted steps add up to slow drift.
        further: a run of further answers to every case for each look that was wanted.
        can_look: whether every case can be asked once more; the verdict then says whether it has to be.
    """
    advisory = advisory_metrics(run.metrics, policy, calibrations)
    out = Verdict(run.title, baseline_note=baseline_note or BaselineNote(), advisory=advisory)
    for scored in (run, *further):
        score_pairs(scored, metrics)
    out.failed_cases = sum(not c.expected_to_fail for c in run.in_state("failed", "error"))
    out.aggregates = {name: aggregate(metric, run.scores_of(name)) for name, metric in metrics.items()}
    if baseline is not None:
        out.comparison = compare(run, baseline)
        note_shares(run, out.comparison, policy, advisory)
    if out.comparison is not None and accepting:
        compare_pairs(run, out.comparison, metrics)
    judging = _Judging(run, metrics, further, can_look)
    out.gates += [judge_gate(run, gate, metrics) for gate in _with_error_rate(gates)]
    out.gates += coverage_outcomes(
        run, out.aggregates, out.comparison, accepting=accepting, pruning=pruning,
        against_accepted=[name for name, metric in metrics.items() if metric.against_accepted],
    )  # fmt: skip
    _note_suspects(run, out, required=require_baseline)
    if not accepting:
        out.notes += _reuse_notes(run, policy)
    if baseline is not None and out.comparison is not None and not accepting:
        judging.against(out, baseline, out.comparison, policy)
        out.gates += nothing_compares(run, out.comparison, required=require_baseline)
    elif not accepting and (require_baseline or out.baseline_note.state == "unreadable"):
        reason: GateReason = "unreadable" if out.baseline_note.state == "unreadable" else "no baseline"
        out.gates.append(GateOutcome("baseline", "failed", reason=reason, detail=out.baseline_note.detail))
    if anchor is not None:
        _judge_anchor(out, anchor, policy, judging)
    out.notes += no_match_notes(run)
    make_advisory(out.gates, advisory)
    out.gates += judge_outcomes(run, list(out.gates), advisory, policy)
    if not run.is_full:
        out.wants_look, out.look = False, ""
        out.leave_unjudged("partial run")
    _note_cases(run, None if accepting else out.comparison, policy, out)
    if baseline is not None and not accepting and (once := sum(c.answers == 1 for c in baseline.cases.values())):
        out.notes.append(Note("accepted once", data={"cases": once}))
    return out


def _with_error_rate(gates: Iterable[Gate]) -> list[Gate]:
    """Return *gates* with that of ``error_rate``, which is 0 unless the suite says otherwise."""
    gates = list(gates)
    is_there = any(gate.metric == "error_rate" for gate in gates)
    return gates if is_there else [*gates, Gate("error_rate", Bound("max", 0.0))]


def _reuse_notes(run: Run, policy: RegressionPolicy) -> list[Note]:
    """Return for how many cases the accepted answers serve, where the suite wants that."""
    if not policy.reuse:
        return []
    asked = [case for case in run.cases.values() if case.state != "skipped"]
    return [Note("reused", data={"cases": len(asked), "reused": sum(case.reused for case in asked)})]


class _Judging(NamedTuple):
    """What the suite guard needs, against the baseline and against the anchor alike."""

    run: Run
    metrics: Mapping[str, Metric]
    further: Sequence[Run]
    can_look: bool

    def against(self, out: Verdict, baseline: Baseline, comparison: Comparison, policy: RegressionPolicy) -> None:
        """Add the outcomes of the suite guard to *out*, by the first look or by all."""
        further = [(run, compare(run, baseline)) for run in self.further]
        for one in further:
            note_shares(*one, policy, out.advisory)
        judgement = judge_comparison(
            self.run, comparison, policy, self.metrics, out.advisory, further=further,
            can_look=self.can_look and self.run.is_full,
            is_red=bool(out.failed_cases) or any(gate.state == "failed" for gate in out.gates),
        )  # fmt: skip
        out.gates += judgement.gates
        out.wants_look |= judgement.wants_look
        if not out.look or judgement.look in ("second", "only"):
            out.look = judgement.look


def _judge_anchor(out: Verdict, anchor: Anchor, policy: RegressionPolicy, judging: _Judging) -> None:
    """Compare the run with the anchor: one outcome per comparable metric, or one failure if it cannot be read.

    Single cases are not compared.  Metrics missing from the run are reported by the baseline comparison.
    """
    run = judging.run
    if anchor.problem:
        found = GateOutcome("anchor", "failed", reason="unreadable", detail=anchor.problem, owner=run.owner)
        out.gates.append(found)
    if anchor.baseline is None:
        return
    comparison, stricter = compare(run, anchor.baseline), policy.against_anchor()
    note_shares(run, comparison, stricter, out.advisory)
    if run.is_full and any(case.changes for case in comparison.cases.values()):
        for why, names in _by_reason(comparison.incomparable):
            out.notes.append(Note("not comparable with the anchor", tuple(names), why=why))
    elif run.is_full:
        out.notes.append(Note("anchor not compared"))
    n_gates = len(out.gates)
    judging.against(out, anchor.baseline, comparison, stricter)
    for gate in out.gates[n_gates:]:
        gate.kind = "anchor"


def _by_reason(incomparable: Mapping[str, Incomparable]) -> Iterator[tuple[Incomparable, list[str]]]:
    """Yield each reason with its metrics."""
    by_text = grouped((repr(why), (why, name)) for name, why in incomparable.items())
    for pairs in by_text.values():
        yield pairs[0][0], [name for _, name in pairs]


def _note_suspects(run: Run, out: Verdict, *, required: bool) -> None:
    """Note the cases that vary, and those that are suspect: these fail a run that requires a baseline."""
    for case in run.cases.values():
        if case.with_status("suspect"):
            out.suspects.append(case.case_id)
        elif case.with_status("varies"):
            out.varies.append(case.case_id)
    if out.suspects and required:
        names = tuple(out.suspects)
        out.gates.append(GateOutcome("baseline", "failed", reason="suspects", names=names, owner=run.owner))


def _note_cases(run: Run, comparison: Comparison | None, policy: RegressionPolicy, out: Verdict) -> None:
    """Note which cases fell or rose, which are flaky, which slices are too small, which metrics vary now."""
    out.flaky, out.noise = flaky_cases(out.comparison), variance_splits(run, out.comparison)
    if comparison is None:
        return
    if run.is_full and (small := small_slices(run, comparison, policy)):
        out.notes.append(Note("slices too small", tuple(small), data={"clusters": dict(small)}))
    for case_id, case in comparison.cases.items():
        result = run.cases[case_id]
        if case.paired and case.before is not None and not result.expected_to_fail:
            if any(finding.is_worse for finding in result.findings):
                out.regressed_cases.append(case_id)
            elif case.flip == "fixed" or _rose(run, case, policy):
                out.improved_cases.append(case_id)


def _rose(run: Run, case: CaseComparison, policy: RegressionPolicy) -> bool:
    """Whether a score rose by more than it may fall."""
    changes = case.changes.items()
    return any(
        c.gain > policy.for_metric(n).case_max_drop for n, c in changes if math.isfinite(run.metrics[n].range[1])
    )


def worse_cases(run: Run, verdict: Verdict) -> list[str]:
    """Return the cases that got worse; in a suite that is worse without any, those that lost, the largest loss first.

    A case that its baseline expects to fail, or that nothing is known of, is not among them.
    """
    return list(verdict.regressed_cases) or sorted(
        losses := losses_of(run, verdict), key=lambda case_id: losses[case_id]
    )


def losses_of(run: Run, verdict: Verdict) -> dict[str, float]:
    """Return the gains, all negative, of the cases by which the suite is worse, where no case failed by itself."""
    comparison = verdict.comparison
    worse = [g for g in verdict.gates if g.state == "failed" and g.word == "worse" and g.kind == "regression"]
    if comparison is None or not worse or verdict.failed_cases:
        return {}
    out: dict[str, float] = {}
    names = {gate.metric for gate in worse}
    for case_id, pair in comparison.cases.items():
        gains = [change.gain for name, change in pair.changes.items() if name in names]
        gains += [shares[case_id].gain for name in names if case_id in (shares := comparison.has_number.get(name, {}))]
        if case_id in comparison.pass_rate and any(gate.metric not in run.metrics for gate in worse):
            gains.append(comparison.pass_rate[case_id].gain)
        if gains and min(gains) < 0:
            out[case_id] = min(gains)
    return out
