"""The verdict on one case (SPEC 4.2): a check that held in all accepted answers fails it if it fails again and again.

A trial begins with the checks that the first answer fails.  Each further answer keeps of them what fails again: once
nothing is left the case varies, and does not fail; after as many answers as chance needs to be ruled out it does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...core.findings import Finding, FindingStatus, OneAnswer, SuspectReason
from ...core.run import CaseResult
from ..checks import ASSERTIONS, AcceptedChecks, CaseRules, Key
from ..statistics.case_rule import FEWEST, MOST, answers_needed

_MOST_TIMEOUTS = 2
"""A call that took too long is asked once more."""

_FEWEST_CONFIRMED, _SHARE_CONFIRMED = 10, 0.05


@dataclass(slots=True)
class Confirmed:
    """How many cases of a suite failed after they were asked again, in this process; from some number on, none is."""

    cases: int = 0
    """Of the suite."""
    red: int = 0
    """That failed so."""

    @property
    def is_full(self) -> bool:
        """Whether the rest fails without being asked again: the run is red already, or there is an outage."""
        return self.red >= max(_FEWEST_CONFIRMED, math.ceil(_SHARE_CONFIRMED * self.cases))


@dataclass(eq=False, slots=True)
class CaseTrial:
    """The checks of one case, held against today's answers to it.

    Attributes:
        result: the result of the first answers, whose findings and state are set here.
        rules: what is held against each answer.
        accepted: how its accepted answers fare; None without a comparable baseline.
        varied: V, the checks of the whole baseline that held in some accepted answers and not in others.
        accepting: whether its answers are about to be accepted.
        texts: the answers' texts, to tell cached ones; None of one that tells nothing: none, empty, a refusal.
        open: by check, the findings that further answers may clear.
    """

    result: CaseResult
    rules: CaseRules
    accepted: AcceptedChecks | None = None
    varied: int = 0
    accepting: bool = False
    texts: list[str | None] = field(default_factory=list)
    open: dict[Key, Finding] = field(default_factory=dict)

    def begin(self, answers: Sequence[OneAnswer]) -> None:
        """Hold the first *answers*, one or as many as the case is repeated, against the rules."""
        failing = [self.rules.failing(answer) for answer in answers]
        found: dict[Key, Finding] = {}
        for of_one in failing:
            for key, finding in of_one.items():
                found.setdefault(key, finding)
        for key, finding in found.items():
            finding.asked = len(answers)
            finding.passed = sum(key not in of_one for of_one in failing)
            self._complete(key, finding)
            self.result.findings.append(finding)
            if (status := self._status_at_once(finding)) is None:
                self.open[key] = finding
            else:
                finding.status = status
        self._end_what_is_over()

    def take(self, answer: OneAnswer, text: str | None) -> None:
        """Hold one further answer against the checks that are left."""
        failing = self.rules.failing(answer)
        self.texts.append(text)
        for key, finding in list(self.open.items()):
            finding.asked += 1
            if key not in failing:
                finding.passed += 1
                finding.status = "varies"
                del self.open[key]
        self._end_what_is_over()

    def settle(self, confirmed: Confirmed | None = None) -> None:
        """Decide without a further answer: none is to be had, or, where *confirmed* is full, enough failed already."""
        if confirmed is not None and confirmed.is_full:
            self._close("not asked again")
        elif (accepted := self.accepted) is not None and accepted.varied:
            self._close("suspect", "no further answer")
        else:
            self._close("failed")
        self._note_state()

    def _complete(self, key: Key, finding: Finding) -> None:
        """Add what is known of the check: in how many accepted answers it held, how many failures it takes."""
        accepted, result = self.accepted, self.result
        if finding.kind in ("raised", "timed out"):
            finding.reason = result.error_line
        if (score := result.scores.get(finding.metric)) is not None:
            finding.reason = score.reason
            if finding.kind != "assertion" and score.value is not None:
                finding.after = score.value  # of repeats their mean
        if finding.kind == "assertion":
            finding.details = assertion_details(result, finding.metric)
        if accepted is not None:
            finding.accepted, finding.held = accepted.answers, accepted.held(key)
        finding.varied = self.varied
        finding.needed = self._needed(finding)

    def _needed(self, finding: Finding) -> int:
        """Return how many answers in a row must fail; 0 where the check cannot fail the case alone."""
        accepted = self.accepted
        if self.result.must_pass or self.result.expected_to_fail:
            return 1
        if finding.kind == "timed out":
            return _MOST_TIMEOUTS
        if accepted is None:
            return FEWEST
        if 0 < finding.held < accepted.answers:
            return 0
        needed = answers_needed(accepted.answers, self.varied)
        return needed if needed is not None else 0 if accepted.varied else MOST

    def _status_at_once(self, finding: Finding) -> FindingStatus | None:
        """Return the status of a check that needs no further answer; None where chance is to be ruled out."""
        result, accepted = self.result, self.accepted
        if finding.metric in self.rules.advisory:
            return "advisory"
        if result.expected_to_fail:
            return "failed"
        if result.quarantined() and finding.kind not in ("raised", "timed out"):
            return "excused"
        if finding.passed and not result.must_pass:
            return "varies"
        if result.must_pass and not self.accepting:
            return "failed"
        is_assertion = finding.kind == "assertion"
        if is_assertion and accepted is not None and not finding.held:
            return "still failing"
        if self.accepting:
            return "excused" if is_assertion or finding.kind in ("fell", "no number") else "failed"
        if accepted is None:
            return None
        if 0 < finding.held < accepted.answers:
            return "varies"
        if not finding.held:  # in any accepted answer: thresholds are absolute, and what raises measures nothing
            return "failed"
        if not finding.needed:
            finding.suspect = "too much varies"
            return "suspect"
        return None

    def _end_what_is_over(self) -> None:
        """Decide the checks that failed often enough; once one of them fails the case, the others need no answer."""
        for key, finding in list(self.open.items()):
            if finding.asked >= finding.needed:
                finding.status, finding.suspect = (
                    ("suspect", "cached") if self._looks_cached(finding) else ("failed", "")
                )
                del self.open[key]
        decided = [finding for finding in self.result.findings if finding not in self.open.values()]
        if any(finding.fails for finding in decided):
            self._close("not asked again")
        self._note_state()

    def _looks_cached(self, finding: Finding) -> bool:
        """Whether today's answers are equal byte for byte where accepted ones differed.

        Equal scores say nothing of a cache where all accepted answers agree in them too, as in those of a retriever.
        """
        accepted = self.accepted
        differed = accepted is not None and accepted.varied and finding.metric not in accepted.steady
        return differed and None not in self.texts and len({*self.texts}) == 1 < len(self.texts)

    def _close(self, status: FindingStatus, suspect: SuspectReason = "") -> None:
        for finding in self.open.values():
            finding.status, finding.suspect = status, suspect
        self.open.clear()

    def _note_state(self) -> None:
        """Set the state by the findings so far; an open check counts as failed until it is decided."""
        failures = [finding for finding in self.result.findings if finding.fails]
        raised = any(finding.kind in ("raised", "timed out") for finding in failures)
        self.result.state = "error" if raised else "failed" if failures else "passed"


def assertion_details(result: CaseResult, key: str) -> dict[str, object]:
    """Return what an assertion found wrong in the first answer, by the details of its metric."""
    metric, detail = ASSERTIONS[key]
    score = result.scores.get(metric)
    found = score.details.get(detail) if score is not None else None
    return {detail: found} if found else {}
