"""The verdict on a run, in gates and in one word: thresholds, coverage, errors, the comparison with a baseline.

A run fails by the case guard (`case_guard`, part of each case's result) or by the suite guard here.  Suite gates do not
judge a partial run: a mean over three of forty cases says nothing about forty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..base.grouping import grouped
from ..base.text import names_words
from ..core.metrics_base import Metric
from ..core.run import Run
from ..core.scoring import Aggregate, aggregate
from .baseline import BROKEN, STILL_FAILING, Anchor, Baseline
from .compare import CaseComparison, Comparison, compare, has_regressed
from .guards.calibration import advisory_notes, judge_outcomes, make_advisory, standing_of
from .guards.case_guard import VARIES
from .guards.coverage import coverage_outcomes, label_notes, no_match_notes, nothing_compares
from .guards.gates import GateOutcome, judge_gate
from .guards.interval_guard import compare_pairs, score_pairs
from .guards.steadiness import VarianceSplit, flaky_cases, variance_splits
from .guards.suite_guard import judge_comparison, net_flips, slice_notes, too_few_notes
from .policy import RegressionPolicy
from .thresholds import Bound, Gate

Word = Literal["worse", "better", "same", "inconclusive", "not judged", "mixed"]
"""The comparison with the baseline in a word; ``mixed``: single cases fell, the suite is the same or better."""


def word_of(gates: Iterable[GateOutcome], regressed_cases: Sequence[str] = ()) -> Word:
    """Return the word for a run, by its gates against baseline and anchor (advisory ones do not count).

    *regressed_cases* are those that failed because they are worse than their baseline, or that newly errored.
    """
    words = {g.word for g in gates if g.kind in ("regression", "anchor") and g.state not in ("advisory", "not judged")}
    if "worse" in words:
        return "worse"
    if regressed_cases:
        return "mixed" if words & {"same", "better"} and "inconclusive" not in words else "worse"
    return next((word for word in ("better", "inconclusive", "same") if word in words), "not judged")


Outcome = Literal["passed", "failed", "inconclusive", "not judged"]


@dataclass(slots=True)
class Verdict:
    """The verdict on one run.

    ``aggregates`` has every metric of the run; ``comparison`` is None without a baseline, and ``baseline_note`` then
    says why.  ``gates`` are in the order they are shown.  If cases were repeated, ``flaky`` has those too unstable for
    the case guard, with the reason, and ``noise`` splits the spread of each metric in that of cases and of repeats.
    ``regressed_cases`` are those that failed because they are worse than their baseline, ``improved_cases`` those in
    which a score rose by more than ``case_max_drop``, ``varies`` those that failed at first and passed when asked
    again.
    """

    title: str
    gates: list[GateOutcome] = field(default_factory=list)
    aggregates: dict[str, Aggregate] = field(default_factory=dict)
    comparison: Comparison | None = None
    baseline_note: str = ""
    notes: list[str] = field(default_factory=list)
    failed_cases: int = 0
    flaky: dict[str, str] = field(default_factory=dict)
    noise: dict[str, VarianceSplit] = field(default_factory=dict)
    regressed_cases: list[str] = field(default_factory=list)
    improved_cases: list[str] = field(default_factory=list)
    varies: list[str] = field(default_factory=list)

    @property
    def case_comparisons(self) -> Mapping[str, CaseComparison]:
        """Each case that has a baseline against it."""
        return self.comparison.cases if self.comparison is not None else {}

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
    baseline_note: str = "",
    require_baseline: bool = False,
    accepting: bool = False,
    pruning: bool = False,
    calibrations: Path | None = None,
    anchor: Anchor | None = None,
) -> Verdict:
    """Judge *run*.

    Args:
        run: full or partial; of a partial run only single cases are judged.
        gates: suite thresholds.
        policy: how the comparison with the baseline is judged.
        metrics: the metric objects of ``run.metrics``, for aggregation.
        baseline: the accepted results, or None.
        baseline_note: why there is no baseline, for people; a broken baseline fails the run.
        require_baseline: a missing baseline fails.
        accepting: the run is about to become the baseline, so changes are shown and not judged.
        pruning: vanished cases and metrics are about to be dropped from the baseline.
        calibrations: the folder of calibration files, which decide whether judged metrics may fail the run.
        anchor: an older baseline; it is judged also while accepting, as accepted steps add up to slow drift.
    """
    standing = standing_of(run.metrics, policy, calibrations)
    out = Verdict(run.title, baseline_note=baseline_note)
    score_pairs(run, metrics)
    out.failed_cases = sum(not c.expected_to_fail for c in run.in_state("failed", "error"))
    out.aggregates = {name: aggregate(metric, run.scores_of(name)) for name, metric in metrics.items()}
    if baseline is not None:
        out.comparison = compare(run, baseline)
    if out.comparison is not None and accepting:
        compare_pairs(run, out.comparison, metrics)
    gates = list(gates)
    if all(gate.metric != "error_rate" for gate in gates):  # which is 0 unless the suite says otherwise
        gates.append(Gate("error_rate", Bound("max", 0.0)))
    out.gates += [judge_gate(run, gate, metrics) for gate in gates]
    out.gates += coverage_outcomes(run, out.aggregates, out.comparison, accepting=accepting, pruning=pruning)
    if out.comparison is not None and not accepting:
        out.gates += judge_comparison(run, out.comparison, policy, metrics, standing.advisory)
        out.gates += nothing_compares(run, out.comparison, required=require_baseline)
    elif not accepting and (require_baseline or baseline_note.startswith(BROKEN)):
        out.gates.append(_missing_baseline(baseline_note))
    if anchor is not None:
        _judge_anchor(out, run, anchor, policy, metrics, advisory=standing.advisory)
    out.notes += no_match_notes(run, out.gates)
    make_advisory(out.gates, standing)
    out.gates += judge_outcomes(run, list(out.gates), standing, policy)
    if not run.is_full:
        reason = f"{len(run.cases)} of {len(run.expected_ids)} cases ran, so this was not judged"
        for suite_gate in out.gates:
            if suite_gate.kind not in ("baseline", "calibration"):
                suite_gate.state, suite_gate.would_be = "not judged", ""
                suite_gate.set_message(reason)
    _note_cases(run, None if accepting else out.comparison, policy, out)
    out.notes += label_notes(run, out.comparison) + _quarantine_notes(run) + advisory_notes(run, out.gates, standing)
    return out


def _judge_anchor(
    out: Verdict, run: Run, anchor: Anchor, policy: RegressionPolicy, metrics: Mapping[str, Metric], *,
    advisory: Collection[str],
) -> None:  # fmt: skip
    """Compare the run with the anchor: one outcome per comparable metric, or one failure if it cannot be read.

    Single cases are not compared.  Metrics missing from the run are reported by the baseline comparison.
    """
    if anchor.problem:
        out.gates.append(GateOutcome("anchor", "baseline", "failed", anchor.problem, owner=run.owner))
    if anchor.baseline is None:
        return
    comparison = compare(run, anchor.baseline)
    if run.is_full and any(case.changes for case in comparison.cases.values()):
        reasons = grouped((why, name) for name, why in comparison.incomparable.items()).items()
        out.notes += [f"not comparable with the anchor: {', '.join(names)} ({why})" for why, names in reasons]
    elif run.is_full:
        message = "nothing in this run compares with the anchor, so slow drift was not judged"
        out.notes.append(f"{message}; renew it: --auepora-update=anchor")
    for gate in judge_comparison(run, comparison, policy.against_anchor(), metrics, advisory):
        gate.title, gate.kind = f"anchor: {gate.part}", "anchor"
        gate.set_message(gate.reason, f"{gate.title}: ")
        gate.part = gate.title
        out.gates.append(gate)


def _missing_baseline(note: str) -> GateOutcome:
    message = note or "there is no baseline"
    if not note.startswith(BROKEN):  # such a note names the remedy itself
        message += "; accept a run with --auepora-update, and commit the file"
    return GateOutcome("baseline", "baseline", "failed", message)


def _note_cases(run: Run, comparison: Comparison | None, policy: RegressionPolicy, out: Verdict) -> None:
    """Note which cases fell, rose, vary or are flaky, which slices are too small, which metrics vary now."""
    out.flaky, out.noise = flaky_cases(run, out.comparison, policy), variance_splits(run, out.comparison)
    varies = {case.case_id: case.extra[VARIES] for case in run.having(VARIES)}
    out.varies = list(varies)
    if shares := [f"{i} ({votes['passed']} of {votes['answers']} answers passed)" for i, votes in varies.items()]:
        out.notes.append(f"varies, so it did not fail: {names_words(shares)}")
    if comparison is None:
        return
    if run.is_full:
        out.notes += slice_notes(run, comparison, policy) + too_few_notes(out.gates)
    for case_id, case in comparison.cases.items():
        result = run.cases[case_id]
        newly_errored = case.flip == "errored" and case.before is not None and case.before.state != "error"
        if (newly_errored or (case.paired and has_regressed(result))) and not result.expected_to_fail:
            out.regressed_cases.append(case_id)
    if (flips := net_flips(run, comparison, policy)) is not None:
        out.improved_cases = [case_id for case_id, change in flips.changes.items() if change.gain > 0]
    if comparison.unsteady:
        message = f"{', '.join(comparison.unsteady)}: no longer steady, answers to one case differed in this run"
        out.notes.append(f"{message}; if intended, --auepora-update stores it")


def _quarantine_notes(run: Run) -> list[str]:
    cases = list(run.having("quarantine"))
    active = [
        f"{c.case_id} (until {c.extra['quarantine']}{'; an assertion fails' if STILL_FAILING in c.extra else ''})"
        for c in cases
        if c.quarantined()
    ]
    expired = [f"{c.case_id} (until {c.extra['quarantine']})" for c in cases if not c.quarantined()]
    notes = [f"in quarantine, not held to the baseline: {', '.join(active)}"] if active else []
    return notes + ([f"quarantine is over, held to the baseline again: {', '.join(expired)}"] if expired else [])
