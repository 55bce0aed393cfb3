"""How pytest says that a case was not measured on purpose, and how a case that was not says it to pytest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..evaluation.case_flow import Finished
    from ..evaluation.case_result import Ended

__all__ = ["ended_by", "raise_ended", "show_redacted"]


def ended_by(error: BaseException) -> Ended | None:
    """Return how *error* ends its case on purpose, None where it is an error; raise what ends the whole run."""
    from ..evaluation.case_result import Ended

    if isinstance(error, (KeyboardInterrupt, pytest.exit.Exception)):
        raise error
    if isinstance(error, pytest.xfail.Exception):
        return Ended("xfail", str(error))
    unittest: Any = sys.modules.get("unittest")  # its skips are pytest's as well
    if isinstance(error, pytest.skip.Exception) or (unittest is not None and isinstance(error, unittest.SkipTest)):
        return Ended("skip", str(error))
    return None


def raise_ended(done: Finished) -> None:
    """Tell pytest that the case was not measured, if it was not, in words that the project has redacted."""
    __tracebackhide__ = True
    result = done.result
    if result.state != "skipped":
        return
    kind: Any = pytest.xfail.Exception if result.expected_to_fail else pytest.skip.Exception
    raise kind(result.error).with_traceback(done.error.__traceback__ if done.error is not None else None)


def show_redacted(report: pytest.TestReport, result: CaseResult) -> None:
    """Let the report of a set-up that failed, or skipped its case, say no more than its redacted *result*."""
    if hasattr(report, "wasxfail"):
        report.wasxfail = f"reason: {result.error}"
    elif isinstance(report.longrepr, tuple):
        report.longrepr = (*report.longrepr[:2], f"Skipped: {result.error}")
    if not isinstance(report.longrepr, tuple):
        from ..reporting.text import harmless

        report.longrepr = harmless(result.error)
