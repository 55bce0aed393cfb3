"""Counts of newly failing, fixed, unchanged, … cases: the first line of every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

from ..base.grouping import grouped
from ..core.run import CaseResult, Run
from ..errors import Problem
from ..regression.baseline import BROKEN
from ..regression.compare import CaseComparison, without_hashes
from ..regression.verdict import Outcome, Verdict
from .numbers import plural

CaseStatus = Literal[
    "newly failing", "errored", "new and failing", "edited and failing", "still failing", "failed",
    "fixed", "unchanged", "passed", "new", "edited", "expected to fail", "skipped",
]  # fmt: skip
"""The status of a case, in the order of reports."""

ORDER: tuple[CaseStatus, ...] = get_args(CaseStatus)
"""All kinds, the worst first."""

FAILING = ORDER[: ORDER.index("fixed")]
"""Kinds of failing cases; one that still fails may have been accepted as it is."""

STATE_STYLES: Mapping[str, tuple[str, ...]] = {
    "passed": ("green",), "failed": ("red", "bold"), "inconclusive": ("yellow",),
}  # fmt: skip
"""Colours of outcomes and of the states of gates in a terminal."""

_SHORT_NOTE = 40


def case_status(result: CaseResult, comparison: CaseComparison | None) -> CaseStatus:
    """Return the status of a case against its baseline; without a baseline, that of the case alone."""
    if result.expected_to_fail and result.state != "passed":
        return "expected to fail"
    if result.state == "skipped":
        return "skipped"
    if result.state == "error":
        return "errored"
    bad = result.state == "failed"
    match comparison.flip if comparison is not None else None:
        case None | "errored" | "skipped":
            return "failed" if bad else "passed"
        case "new":
            return "new and failing" if bad else "new"
        case "changed":
            return "edited and failing" if bad else "edited"
        case flip:
            return flip


def cases_of(run: Run, verdict: Verdict, statuses: Sequence[CaseStatus] = ORDER) -> dict[CaseStatus, list[CaseResult]]:
    """Return the cases of a run by kind, worst kinds first, each in the order of the golden file; only *statuses*."""
    compared = verdict.case_comparisons
    groups = grouped((case_status(result, compared.get(case_id)), result) for case_id, result in run.cases.items())
    return {status: groups[status] for status in ORDER if status in groups and status in statuses}


def tally(run: Run, verdict: Verdict) -> Counter[CaseStatus]:
    """Return the number of cases of each kind."""
    return Counter({status: len(cases) for status, cases in cases_of(run, verdict).items()})


def headline(verdicts: Sequence[Verdict], runs: Sequence[Run]) -> str:
    """Sum up the judged *runs*: ``2 newly failing, 1 fixed, 1 not comparable (edited); 1 gate failed``."""
    compared: Counter[CaseStatus] = Counter()
    uncompared: Counter[CaseStatus] = Counter()
    for run, verdict in zip(runs, verdicts, strict=True):
        (uncompared if verdict.comparison is None else compared).update(tally(run, verdict))
    parts = [_counts_text(compared)] if compared else []
    if uncompared:
        reason = _baseline_reason({v.baseline_note for v in verdicts if v.comparison is None})
        text = _counts_text(uncompared)
        parts.append(f"without a baseline {text}" if compared else f"{text} ({reason}: thresholds only)")
    if n_varying := sum(len(verdict.varies) for verdict in verdicts):
        parts.append(f"{plural(n_varying, 'case')} {'varies' if n_varying == 1 else 'vary'}")
    if not parts:
        return "nothing was measured"
    return "; ".join([*parts, *_comparability_notes(verdicts), *_gate_notes(verdicts, runs)])


def comparison_word(verdict: Verdict) -> str:
    """Return ``worse``, ``better (3 rose)``, ``mixed (1 fell, 3 rose)``, …; empty where nothing was compared."""
    word, rose = verdict.word, len(verdict.improved_cases)
    if verdict.comparison is None or word == "not judged":
        return ""
    if word == "mixed":
        return f"mixed ({len(verdict.regressed_cases)} fell, {rose} rose)"
    return f"better ({rose} rose)" if word == "better" and rose else word


def gravest(outcomes: Collection[Outcome]) -> Outcome:
    """Return the gravest of *outcomes*; without any nothing was judged."""
    order: tuple[Outcome, ...] = ("failed", "inconclusive", "not judged", "passed")
    return min(outcomes, key=order.index, default="not judged")


def mistakes_note(mistakes: Sequence[Problem]) -> str:
    """Return how many there are: ``3 mistakes in 2 files``."""
    return f"{plural(len(mistakes), 'mistake')} in {plural(len({mistake.path for mistake in mistakes}), 'file')}"


def headline_style(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the colour of the headline: red for a failure, yellow where something could not be judged."""
    return STATE_STYLES.get(gravest([verdict.outcome for verdict in verdicts]), ("yellow",))


def long_note(verdict: Verdict) -> str:
    """Return why there is no baseline, unless the headline or a gate has it already; else an empty string."""
    note = verdict.baseline_note if verdict.comparison is None else ""
    in_gate = any(note.removeprefix(BROKEN) in gate.message for gate in verdict.gates)
    return note if len(note) > _SHORT_NOTE and not in_gate else ""


def _counts_text(counts: Counter[CaseStatus]) -> str:
    words = {"edited": "not comparable (edited)"}
    return ", ".join(f"{counts[status]:,} {words.get(status, status)}" for status in ORDER if counts[status])


def _baseline_reason(notes: set[str]) -> str:
    """Return the shared reason why there is no baseline, if it is short; `long_note` or a gate has the long ones."""
    reasons = notes - {""}
    if any(reason.startswith(BROKEN) for reason in reasons):
        return "a baseline cannot be read"
    if len(reasons) == 1 and len(note := min(reasons)) <= _SHORT_NOTE:
        return note
    return "no baseline" if reasons else "no baseline yet"


def _comparability_notes(verdicts: Sequence[Verdict]) -> list[str]:
    incomparable = [verdict.comparison.incomparable.items() for verdict in verdicts if verdict.comparison is not None]
    reasons = grouped((without_hashes(reason), name) for items in incomparable for name, reason in items)
    return [f"{plural(len({*names}), 'metric')} not comparable ({reason})" for reason, names in reasons.items()]


def _gate_notes(verdicts: Sequence[Verdict], runs: Sequence[Run]) -> list[str]:
    gates = [gate for verdict in verdicts for gate in verdict.gates]
    counts = {state: sum(gate.state == state for gate in gates) for state in ("failed", "inconclusive")}
    out = [f"{plural(n, 'gate')} {state}" for state, n in counts.items() if n]
    if n_would_fail := sum(gate.would_be == "failed" for gate in gates):
        out.append(f"{plural(n_would_fail, 'advisory gate')} would fail")
    if partial := [run for run in runs if not run.is_full]:
        ran, total = sum(len(run.cases) for run in partial), sum(len(run.expected_ids) for run in partial)
        out.append(f"{ran:,} of {total:,} cases ran, gates not judged")
    return out
