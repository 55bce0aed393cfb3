"""LLM judges that cannot fail a run: why, and what they would have failed."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.grouping import grouped
from ...base.text import names_words
from ...core.run import Run
from ...regression.outcomes import Advisory
from ...regression.verdict import Verdict
from ..text import Code, Sentence, cases_words, where_to_read
from .changes import changes_text
from .checks import advisory_lines
from .gates import part_text, reason_text
from .missing import JUDGE_GONE


def advisory_text(why: Advisory) -> str:
    """Return why a judge cannot fail the run."""
    if why.reason == "policy":
        return "the golden file says judge: advisory"
    if why.reason == "unusable":
        return why.detail
    if why.reason == "judge gone":
        return JUDGE_GONE
    said = Sentence("judge not calibrated: ")
    if why.reason == "no calibration":
        return Sentence(said, f"there is no {why.place or 'calibration'}; ", where_to_read("judges"))
    if why.reason == "another judge":
        changes = f"the calibration is of another one ({changes_text(why.changes)}); run "
        return Sentence(said, changes, Code("auepora calibrate"), " again")
    return Sentence(said, why.detail)


def advisory_notes(run: Run, verdict: Verdict) -> list[str]:
    """Return which metrics are advisory and why, and what they would have failed."""
    would_fail = [gate for gate in verdict.gates if gate.would_be == "failed"]
    notes: list[str] = [
        Sentence(f"advisory: {part_text(gate)}: ", reason_text(gate, run, verdict.notes))
        for gate in would_fail
        if not gate.is_of_slice
    ]
    if slices := [gate.part for gate in would_fail if gate.is_of_slice]:
        notes.append(f"advisory: would fail in slices: {names_words(slices, 3)}")
    silent = {gate.metric for gate in verdict.gates if gate.reason == "judge silent"}  # a failed gate says so
    if lines := _advisory_cases(run, silent):
        more = sum(len(ids) for _, ids in lines[3:])
        said = "; ".join(f"{cases_words(ids)}: {line}" for line, ids in lines[:3])
        notes.append(f"advisory: would fail cases: {said}{f' and {more} more' if more else ''}")
    places = grouped((_shared(why, verdict.advisory), name) for name, why in verdict.advisory.items())
    for reason, names in places.items():
        notes.append(Sentence(f"advisory: cannot fail the run: {', '.join(names)} (", reason, ")"))
    return notes


def _advisory_cases(run: Run, silent: set[str]) -> list[tuple[str, list[str]]]:
    pairs = [
        (line, case.case_id)
        for case in run.cases.values()
        if any(finding.metric not in silent for finding in case.with_status("advisory"))
        for line in advisory_lines(case, run.metrics)
    ]
    return [*grouped(pairs).items()]


def _shared(why: Advisory, advisory: Mapping[str, Advisory]) -> str:
    """Return the reason; metrics without a file in one folder share one."""
    folder, slash, _ = why.place.rpartition("/")
    alike = [one for one in advisory.values() if one.reason == why.reason == "no calibration"]
    if slash and sum(one.place.rpartition("/")[0] == folder for one in alike) > 1:
        why = Advisory(why.reason, f"{folder}/<metric>.json")
    return advisory_text(why)
