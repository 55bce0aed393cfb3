"""A check of a case that failed: what was found, and what the accepted answers and those of today say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...base.grouping import grouped
from ...base.text import decimal_text, names_words
from ...core.findings import Finding, FindingStatus
from ...core.run import CaseResult, MetricInfo
from ...regression.checks import ASSERTIONS
from ...regression.thresholds import Bound
from ..diagnosis import distinct, measured_by
from ..numbers import metric_value, plural

BROKEN: Mapping[str, tuple[str, str]] = {
    "missing": ("the answer ", "misses"), "forbidden_present": ("the answer ", "says"),
    "problems": ("the answer ", "breaks its schema:"), "leaked": ("", "returned"),
}  # fmt: skip
"""What a broken assertion did, by where the details of its metric say what is wrong: who, and what, before the list."""

_QUOTED = ("missing", "forbidden_present")
"""Details that are phrases of answers."""

_WORDS: Mapping[FindingStatus, str] = {
    "failed": "FAILED", "not asked again": "FAILED", "varies": "varies", "suspect": "suspect",
    "still failing": "still failing", "excused": "excused", "advisory": "advisory",
}  # fmt: skip
_SUSPECT = {
    "cached": "the answers look cached",
    "no further answer": "no further answer was to be had",
    "too much varies": "so much varies that ten failures in a row prove nothing",
}
_MOST_PLACES = 16


def check_text(finding: Finding) -> str:
    """Return the name of the check: the metric, the assertion, or the system."""
    return finding.metric or "the system"


def fault_text(finding: Finding, info: MetricInfo | None = None) -> str:
    """Return what today's first answer did: ``recall@5 0.20, wanted >= 0.5``."""
    name, after = finding.metric, finding.after
    if finding.kind == "assertion":
        found = {key: finding.details.get(key) for key in (ASSERTIONS[name][1],)}
        return f"{name}: {assertion_fault(found) or 'it does not hold'}"
    if finding.kind == "threshold" and finding.op and finding.limit is not None:
        bound = Bound(finding.op, finding.limit)
        return f"{name} {metric_value(after, info, bound)}, wanted {bound}"
    if finding.kind == "fell" and finding.before is not None and after is not None and finding.limit is not None:
        before, now = _distinguishable(finding.before, after, finding.limit)
        return f"{name} {_moved(finding)} from {before} to {now} (limit {decimal_text(finding.limit)})"
    if finding.kind == "no number":
        return f"{name} has no number{f' ({finding.reason})' if finding.reason else ''}"
    if finding.kind == "metric raised":
        return f"{name} raised {finding.reason or 'an error'}"
    if finding.kind == "timed out":
        return f"timed out{f': {finding.reason}' if finding.reason else ''}"
    return f"raised {finding.reason}" if finding.reason else "raised"


def _moved(finding: Finding) -> str:
    return "rose" if (finding.after or 0.0) > (finding.before or 0.0) else "fell"


def evidence_text(finding: Finding) -> str:
    """Return what the accepted answers and those of today did.

    ``held in 5 of 5 accepted answers, failed 4 of 4 today (4 needed: 9 checks varied when accepted)``
    """
    failed, asked, accepted = finding.asked - finding.passed, finding.asked, finding.accepted
    times = f"failed {failed} of {asked} today"
    if finding.status == "not asked again":
        times += ", not asked again"
    elif 1 < finding.needed <= finding.asked:
        times += f" ({finding.needed} needed{_why_needed(finding)})"
    return f"held in {finding.held} of {plural(accepted, 'accepted answer')}, {times}" if accepted else times


def _why_needed(finding: Finding) -> str:
    if finding.accepted == 1:
        return ", without a guarantee: one answer was accepted"
    if finding.varied:
        return f": {plural(finding.varied, 'check')} varied when accepted"
    return ""


