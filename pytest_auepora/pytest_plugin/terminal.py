"""What people see in the terminal: a header, words under ``-v``, failure texts, the closing summary."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from ..core.run import CaseResult, MetricInfo
from ..regression.compare import CaseComparison
from .wire import unpack

if TYPE_CHECKING:
    from .judge import Judge

__all__ = ["Terminal", "failure_message"]


def failure_message(
    config: pytest.Config,
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
) -> str:
    """Return the text of a case that did not pass, as wide as the terminal."""
    from ..reporting.failure import failure_text

    width = config.get_terminal_writer().fullwidth
    return failure_text(result, comparison, metrics, width=width, ascii_only=is_ascii())


def is_ascii() -> bool:
    """Whether the terminal can show ASCII only."""
    return "utf" not in (getattr(sys.__stdout__, "encoding", "") or "").lower()


class Terminal:
    """Writes to pytest's own terminal reporter; controller only."""

    def __init__(self, config: pytest.Config, judge: Judge) -> None:
        self.config = config
        self.judge = judge

    def pytest_report_header(self) -> list[str]:
        """Say that golden files are collected, and with what settings."""
        from .keys import SESSION

        session = self.config.stash[SESSION]
        parts = [f"golden files: {' '.join(self.config.getini('auepora_files'))}"]
        if session.concurrency:
            parts.append(f"concurrency {session.concurrency}")
        if session.timeout:
            parts.append(f"timeout {session.timeout:g} s")
        if session.intents:
            parts.append(f"accepting {', '.join(sorted(session.intents))} into the baseline")
        if session.prune:
            parts.append("pruning the baseline")
        return [f"auepora: {', '.join(parts)}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Show the key scores of a passed case under ``-v``."""
        if not isinstance(report, pytest.TestReport) or report.when != "call" or not report.passed:
            return None
        if self.config.get_verbosity() < 1 or hasattr(report, "wasxfail"):
            return None
        parcels = unpack(report)
        if len(parcels) != 1:
            return None
        from ..reporting.summary import case_word

        run = self.judge.runs.get((parcels[0].path, parcels[0].variant))
        word = case_word(parcels[0].result, run.metrics if run is not None else {})
        return "passed", ".", (f"PASSED {word}".rstrip(), {"green": True})

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the verdict of every run."""
        if not self.judge.judged:
            return
        from ..reporting.summary import closing_lines

        terminalreporter.section("auepora", sep="=", bold=True)
        width = self.config.get_terminal_writer().fullwidth
        for line in closing_lines(
            [(j.run, j.verdict) for j in self.judge.judged], width=width, ascii_only=is_ascii()
        ):
            for cell in line:
                terminalreporter.write(cell.text, **dict.fromkeys(cell.style, True))
            terminalreporter.line("")
        for judged in self.judge.judged:
            if judged.accepted is not None:
                self._accepted(terminalreporter, judged)

    def _accepted(self, terminalreporter: Any, judged: Any) -> None:
        from ..reporting.accepted import accepted_lines

        for line in accepted_lines(judged.accepted, self.config.rootpath):
            terminalreporter.line(line)
