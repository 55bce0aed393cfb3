"""Which changes a suite would notice."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.text import names_words
from ...cause.mutants import OF_RETRIEVAL, Kind
from ...cause.mutate import Detection, Sensitivity, Sight, broken_cases
from ..numbers import percent, plural

_MOST_NAMES = 5

_LABELS: dict[Kind, str] = {
    "best document dropped": "relevant_docs",
    "stale index": "relevant_docs",
    "order shuffled": "relevant_docs",
    "texts cut": "a metric of the evidence, or relevant_docs with a quote",
    "refusals": "reference_answer, must_contain or expect: answer",
    "lost facts": "must_contain",
    "another case's answer": "reference_answer or must_contain",
}
"""What makes a case notice a change."""


def unchanged_text(found: Sensitivity) -> list[str]:
    """Return what was broken, and how often runs in which nothing is are red."""
    nothing = found.detections[0]
    lines = [
        f"{found.suite}: {plural(found.answers, 'recorded answer')} to {plural(found.cases, 'case')} "
        f"(run {found.run_id}), broken on purpose; nothing was called.",
        f"Nothing broken: red in {nothing.seen} of {plural(nothing.runs, 'run')}.",
    ]
    if nothing.seen * 2 > nothing.runs:
        lines.append(
            f"These answers fail by themselves ({_by(nothing)}), so the table says nothing: "
            "choose an accepted run with --run, or accept this one."
        )
    if found.left_out:
        lines.append(f"Not measured, as that takes calls or texts that were not kept: {', '.join(found.left_out)}.")
    if found.without_answers:
        names = names_words(list(found.without_answers)[:_MOST_NAMES])
        lines.append(f"{plural(len(found.without_answers), 'case')} without a recorded answer: {names}.")
    return lines


def share_text(share: float, total: int) -> str:
    """Return the head of a column: in how large a part of the cases, and in how many."""
    return f"{percent(share, 0)} ({broken_cases(share, total)})"


def detection_rows(found: Sensitivity) -> list[list[str]]:
    """Return a row for each kind of change: where it can happen, in how many runs it is seen by share, by what."""
    rows = []
    for sight in found.sights:
        of_kind = [detection for detection in found.detections if detection.kind == sight.kind]
        cells = [f"{d.seen}/{d.runs}" if d.runs else "" for d in of_kind]
        seen = next((d for d in of_kind if d.seen * 2 > d.runs), of_kind[-1] if of_kind else None)
        rows.append([sight.kind, f"{sight.possible}", *cells, _by(seen) if seen is not None else ""])
    return rows


def sensitivity_lines(found: Sensitivity) -> list[str]:
    """Return what nothing would see, and what would."""
    lines = [line for sight in found.sights for line in _sight_lines(found, sight)]
    if any(sight.kind in OF_RETRIEVAL and sight.possible for sight in found.sights):
        lines.append(
            "A change of what is retrieved leaves the answers as they were recorded: "
            "a generator that sees less says something else, which may be seen as well."
        )
    return lines


def _sight_lines(found: Sensitivity, sight: Sight) -> Iterator[str]:
    """Yield what is to be said of a change that is hardly seen, or that cases do not notice."""
    if not sight.possible:
        return
    most = [detection for detection in found.detections if detection.kind == sight.kind][-1]
    unseen, blind = most.seen * 2 < most.runs, len(sight.unmoved)
    if blind == sight.possible:
        yield f"{sight.kind}: nothing in this suite sees it{_would(sight)}."
    elif unseen:
        yield (
            f"{sight.kind}: seen in {most.seen} of {plural(most.runs, 'run')} at {percent(most.share, 0)} "
            f"of the cases{_would(sight)}."
        )
    if 0 < blind < sight.possible:
        names = names_words(sight.unmoved, _MOST_NAMES)
        yield (
            f"{sight.kind}: {plural(blind, 'case')} of {sight.possible} would not notice: {names}; "
            f"what would: {_LABELS[sight.kind]}."
        )


def _would(sight: Sight) -> str:
    """Return which metrics would see it, best first."""
    best = list(sight.others.items())[:3]
    if best:
        return "; " + ", ".join(f"{name} falls in {n} of {sight.possible} cases" for name, n in best)
    return f"; what would: {_LABELS[sight.kind]}"


def _by(detection: Detection) -> str:
    """Return what saw it most often: metrics and assertions of single cases, then gates of the suite."""
    seen = dict(detection.checks)
    for name, n in detection.gates.items():
        seen[name] = max(n, seen.get(name, 0))
    return ", ".join(sorted(seen, key=lambda name: (-seen[name], name))[:3])
