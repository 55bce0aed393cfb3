"""One run beside another: what a case did, and why cases or metrics do not compare."""

from __future__ import annotations

from ...base.grouping import grouped
from ...history.compare import WHY_NOT, CompareReport, QueryNote
from ..diagnosis import measured_by
from ..numbers import plural
from ..text import Sentence, listed
from .changes import change_text
from .checks import fault_text
from .gates import part_text, reason_text

_MATCHES = {
    "exact": "by chunk id",
    "span": "by the passages that the labels name, as chunks have new ids",
    "fallback_doc": "by document, as chunks have new ids",
}
_NO_REASON = "no reason is stored"


def note_text(report: CompareReport, case_id: str, note: QueryNote | None) -> str:
    """Return what may be the cause of a change: an error, a check, what changed in the system."""
    if note is None:
        return ""
    if note.flip == "errored":
        said = f"errored: {note.error or _NO_REASON}"
    elif note.error_before:
        said = f"errored in the earlier run: {note.error_before}"
    else:
        lines = case_lines(report, case_id)
        said = f"{note.flip}: {lines[0]}" if note.flip == "newly failing" and lines else note.flip
    return "; ".join(filter(None, [said, *(causes(report) if note.changed else ())]))


def causes(report: CompareReport) -> list[str]:
    """Return what the provenances of both runs differ in: ``chunker_version 3 → 4``."""
    return [change_text(change) for change in report.causes]


def case_lines(report: CompareReport, case_id: str) -> list[str]:
    """Return the checks that fail in the later run and held in the earlier one."""
    return [fault_text(f, report.run.metrics.get(measured_by(f))) for f in report.findings.get(case_id, ())]


def problems(report: CompareReport) -> list[str]:
    """Return what is worse or undecided, then the cases whose checks fail now, first those that were confirmed."""
    gates = [g for g in report.gates if g.state in ("failed", "inconclusive") or g.would_be == "failed"]
    by_reason = grouped(
        (Sentence("advisory: " if gate.would_be else "", reason_text(gate, report.run)), part_text(gate))
        for gate in gates
    )
    out: list[str] = [Sentence(f"{', '.join(names)}: ", reason) for reason, names in by_reason.items()]
    worse = report.regressed_cases
    for case_id in sorted(report.findings, key=lambda case_id: case_id not in worse):
        lines = "; ".join(case_lines(report, case_id))
        out.append(f"{case_id}: {lines}{'' if case_id in worse else ', in one answer'}")
    return out


def left_out(report: CompareReport) -> list[str]:
    """Return the cases that do not compare, by reason."""
    by_reason = grouped((f"not comparable ({WHY_NOT[why]})", i) for i, why in report.not_comparable.items())
    by_reason |= {f"only in {report.run_a}": [*report.only_a], f"only in {report.run_b}": [*report.only_b]}
    return [f"{reason}: {listed(ids, 10)}" for reason, ids in by_reason.items() if ids]


def counts_text(report: CompareReport) -> str:
    """Return how the first hits moved: ``2 wins, 1 loss, 56 draws, 1 regression over 60 cases, hits by chunk id``."""
    counts = report.count()
    parts = [plural(n, kind.value.lower(), "losses" if kind.value == "Loss" else "") for kind, n in counts.items()]
    match = _MATCHES[report.deltas["chunker_version_match"]]
    return f"{', '.join(parts)} over {plural(len(report.per_query), 'case')}, hits {match}"
