"""What became of each case, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

from ..base.grouping import grouped
from ..core.run import CaseResult, Run
from ..regression.compare import CaseComparison
from ..regression.verdict import Outcome, Verdict

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


def case_status(result: CaseResult, comparison: CaseComparison | None) -> CaseStatus:
    """Return the status of a case against its baseline; without a baseline, that of the case alone.

    A case that passes with an assertion which failed in every accepted answer is still failing, in every report.
    """
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


def gravest(outcomes: Collection[Outcome]) -> Outcome:
    """Return the gravest of *outcomes*; without any nothing was judged."""
    order: tuple[Outcome, ...] = ("failed", "inconclusive", "not judged", "passed")
    return min(outcomes, key=order.index, default="not judged")


def headline_style(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return the colour of the headline: red for a failure, yellow where something could not be judged."""
    return STATE_STYLES.get(gravest([verdict.outcome for verdict in verdicts]), ("yellow",))
