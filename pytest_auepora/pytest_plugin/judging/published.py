"""Judgements that no item tells, as reports of tests."""

from __future__ import annotations

from collections.abc import Sequence
from time import time
from typing import Any, Literal

import pytest

from ..output import SuiteOutcome, wrapped

_Outcome = Literal["passed", "failed", "skipped"]
_PASSED: tuple[_Outcome, None] = "passed", None


def publish(session: pytest.Session, tests: Sequence[list[pytest.TestReport]], published: dict[str, None]) -> None:
    """Send the reports of each of *tests* through pytest's own reporting, as if it had run; note its id in *published*.

    The terminal, the counts, junit, ``--lf`` and the exit code then all know it.
    """
    each_line = session.config.get_verbosity() > 0  # each shows the progress, which is not to run backwards
    session.testscollected += 0 if each_line else len(tests)
    hook = session.config.hook
    for reports in tests:
        session.testscollected += each_line
        published[reports[0].nodeid] = None
        place = {"nodeid": reports[0].nodeid, "location": reports[0].location}
        hook.pytest_runtest_logstart(**place)
        for report in reports:
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(**place)


def failed(message: str) -> SuiteOutcome:
    """Return the outcome of a test that failed for *message*."""
    return SuiteOutcome("failed", [message], [])


def test_reports(
    config: pytest.Config, location: tuple[str, int, str], outcome: SuiteOutcome
) -> list[pytest.TestReport]:
    """Return the reports of all three phases: plugins that write reports wait for the last, or look up the first."""
    longrepr: Any = None
    if outcome.state == "failed":
        longrepr = wrapped(config, outcome.text)
    elif outcome.state == "skipped":
        longrepr = location[0], location[1] + 1, f"Skipped: {outcome.text}"
    phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
    now, reports = time(), []
    for when in phases:
        state, text = (outcome.state, longrepr) if when == "call" else _PASSED
        reports.append(
            pytest.TestReport(
                nodeid=f"{location[0]}::{location[2]}", location=location, keywords={location[2]: 1}, when=when,
                outcome=state, longrepr=text, duration=0.0, start=now, stop=now, user_properties=outcome.properties,
            )
        )  # fmt: skip
    return reports
