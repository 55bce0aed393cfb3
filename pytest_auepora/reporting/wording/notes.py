"""What is worth knowing beside the verdict: labels, judges, quarantine, where answers come from, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ...base.grouping import grouped
from ...base.text import names_words
from ...core.run import CaseResult, MetricInfo, Run
from ...evaluation.reuse import Refusal, WhyNot
from ...regression.outcomes import BaselineNote, BaselineState
from ...regression.verdict import Verdict
from ..diagnosis import distinct
from ..numbers import percent, plural
from ..text import Code, Sentence, cases_words, listed
from .advisory import advisory_notes
from .changes import changes_text
from .checks import finding_line, is_known_to_vary
from .gates import part_text
from .missing import CHECK_HINT
from .note_text import note_text
from .spending import judge_lines, system_lines

_MATCHES = {
    "exact": "by the same text under another id",
    "span": "by the chunks that hold the passage (span)",
    "fallback_doc": "by document (fallback_doc)",
}
_MOST_METRICS = 4


def notes_of(run: Run, verdict: Verdict) -> list[str]:
    """Return the notes of a verdict, and what its gates, its comparison and the cases say beside."""
    lines = [note_text(note) for note in verdict.notes]
    if any(gate.reason == "suite not selected" for gate in verdict.gates):
        lines.append(Sentence("gates not judged: the test ", Code("suite"), " was not selected"))
    lines += _look_notes(verdict)
    lines += varies_lines(run, 3 if verdict.outcome == "failed" else 10)
    if (comparison := verdict.comparison) is not None and comparison.unsteady:
        names = ", ".join(comparison.unsteady)
        said = f"{names}: no longer steady, answers to one case differed in this run; if intended, "
        lines.append(Sentence(said, Code("pytest --auepora-update"), " stores it"))
    lines += _label_notes(run, verdict) + _quarantine_notes(run) + skipped_lines(run)
    return lines + advisory_notes(run, verdict)


def skipped_lines(run: Run) -> list[str]:
    """Return why cases were skipped, each reason once, with how many cases it cost."""
    by_reason = grouped((case.error_line, case.case_id) for case in run.in_state("skipped") if case.error_line)
    return [f"skipped: {cases_words(ids)}: {reason}" for reason, ids in by_reason.items()]


def is_all_skipped(run: Run) -> bool:
    """Whether nothing was measured, as every case was skipped."""
    return bool(run.cases) and all(case.state == "skipped" for case in run.cases.values())


def varies_lines(run: Run, most: int = 10) -> list[str]:
    """Return a line for each case that varies or is suspect, at most *most*; more where its checks differ in that.

    Those that varied when they were accepted share a line: in an unchanged run there are some every time.
    """
    passed = [case for case in run.cases.values() if case.state == "passed"]
    found = [(case.case_id, f) for case in passed for f in distinct(case.with_status("suspect", "varies"))]
    known = {case_id: finding for case_id, finding in found if is_known_to_vary(finding)}
    if len(known) > 1:
        found = [(case_id, finding) for case_id, finding in found if not is_known_to_vary(finding)]
    lines = {finding_line(case_id, finding): case_id for case_id, finding in found}
    shown = [*lines][:most]
    if left := len({*lines.values()} - {lines[line] for line in shown}):
        shown.append(f"… and {plural(left, 'more case')} of this kind")
    if len(known) > 1:
        counts = [f"{case_id} ({finding.held} of {finding.accepted} accepted)" for case_id, finding in known.items()]
        shown.append(f"{len(known)} cases vary as when accepted, and cannot fail alone: {names_words(counts, 4)}")
    return shown


def _look_notes(verdict: Verdict) -> list[str]:
    """Return whether a second look was had or missed, where one was due."""
    if verdict.look == "only":
        names = [part_text(g) for g in verdict.gates if g.look == "only" and g.state == "failed"]
        about = f" ({names_words(names, 3)})" if names else ""
        return [f"looked once: no further answers were to be had, so today's alone decided{about}"]
    if verdict.look == "second" and all(gate.word != "worse" for gate in verdict.gates if gate.look == "second"):
        return ["every case was asked again: the further answers do not confirm a loss"]
    return []


def _label_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return how labels that moved were matched, and in which cases retrieval is not comparable."""
    moved = [case.moved for case in run.cases.values() if case.moved is not None]
    out: list[str] = []
    if moved:
        became = Counter(label["became"] for one in moved for label in one["labels"].values())
        matched = Counter(one["match"] for one in moved)
        kinds = ", ".join(f"{n} {kind}" for kind, n in became.most_common())
        texts = ", ".join(f"{matched[match]} {text}" for match, text in _MATCHES.items() if matched[match])
        matches = f"; cases matched {texts}" if texts else ""
        out.append(Sentence(f"labels moved in {len(moved)} of {len(run.cases)} cases: {kinds}{matches}; ", CHECK_HINT))
    cases = verdict.case_comparisons.items()
    reasons = grouped((changes_text(case.not_comparable), case_id) for case_id, case in cases if case.not_comparable)
    return out + [f"retrieval not comparable in {plural(len(ids), 'case')}: {why}" for why, ids in reasons.items()]


def _quarantine_notes(run: Run) -> list[str]:
    cases = [case for case in run.cases.values() if case.quarantine]
    active = [f"{_until(case)}" for case in cases if case.quarantined()]
    expired = [_until(case) for case in cases if not case.quarantined()]
    notes = [f"in quarantine, not held to the baseline: {', '.join(active)}"] if active else []
    return notes + ([f"quarantine is over, held to the baseline again: {', '.join(expired)}"] if expired else [])


