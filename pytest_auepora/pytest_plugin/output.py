"""What cases and other parts of the plugin write to pytest's terminal, and how wide and in which characters."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from traceback import walk_tb
from types import TracebackType
from typing import Any, Literal, NamedTuple

import pytest

from ..core.run import CaseResult, MetricInfo, Run
from ..evaluation.case_flow import FinishedCase
from ..regression.outcomes import GateOutcome, Note
from ..reporting.terminal.failure import failure_text
from ..reporting.terminal.layout import Line, printable_line
from ..reporting.text import harmless, in_ascii, printable
from ..reporting.wording.cases import case_diagnosis
from ..reporting.wording.gates import gate_line, gate_title, suite_failure, unjudged

_HEADLINE = "auepora_headline"
"""Attribute of a failure: its first line, however long."""


def fail_case(config: pytest.Config, finished: FinishedCase, metrics: Mapping[str, MetricInfo]) -> None:
    """Fail the test of a case, in a text as wide as the terminal; what all cases share is in the summary."""
    __tracebackhide__ = True
    shown = finished.result, finished.comparison, metrics
    text = failure_text(*shown, width=terminal_width(config), shapes=False)
    fail(encodable(text), encodable(printable(case_diagnosis(*shown))))


def fail(text: str, headline: str) -> None:
    """Fail the running test with *text*; where pytest lists failures, *headline* stands for it."""
    __tracebackhide__ = True
    failure = pytest.fail.Exception(text, pytrace=False)
    setattr(failure, _HEADLINE, headline)
    raise failure


class SuiteOutcome(NamedTuple):
    """The outcome of a test `suite`, the lines of its text, and a line for each gate, for JUnit."""

    state: Literal["passed", "failed", "skipped"]
    lines: list[str]
    properties: list[tuple[str, object]]

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)


def outcome_of(run: Run, gates: Sequence[GateOutcome], notes: Sequence[Note]) -> SuiteOutcome:
    """Return the outcome of the *gates* of *run*: failed by any that failed, skipped where none was judged."""
    properties: list[tuple[str, object]] = [
        (printable(f"auepora.gate.{gate_title(gate)}"), harmless(gate_line(gate, run, notes))) for gate in gates
    ]
    if failed := [gate for gate in gates if gate.state == "failed"]:
        return SuiteOutcome("failed", [*map(harmless, suite_failure(run, failed, notes))], properties)
    if all(gate.state == "not judged" for gate in gates):
        return SuiteOutcome("skipped", [printable(unjudged(gates, run))], properties)
    return SuiteOutcome("passed", [], properties)


def terminal_width(config: pytest.Config) -> int:
    """Return the columns of the terminal; 80 where pytest has none (``-p no:terminal``)."""
    has_terminal = config.pluginmanager.hasplugin("terminalreporter")
    return config.get_terminal_writer().fullwidth if has_terminal else 80


def wrapped(config: pytest.Config, text: str) -> str:
    """Return *text* in lines of the terminal's width, those after the first indented; no word is cut.

    In CI it stays as it is: pytest lists the whole of it there, one line for each failure.
    """
    if in_ci():
        return text
    options: Any = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}
    return "\n".join(fill(line, terminal_width(config), **options) for line in text.splitlines())


def in_ci() -> bool:
    """Whether pytest takes this for a job of CI."""
    return bool(os.environ.get("CI") or os.environ.get("BUILD_NUMBER"))


def begin_at_case(item: pytest.Function, call: pytest.CallInfo[None]) -> None:
    """Let the traceback of a failed case begin at the case: pytest looks up the file of every frame before it.

    Without it, 1,000 failing cases are further from their budget.
    """
    if call.excinfo is None or wants_traceback(item.config):
        return
    code = item.function.__code__
    frames = [frame.f_code for frame, _ in walk_tb(call.excinfo.tb)]
    if code in frames:
        call.excinfo.traceback = call.excinfo.traceback[frames.index(code) :]


def below_pytest(traceback: TracebackType | None) -> TracebackType | None:
    """Return *traceback* without the frames up to the last of pytest's own; None where pytest itself raised."""
    below, frame = traceback, traceback
    while frame is not None:
        module = str(frame.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in ("_pytest", "pluggy"):
            below = frame.tb_next
        frame = frame.tb_next
    return below


def show_headline(report: pytest.TestReport, error: BaseException) -> None:
    """Let the message of what `fail` failed be its headline: in CI pytest lists the whole message once more."""
    crash, headline = getattr(report.longrepr, "reprcrash", None), getattr(error, _HEADLINE, "")
    if crash is not None and headline:
        crash.message = f"{type(error).__name__}: {headline}"


def hide_frames(config: pytest.Config, report: pytest.TestReport, error: BaseException) -> None:
    """Leave of a failed case its message alone where pytest would show every frame, with texts nobody has redacted."""
    if config.getoption("fulltrace", False) and isinstance(error, pytest.fail.Exception):
        report.longrepr = harmless(str(error))


def show_redacted(config: pytest.Config, report: pytest.TestReport, result: CaseResult) -> None:
    """Replace the text of a report, of a set-up that failed or skipped its case, by its redacted *result*."""
    if hasattr(report, "wasxfail"):
        report.wasxfail = f"reason: {printable(result.error)}"
    elif isinstance(report.longrepr, tuple):
        report.longrepr = (*report.longrepr[:2], f"Skipped: {printable(result.error)}")
    if not isinstance(report.longrepr, tuple):
        is_line = "\n" not in result.error
        report.longrepr = wrapped(config, harmless(result.error)) if is_line else harmless(result.error)


def wants_traceback(config: pytest.Config) -> bool:
    """Whether the user asked to see, or step into, frames; else the text of the failure serves."""
    wanted = config.getoption("usepdb", False) or config.getoption("fulltrace", False)
    return bool(wanted) or config.getoption("tbstyle", "auto") in ("long", "native")


def encodable(text: str) -> str:
    """Return *text* with ASCII for our symbols where the terminal can show ASCII only."""
    return text if "utf" in (getattr(sys.__stdout__, "encoding", "") or "").lower() else in_ascii(text)


def write_lines(terminalreporter: Any, lines: Iterable[Line]) -> None:
    """Print *lines* in their styles."""
    for line in lines:
        for cell in printable_line(line):
            terminalreporter.write(encodable(cell.text), **dict.fromkeys(cell.style, True))
        terminalreporter.line("")
