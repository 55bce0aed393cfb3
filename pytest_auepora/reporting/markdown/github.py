"""GitHub Actions: annotations beside the golden file's lines, and the Markdown of the step summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...core.run import Run
from ...errors import Problem
from ...regression.verdict import Verdict
from ..findings import Finding, findings, titled
from ..side_by_side.table import SideBySide
from ..text import printable
from .report import markdown_report

MOST_ANNOTATIONS = 10
"""GitHub shows ten errors and ten warnings of a step and drops the rest without a word."""

SUMMARY_BYTES = 1_048_576
"""What all steps of a job may write to the summary of one step; beyond it GitHub shows nothing."""

_LEAST = 1000


def annotation_lines(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    *,
    prefix: str = "",
    most: int = MOST_ANNOTATIONS,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the workflow commands that annotate what is wrong, one a line, worst first; empty if nothing is.

    *prefix* leads from the root of the repository to the directory that paths are relative to.  Where there is more
    to say than GitHub shows, the last annotation says how much.  *mistakes* of golden files, which kept them from
    being judged, come before all else.
    """
    found = findings(runs, verdicts, mistakes)
    lines: list[str] = []
    for severity in ("error", "warning"):
        of_kind = [f for f in found if f.severity == severity]
        if len(of_kind) > most:
            of_kind = _gates_together(of_kind)
        cut = most if len(of_kind) <= most else most - 1
        lines += [_command(f, prefix) for f in of_kind[:cut]]
        if (more := len(of_kind) - cut) > 0:
            lines.append(f"::{severity} title=auepora::and {more} more; the whole report is in the step summary")
    return "\n".join(lines)


def _gates_together(found: Sequence[Finding]) -> list[Finding]:
    """Make one finding of the gates of a golden file, to leave room for the cases."""
    out: list[Finding] = []
    for path in dict.fromkeys(f.path for f in found):
        gates = [f for f in found if f.path == path and f.of_gate]
        if len(gates) > 1:
            message = "\n".join(titled(f.title, f.message.splitlines()[0]) for f in gates)
            out.append(replace(gates[0], title=f"{len(gates)} gates", message=message))
        else:
            out += gates
    return [*out, *(f for f in found if not f.of_gate)]


def step_summary(
    runs: Sequence[Run],
    verdicts: Sequence[Verdict],
    *,
    room: int = SUMMARY_BYTES,
    compared: Sequence[SideBySide] | None = None,
    mistakes: Sequence[Problem] = (),
) -> str:
    """Return the text to append to the file that ``GITHUB_STEP_SUMMARY`` names, in which *room* bytes are left.

    At most as long as a comment; empty where there is no room for anything of use.
    """
    whole = partial(markdown_report, runs, verdicts, compared=compared, mistakes=mistakes)
    text = "\n" + whole()
    if len(text.encode("utf-8", "replace")) > room:
        limit = (room - 1) // 4  # a character has at most four bytes
        text = "\n" + whole(limit=limit) if limit > _LEAST else ""
    return text


def escape_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a value before the message, where ``:`` and ``,`` have a meaning as well."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _command(finding: Finding, prefix: str) -> str:
    properties = {"title": printable(finding.title)}
    if finding.path:
        properties = {"file": finding.path_from(prefix), **properties}
        if finding.line:
            properties["line"] = str(finding.line)
    told = ",".join(f"{key}={escape_property(value)}" for key, value in properties.items())
    return f"::{finding.severity} {told}::{escape_data(printable(finding.message, keep_lines=True))}"
