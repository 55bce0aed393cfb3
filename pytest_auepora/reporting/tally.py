"""How many cases are newly failing, fixed, unchanged, …: the first line of every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from ..core.run import CaseResult, Run
from ..errors import Problem
from ..regression.baseline import BROKEN
from ..regression.compare import CaseComparison, without_hashes
from ..regression.verdict import Outcome, Verdict
from .numbers import plural

Kind = Literal[
    "newly failing", "errored", "new and failing", "edited and failing", "still failing", "failed",
    "fixed", "unchanged", "passed", "new", "edited", "expected to fail", "skipped",
]  # fmt: skip
"""What became of a case; in the order in which it is told."""

FAILING: tuple[Kind, ...] = (
    "newly failing", "errored", "new and failing", "edited and failing", "still failing", "failed",
)  # fmt: skip
"""Kinds that make a run red."""

ORDER: tuple[Kind, ...] = (*FAILING, "fixed", "unchanged", "passed", "new", "edited", "expected to fail", "skipped")
"""All kinds, the worst first."""
_WORDS = {"edited": "not comparable (edited)"}
_SHORT_NOTE = 40


def kind_of(result: CaseResult, comparison: CaseComparison | None) -> Kind:
    """Return what became of one case since its baseline; without a baseline, what became of it."""
    if result.state == "skipped":
        return "expected to fail" if result.expected_to_fail else "skipped"
    bad = result.state in ("failed", "error")
    if bad and result.expected_to_fail:
        return "expected to fail"
    if result.state == "error":
        return "errored"
    match comparison.flip if comparison is not None else None:
        case None | "errored" | "skipped":
            return "failed" if bad else "passed"
        case "new":
            return "new and failing" if bad else "new"
        case "changed":
            return "edited and failing" if bad else "edited"
        case flip:
            return flip


def cases_of(run: Run, verdict: Verdict, kinds: Sequence[Kind] = ORDER) -> dict[Kind, list[CaseResult]]:
    """Return the cases of a run by kind, worst kinds first, each in the order of the golden file; only *kinds*."""
    compared = verdict.comparison.cases if verdict.comparison is not None else {}
    by: dict[Kind, list[CaseResult]] = {kind: [] for kind in ORDER}
    for case_id, result in run.cases.items():
        if (kind := kind_of(result, compared.get(case_id))) in kinds:
            by[kind].append(result)
    return {kind: cases for kind, cases in by.items() if cases}


def tally(run: Run, verdict: Verdict) -> Counter[Kind]:
    """Return how many cases of each kind there are."""
    compared = verdict.comparison.cases if verdict.comparison is not None else {}
    found = Counter(kind_of(result, compared.get(case_id)) for case_id, result in run.cases.items())
    return Counter({kind: found[kind] for kind in ORDER if kind in found})


def headline(verdicts: Sequence[Verdict], runs: Sequence[Run], mistakes: Sequence[Problem] = ()) -> str:
    """Return the sentence that sums up the judged *runs* and the *mistakes* in golden files that could not be read.

    ``2 newly failing, 1 fixed, 41 unchanged, 1 not comparable (edited); 1 gate failed``
    """
    compared: Counter[Kind] = Counter()
    alone: Counter[Kind] = Counter()
    for run, verdict in zip(runs, verdicts, strict=True):
        (alone if verdict.comparison is None else compared).update(tally(run, verdict))
    parts: list[str] = []
    if compared:
        parts.append(_counts(compared))
    if alone:
        notes = {v.baseline_note for v in verdicts if v.comparison is None}
        text = _counts(alone)
        parts.append(f"without a baseline {text}" if compared else f"{text} ({_why(notes)}: thresholds only)")
    varied = sum(len(verdict.varies) for verdict in verdicts)
    parts += [f"{plural(varied, 'case')} {'varies' if varied == 1 else 'vary'}"] if varied else []
    parts = [*parts, *_metrics_not_comparable(verdicts), *_gates(verdicts, runs)] if parts else ["nothing was measured"]
    return "; ".join([*parts, mistakes_note(mistakes)] if mistakes else parts)


def comparison_word(verdict: Verdict) -> str:
    """Return ``worse``, ``better (3 rose)``, ``mixed (1 fell, 3 rose)``, …; empty where nothing was compared."""
    word = verdict.word
    if verdict.comparison is None or word == "not judged":
        return ""
    fell = [f"{len(verdict.fell)} fell"] if word == "mixed" else []
    rose = [f"{len(verdict.rose)} rose"] if word == "mixed" or (word == "better" and verdict.rose) else []
    return f"{word} ({', '.join(fell + rose)})" if fell or rose else word


def overall_outcome(verdicts: Sequence[Verdict], mistakes: Sequence[Problem] = ()) -> Outcome:
    """Return the gravest outcome of all; a suite that could not be read was not judged, nor was no suite at all."""
    outcomes: set[Outcome] = {verdict.outcome for verdict in verdicts}
    if mistakes:
        outcomes.add("not judged")
    grave: tuple[Outcome, ...] = ("failed", "inconclusive", "not judged")
    return next((o for o in grave if o in outcomes), "passed" if outcomes else "not judged")


def mistakes_note(mistakes: Sequence[Problem]) -> str:
    """Return how many there are: ``3 mistakes in 2 golden files``."""
    return f"{plural(len(mistakes), 'mistake')} in {plural(len({one.path for one in mistakes}), 'golden file')}"


def headline_style(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the colour of the headline: red for a failure, yellow where something could not be judged."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if "failed" in outcomes:
        return ("red", "bold")
    if not outcomes or outcomes & {"inconclusive", "not judged"}:
        return ("yellow",)
    return ("green",)


def long_note(verdict: Verdict) -> str:
    """Return why there is no baseline where neither the headline nor a gate says it, else an empty string."""
    note = verdict.baseline_note if verdict.comparison is None else ""
    told = any(note.removeprefix(BROKEN) in gate.message for gate in verdict.gates)
    return note if len(note) > _SHORT_NOTE and not told else ""


def _counts(counts: Counter[Kind]) -> str:
    return ", ".join(f"{counts[kind]:,} {_WORDS.get(kind, kind)}" for kind in ORDER if counts[kind])


def _why(notes: Iterable[str]) -> str:
    """Return the shared reason why there is no baseline, if it is short; the long ones have a line of their own."""
    told = {note for note in notes if note}
    if len(told) == 1 and len(note := next(iter(told))) <= _SHORT_NOTE:
        return note
    return "no baseline" if told else "no baseline yet"


def _metrics_not_comparable(verdicts: Sequence[Verdict]) -> list[str]:
    reasons: dict[str, set[str]] = {}
    for verdict in verdicts:
        if verdict.comparison is not None:
            for name, reason in verdict.comparison.incomparable.items():
                reasons.setdefault(without_hashes(reason), set()).add(name)
    return [f"{plural(len(names), 'metric')} not comparable ({reason})" for reason, names in reasons.items()]


def _gates(verdicts: Sequence[Verdict], runs: Sequence[Run]) -> list[str]:
    states = Counter(gate.state for verdict in verdicts for gate in verdict.gates)
    out: list[str] = []
    if states["failed"]:
        out.append(f"{plural(states['failed'], 'gate')} failed")
    if states["inconclusive"]:
        out.append(f"{plural(states['inconclusive'], 'gate')} inconclusive")
    if would := sum(gate.would_be == "failed" for verdict in verdicts for gate in verdict.gates):
        out.append(f"{plural(would, 'advisory gate')} would fail")
    partial = [run for run in runs if not run.is_full]
    if partial:
        total = sum(len(run.expected_ids) for run in partial)
        ran = sum(len(run.cases) for run in partial)
        out.append(f"{ran:,} of {total:,} cases ran, gates not judged")
    return out
