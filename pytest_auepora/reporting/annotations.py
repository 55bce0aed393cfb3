"""What is wrong with judged runs, worst first, as annotations of GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ..core.run import Run
from ..regression.outcomes import GateKind
from ..regression.verdict import Verdict
from .diagnosis import blamed_metrics
from .report import Report
from .tally import FAILING, CaseStatus, cases_of
from .text import printable
from .wording.cases import told_groups
from .wording.checks import problem_lines, still_failing_lines
from .wording.gates import gate_title, reason_text
from .wording.notes import is_all_skipped, skipped_lines

_MOST_ANNOTATIONS = 10
"""GitHub shows ten errors and ten warnings of a step and drops the rest silently."""

Severity = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """One problem; *line* is 1-based, 0 where there is none.

    ``kind`` is the status of a case (``newly failing``, …), the kind of a gate (``threshold``, ``regression``,
    ``coverage``, ``baseline``), or ``mistake`` for one in a golden file.
    """

    severity: Severity
    kind: str
    title: str
    message: str
    path: str
    line: int


def annotations_of(report: Report) -> list[Annotation]:
    """Return the findings of all runs, and the mistakes that kept golden files from being judged.

    The order: mistakes; failed gates, as one may stand for many cases; errored cases, grouped by error; failing cases,
    newly failing first and the largest drop first; advisory gates that would fail; baselines that nothing compares
    with; suites of which every case was skipped.
    What is inconclusive is no problem, and not among them.
    """
    gates = {
        state: [finding for run, verdict in report.pairs for finding in _gates(run, verdict, state)]
        for state in ("failed", "advisory", "not judged")
    }
    out = []
    for mistake in report.mistakes:
        title = "baseline" if mistake.path.endswith(".json") else "golden file"
        out.append(Annotation("error", "mistake", title, mistake.message, mistake.path, mistake.line))
    out += gates["failed"]
    for kind in sorted(FAILING, key=lambda kind: kind != "errored"):
        out += [finding for run, verdict in report.pairs for finding in _failures(run, verdict, kind)]
    out += gates["advisory"]
    out += [finding for finding in gates["not judged"] if finding.kind == "baseline"]
    for run in filter(is_all_skipped, report.runs):
        text = "\n".join(skipped_lines(run))
        out.append(Annotation("notice", "skipped", f"{run.title}: not judged", text, run.path, 0))
    return out


def _gates(run: Run, verdict: Verdict, state: str) -> Iterator[Annotation]:
    for gate in verdict.gates:
        if gate.state != state or gate.would_be not in ("", "failed"):
            continue
        cost = f"\nCases that cost most: {', '.join(gate.costliest)}" if gate.costliest else ""
        owner = f"\nOwner: {gate.owner}" if gate.owner else ""
        title, reason = f"{run.title}: {gate_title(gate)}", reason_text(gate, run, verdict.notes)
        severity: Severity = "error" if state == "failed" else "warning"
        yield Annotation(severity, gate.kind, title, f"{reason}{cost}{owner}", run.path, gate.line)


def _failures(run: Run, verdict: Verdict, kind: CaseStatus) -> Iterator[Annotation]:
    cases = cases_of(run, verdict).get(kind, [])
    for name, reason, (case, *_) in told_groups(cases, run, verdict.case_comparisons):
        owners = sorted({run.metrics[name].owner for name in blamed_metrics(case, run.metrics)} - {""})
        lines = [] if case.state == "error" else problem_lines(case, run.metrics)
        lines = lines or still_failing_lines(case, run.metrics)
        message = "\n".join([reason, *lines, *([f"Owner: {', '.join(owners)}"] if owners else [])])
        severity: Severity = "warning" if case.state == "passed" else "error"  # an assertion that was accepted
        yield Annotation(severity, kind, f"{run.title}: {name} {kind}", message, case.path or run.path, case.line)


def annotation_lines(report: Report) -> str:
    """Return GitHub workflow commands that annotate the findings, one a line, worst first; empty without findings.

    Where there are more findings than GitHub shows, the last annotation counts them.
    """
    all_findings = annotations_of(report)
    lines: list[str] = []
    for severity in get_args(Severity):
        of_kind = [f for f in all_findings if f.severity == severity]
        if len(of_kind) > _MOST_ANNOTATIONS:
            of_kind = _merge_gates(of_kind)
        limit = _MOST_ANNOTATIONS if len(of_kind) <= _MOST_ANNOTATIONS else _MOST_ANNOTATIONS - 1
        lines += [_workflow_command(f, report.prefix) for f in of_kind[:limit]]
        if (n_left := len(of_kind) - limit) > 0:
            lines.append(f"::{severity} title=auepora::and {n_left} more; the whole report is in the step summary")
    return "\n".join(lines)


def _merge_gates(group: Sequence[Annotation]) -> list[Annotation]:
    """Merge the gates of each golden file into one finding, to leave room for the cases."""
    out: list[Annotation] = []
    kinds = get_args(GateKind)
    for path in dict.fromkeys(f.path for f in group):
        gates = [f for f in group if f.path == path and f.kind in kinds]
        if len(gates) > 1:
            message = "\n".join(f"{f.title}: {f.message.splitlines()[0]}" for f in gates)
            gates = [replace(gates[0], title=f"{len(gates)} gates", message=message)]
        out += gates
    return [*out, *(f for f in group if f.kind not in kinds)]


def escape_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property of a workflow command, where ``:`` and ``,`` have a meaning as well."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _workflow_command(finding: Annotation, prefix: str) -> str:
    """Return the command of *finding*, whose path is under *prefix*, the way from the root of the repository."""
    line = str(finding.line) if finding.path and finding.line else ""
    path = f"{prefix.rstrip('/')}/{finding.path}" if prefix and finding.path else finding.path
    properties = {"file": path, "title": printable(finding.title), "line": line}
    arguments = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items() if value)
    return f"::{finding.severity} {arguments}::{escape_data(printable(finding.message, keep_lines=True))}"