def _until(case: CaseResult) -> str:
    failing = "; a check fails" if case.quarantined() and case.with_status("excused") else ""
    return f"{case.case_id} (until {case.quarantine}{failing})"


# -- the baseline, repeats, flaky cases, noise


_NO_BASELINE: Mapping[BaselineState, str] = {
    "": "",
    "none": "no baseline yet{place}",
    "other variant": "no baseline yet ({note.place}; {note.detail} is of no variant)",
    "unreadable": "{note.detail}",
    "replaced": "an unreadable baseline was replaced",
    "unnamed": "no name of its own, so nothing is compared",
    "not compared": "not compared with a baseline",
}


def baseline_text(note: BaselineNote) -> str:
    """Return why there is no baseline; empty where there is one."""
    return _NO_BASELINE[note.state].format(note=note, place=f" ({note.place})" if note.place else "")


def repeats_line(run: Run) -> str:
    """Return ``each case asked 5 times, seed 7``; empty where nothing was repeated or seeded."""
    times, parts = sorted({case.repeats for case in run.in_state("passed", "failed") if not case.reused}), []
    if times and times[-1] > 1:
        each = f"each case asked {times[0]} times"
        parts.append(each if len(times) == 1 else f"asked {times[0]} to {times[-1]} times")
    if (seed := run.provenance.get("seed")) is not None:
        parts.append(f"seed {seed}")
    return ", ".join(parts)


def flaky_text(case_id: str, verdict: Verdict) -> str:
    """Return ``passes in 40 % of the answers``; empty for a case that is not flaky."""
    share = verdict.flaky.get(case_id)
    return f"passes in {percent(share, 0)} of the answers" if share is not None else ""


def flaky_line(verdict: Verdict, most: int = 10) -> str:
    """Return ``2 flaky cases: late-return (passes in 40 % of the answers), …``; empty without any."""
    parts = [f"{case_id} ({flaky_text(case_id, verdict)})" for case_id in verdict.flaky]
    return f"{plural(len(parts), 'flaky case')}: {names_words(parts, most)}" if parts else ""


def noise_lines(verdict: Verdict) -> list[str]:
    """Return a line for each metric that varied between repeats, those that more repeats help most first."""
    splits = sorted(verdict.noise.items(), key=lambda item: -item[1].most_shrink)
    pairs = (
        (
            f"variance between cases {split.between:.4f}, within cases {max(0.0, split.total - split.between):.4f}; "
            f"more repeats can shrink the standard error by at most {split.most_shrink * 100:.0f} %",
            name,
        )
        for name, split in splits
    )
    by_split = grouped(pairs)
    lines = [f"{', '.join(names)}: {split}" for split, names in by_split.items()]
    n_left = sum(len(names) for names in list(by_split.values())[_MOST_METRICS:])
    return lines[:_MOST_METRICS] + ([f"{plural(n_left, 'other metric')} varied as well"] if n_left else [])


_NOT_REUSED: Mapping[WhyNot, str] = {
    "no baseline": "there is no baseline",
    "no digests": "the baseline does not say what was retrieved: accept it once more with `pytest --auepora-update`",
    "repeated": "each case is asked several times",
    "undeclared": "the provenance does not say {names} (pytest_auepora_provenance, auepora_provenance)",
    "provenance": "{names} of the provenance changed",
    "metrics changed": "{names} is defined otherwise than in the baseline",
    "not in baseline": "{names} needs answers of today",
}


def not_reused_text(title: str, refusal: Refusal) -> str:
    """Return why no accepted answer of a suite serves again."""
    why = _NOT_REUSED[refusal.why].format(names=names_words(list(refusal.names)))
    return f"{title}: reuse: generator leaves out no call: {why}"


def run_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return notes on the run: its repeats, the noise between them, the cost of judges and of the system."""
    return [note for note in (repeats_line(run), *noise_lines(verdict), *judge_lines(run), *system_lines(run)) if note]


def gaps(run: Run, verdict: Verdict) -> Iterator[str]:
    """Yield where scores are n/a that are not always: where accepted answers had a number, or without a baseline.

    What is n/a as when it was accepted says nothing about this run; the table has its denominators.
    """
    if verdict.comparison is None:
        listed_gaps = grouped(_gaps(run, verdict, run.metrics))
        texts = [f"{n} in {', '.join(names)}{f' ({why})' if why else ''}" for (n, why), names in listed_gaps.items()]
        if texts:
            yield f"n/a: {'; '.join(texts)}"
        return
    for name, shares in verdict.comparison.has_number.items():
        lost = [i for i, change in shares.items() if change.gain < 0]
        if lost:
            yield f"n/a: {name} has no number in {plural(len(lost), 'case')} that had one: {listed(lost, 3)}"


def _gaps(run: Run, verdict: Verdict, metrics: Mapping[str, MetricInfo]) -> Iterator[tuple[tuple[int | str, str], str]]:
    """Yield each listed metric that is n/a in some cases, after their number and the reasons."""
    for name, aggregate in verdict.aggregates.items():
        if aggregate.n_na and name in metrics and metrics[name].baselined:
            reasons = sorted({s.reason for s in run.scores_of(name) if s.state == "n/a" and s.reason})[:2]
            yield (aggregate.n_na if aggregate.n or aggregate.n_error else "all", "; ".join(reasons)), name
