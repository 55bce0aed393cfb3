"""The verdict on a run, in gates and in one word: thresholds, coverage, errors, the comparison with a baseline.

Two guards, either fails: the case guard (`case_guard`, part of each case's own result) and the suite
guard here.  A partial run is not judged: a mean over three of forty cases says nothing about forty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..core.grouping import grouped
from ..core.metrics_base import Metric
from ..core.run import Run
from ..core.scoring import Aggregate, aggregate
from ..errors import names_words
from .baseline import BROKEN, Anchor, Baseline
from .compare import Comparison, broke, compare
from .guards.calibration import advisory_notes, broken_outcomes, hold_back, silent_judges, standing_of
from .guards.case_guard import VARIES
from .guards.coverage import coverage_outcomes, label_notes, label_outcomes, nothing_compares, unmet_notes
from .guards.gates import GateOutcome, judge_gate
from .guards.interval_guard import compare_pairs, score_pairs
from .guards.steadiness import VarianceSplit, flaky_cases, noise_of
from .guards.suite_guard import judge_comparison, net_flips, slice_notes, too_few_notes
from .policy import RegressionPolicy
from .thresholds import Bound, Gate

Word = Literal["worse", "better", "same", "inconclusive", "not judged", "mixed"]
"""What the comparison with the baseline amounts to; ``mixed``: single cases fell, the suite is the same or better."""


def word_of(gates: Iterable[GateOutcome], fell: Sequence[str] = ()) -> Word:
    """Return the word for a run.

    Args:
        gates: its outcomes; those against the baseline and the anchor count, advisory ones do not.
        fell: ids of the cases that failed as they are worse than their baseline, or errored and did not before.
    """
    words = {g.word for g in gates if g.kind in ("regression", "anchor") and g.state not in ("advisory", "not judged")}
    if "worse" in words:
        return "worse"
    if fell:
        return "mixed" if words & {"same", "better"} and "inconclusive" not in words else "worse"
    for word in ("better", "inconclusive", "same"):
        if word in words:
            return word
    return "not judged"


Outcome = Literal["passed", "failed", "inconclusive", "not judged"]


@dataclass(slots=True)
class Verdict:
    """What a run amounts to.

    ``aggregates`` has every metric of the run; ``comparison`` is None without a baseline, and
    ``baseline_note`` then says why.  ``gates`` are in the order they are shown.  Where cases were repeated,
    ``flaky`` has those too unsteady to be held to a baseline, with the reason, and ``noise`` says by metric how much
    of the spread is that of a case asked again.  ``fell`` are the cases that failed as they are worse than their
    baseline, ``rose`` those in which a score rose by more than ``case_max_drop``, ``varies`` those that did not answer
    the same when they were asked again.
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
    fell: list[str] = field(default_factory=list)
    rose: list[str] = field(default_factory=list)
    varies: list[str] = field(default_factory=list)

    @property
    def word(self) -> Word:
        """The comparison with the baseline in a word: worse, better, same, inconclusive, not judged, mixed."""
        return word_of(self.gates, self.fell)

    @property
    def outcome(self) -> Outcome:
        """``failed`` if any gate or case failed, else the least certain of the gates."""
        states = {g.state for g in self.gates}
        if "failed" in states or self.failed_cases:
            return "failed"
        for state in ("not judged", "inconclusive"):
            if state in states:
                return state
        return "passed"


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
        run: full or partial; of a partial run only what single cases show is judged.
        gates: suite thresholds.
        policy: how the comparison with the baseline is judged.
        metrics: the metric objects of ``run.metrics``, for aggregation.
        baseline: what was accepted, or None.
        baseline_note: why there is no baseline, for people; a broken one fails the run.
        require_baseline: a missing baseline fails.
        accepting: the run is about to become the baseline, so changes are shown and not judged.
        pruning: baseline cases and metrics that are gone are about to be dropped.
        calibrations: the folder of calibration files; what a judge says counts only as they allow.
        anchor: an older baseline, judged as well, also while accepting: that is when slow drift gets in.
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
    out.gates += coverage_outcomes(run, out.comparison, accepting=accepting, pruning=pruning) + label_outcomes(run)
    if out.comparison is not None and not accepting:
        out.gates += judge_comparison(run, out.comparison, policy, metrics, standing.advisory)
        out.gates += nothing_compares(run, out.comparison, required=require_baseline)
    elif not accepting and (require_baseline or baseline_note.startswith(BROKEN)):
        out.gates.append(_no_baseline(baseline_note))
    if anchor is not None:
        _judge_anchor(out, run, anchor, policy, metrics, advisory=standing.advisory)
    out.notes += unmet_notes(run, out.gates)
    hold_back(out.gates, standing)
    out.gates += broken_outcomes(run, standing)
    out.gates += silent_judges(run, out.gates, policy)
    if not run.is_full:
        _withhold(run, out)
    _note_cases(run, None if accepting else out.comparison, policy, out)
    out.notes += label_notes(run, out.comparison) + _quarantine_notes(run) + advisory_notes(run, out.gates, standing)
    return out