def finding_line(case_id: str, finding: Finding) -> str:
    """Return the line on one check of a case.

    ``FAILED case-12 must_contain: held in 5 of 5 accepted answers, failed 4 of 4 today (…)``,
    ``case-12 varies: 5 of 5 accepted held, 1 of 3 today``,
    ``case-7 varies: 4 of 5 accepted, 0 of 1 today: cannot fail alone``
    """
    word = _WORDS[finding.status]
    if finding.fails:
        return f"{word} {case_id} {check_text(finding)}: {evidence_text(finding)}"
    today = f"{finding.passed} of {finding.asked} today"
    if is_known_to_vary(finding):
        return f"{case_id} varies: {finding.held} of {finding.accepted} accepted, {today}: cannot fail alone"
    counts = f"{finding.held} of {finding.accepted} accepted held, {today}" if finding.accepted else f"{today} held"
    if finding.status == "suspect":
        return f"{case_id} suspect: {counts}: {_SUSPECT.get(finding.suspect, 'not confirmed')}"
    check = f" {check_text(finding)}" if finding.status != "varies" else ""
    return f"{case_id} {word}{check}: {counts}"


def is_known_to_vary(finding: Finding) -> bool:
    """Whether the check failed in one of the accepted answers, and so cannot fail its case alone."""
    return finding.status == "varies" and 0 < finding.accepted != finding.held


def failed_lines(result: CaseResult) -> list[str]:
    """Return the lines on the checks that fail the case; one line for those of which the answers say the same."""
    groups = grouped((evidence_text(finding), finding) for finding in distinct(result.failures))
    return [f"FAILED {result.case_id} {_checks_text(group)}: {evidence}" for evidence, group in groups.items()]


def problem_lines(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return what fails the case, a line a check, and below what the answers say of them."""
    return [*fault_lines(result, metrics), *evidence_lines(result)]


def fault_lines(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return what the first answer did, a line for each check that fails the case.

    A metric that misses its threshold and fell is named once: ``recall@5 0.20, wanted >= 0.5, fell from 1.00``.
    """
    failures = distinct(result.failures)
    fell = {finding.metric: finding for finding in failures if finding.kind == "fell"}
    missed = {finding.metric for finding in failures if finding.kind == "threshold"}
    lines = []
    for finding in failures:
        if finding.kind == "fell" and finding.metric in missed:
            continue
        line, drop = fault_text(finding, metrics.get(measured_by(finding))), fell.get(finding.metric)
        if finding.kind == "threshold" and drop is not None and drop.before is not None and drop.limit is not None:
            line += f", {_moved(drop)} from {drop.before:.2f} (limit {decimal_text(drop.limit)})"
        lines.append(line)
    return lines


def evidence_lines(result: CaseResult) -> list[str]:
    """Return what the answers say of the checks that fail the case; a line for all of which they say the same.

    Empty where there is one answer and nothing to compare it with.
    """
    groups = grouped((_evidence(finding), finding) for finding in distinct(result.failures))
    if len(groups) == 1:
        return [evidence for evidence in groups if evidence]
    return [f"{_checks_text(group)}: {evidence}" for evidence, group in groups.items() if evidence]


def _checks_text(findings: Sequence[Finding]) -> str:
    return ", ".join(dict.fromkeys(map(check_text, findings)))


def still_failing_lines(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return the assertions that failed in every accepted answer as well."""
    return [fault_text(f, metrics.get(measured_by(f))) for f in distinct(result.with_status("still failing"))]


def advisory_lines(result: CaseResult, metrics: Mapping[str, MetricInfo]) -> list[str]:
    """Return what judges that are not calibrated found."""
    return [fault_text(f, metrics.get(measured_by(f))) for f in result.with_status("advisory")]


def _evidence(finding: Finding) -> str:
    is_known = finding.accepted or finding.asked > 1 or finding.status == "not asked again"
    return evidence_text(finding) if is_known else ""


def assertion_fault(details: Mapping[str, Any], most: int | None = None, shown: Callable[[str], str] = repr) -> str:
    """Return what is wrong with an answer by the *details* of an assertion; empty if they do not say.

    At most *most* phrases are named, each formatted by *shown*.
    """
    faults = grouped(
        (who, f"{verb} {names_words(found, most or len(found), shown if key in _QUOTED else str)}")
        for key, (who, verb) in BROKEN.items()
        if (found := details.get(key))
    )
    return " and ".join(who + " and ".join(verbs) for who, verbs in faults.items())


def _distinguishable(before: float, after: float, limit: float) -> tuple[str, str]:
    """Format both with enough digits to show a drop beyond *limit*, not '0.70 to 0.20, limit 0.5'."""
    for digits in range(2, _MOST_PLACES + 1):
        texts = f"{before:.{digits}f}", f"{after:.{digits}f}"
        if abs(float(texts[0]) - float(texts[1])) > limit + 1e-9:
            return texts
    return repr(before), repr(after)