def _judge_anchor(
    out: Verdict, run: Run, anchor: Anchor, policy: RegressionPolicy, metrics: Mapping[str, Metric], *,
    advisory: Collection[str],
) -> None:  # fmt: skip
    """Add one outcome per metric that compares with the anchor, or one failure if it cannot be read; say what does not.

    Cases are not held to it one by one, and what it measured and nobody does any more is the baseline's to miss.
    """
    if anchor.problem:
        out.gates.append(GateOutcome("anchor", "baseline", "failed", anchor.problem, owner=run.owner))
    if anchor.baseline is None:
        return
    found = compare(run, anchor.baseline)
    if run.is_full and any(case.changes for case in found.cases.values()):
        reasons = grouped((why, name) for name, why in found.incomparable.items()).items()
        out.notes += [f"not comparable with the anchor: {', '.join(names)} ({why})" for why, names in reasons]
    elif run.is_full:
        told = "nothing in this run compares with the anchor, so slow drift was not judged"
        out.notes.append(f"{told}; renew it: --auepora-update anchor")
    for gate in judge_comparison(run, found, policy.against_anchor(), metrics, advisory):
        gate.title, gate.kind = f"anchor: {gate.part}", "anchor"
        gate.tell(gate.reason, f"{gate.title}: ")
        gate.part = gate.title
        out.gates.append(gate)


def _no_baseline(note: str) -> GateOutcome:
    told = note or "there is no baseline"
    if not note.startswith(BROKEN):  # which says itself what helps
        told += "; accept a run with --auepora-update, and commit the file"
    return GateOutcome("baseline", "baseline", "failed", told)


def _note_cases(run: Run, comparison: Comparison | None, policy: RegressionPolicy, out: Verdict) -> None:
    """Note which cases fell, rose, vary and are flaky, and what was too small or is no longer steady to be judged."""
    out.flaky, out.noise = flaky_cases(run, out.comparison, policy), noise_of(run, out.comparison)
    varies = {case.case_id: case.extra[VARIES] for case in run.having(VARIES)}
    out.varies = list(varies)
    if shares := [f"{i} ({one['passed']} of {one['answers']} answers passed)" for i, one in varies.items()]:
        out.notes.append(f"varies, so it did not fail: {names_words(shares)}")
    if comparison is None:
        return
    if run.is_full:
        out.notes += slice_notes(run, comparison, policy) + too_few_notes(out.gates)
    for case_id, case in comparison.cases.items():
        if broke(run.cases[case_id]) or (
            case.flip == "errored" and case.before is not None and case.before.state != "error"
        ):
            out.fell.append(case_id)
    if (flips := net_flips(run, comparison, policy)) is not None:
        out.rose = [case_id for case_id, change in flips.part.changes.items() if change.gain > 0]
    if comparison.unsteady:
        told = f"{', '.join(comparison.unsteady)}: no longer steady, answers to one case differed in this run"
        out.notes.append(f"{told}; if intended, --auepora-update stores it")


def _quarantine_notes(run: Run) -> list[str]:
    cases = list(run.having("quarantine"))
    held = [
        f"{c.case_id} (until {c.extra['quarantine']}{'; an assertion fails' if 'still_failing' in c.extra else ''})"
        for c in cases
        if c.quarantined()
    ]
    over = [f"{c.case_id} (until {c.extra['quarantine']})" for c in cases if not c.quarantined()]
    notes = [f"in quarantine, not held to the baseline: {', '.join(held)}"] if held else []
    return notes + ([f"quarantine is over, held to the baseline again: {', '.join(over)}"] if over else [])


def _withhold(run: Run, verdict: Verdict) -> None:
    """Take back every suite-level judgement of a partial run."""
    reason = f"{len(run.cases)} of {len(run.expected_ids)} cases ran, so this was not judged"
    for gate in verdict.gates:
        if gate.kind not in ("baseline", "calibration"):
            gate.state, gate.would_be = "not judged", ""
            gate.tell(reason)
