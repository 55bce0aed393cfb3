"""What people see in the terminal: a header, words under ``-v``, failure texts, the closing summary."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

from .compat import quick_widths
from .keys import SESSION
from .plugin_base import OnlyHooks
from .variants import variant_lines
from .xdist_messages import unpack

if TYPE_CHECKING:
    from ..core.run import CaseResult, MetricInfo
    from ..regression.compare.cases import CaseComparison
    from ..reporting.terminal.layout import Line
    from .controller import Judge

__all__ = ["Terminal", "failure_message"]

_WIDTH: pytest.StashKey[int] = pytest.StashKey()
"""On the config: how wide failures are; like pytest's progress, they keep to what the terminal was at first."""


def failure_message(
    config: pytest.Config,
    result: CaseResult,
    comparison: CaseComparison | None,
    metrics: Mapping[str, MetricInfo],
) -> str:
    """Return the text of a case that did not pass, as wide as the terminal."""
    from ..reporting.terminal.failure import failure_text

    width = config.stash.get(_WIDTH, 0)
    if not width:  # asking the system for it takes as long as writing a few lines
        width = config.stash[_WIDTH] = config.get_terminal_writer().fullwidth
    return failure_text(result, comparison, metrics, width=width, ascii_only=is_ascii())


def is_ascii() -> bool:
    """Whether the terminal can show ASCII only."""
    return "utf" not in (getattr(sys.__stdout__, "encoding", "") or "").lower()


class Terminal(OnlyHooks):
    """Writes to pytest's own terminal reporter; controller only."""

    def __init__(self, config: pytest.Config, judge: Judge) -> None:
        self.config = config
        self.judge = judge

    def pytest_report_header(self) -> list[str]:
        """Say that golden files are collected, and with what settings."""
        from ..reporting.terminal.session import header_lines

        session = self.config.stash[SESSION]
        return header_lines(
            files=self.config.getini("auepora_files"),
            concurrency=session.options.concurrency,
            timeout=session.options.timeout,
            seed=session.options.seed,
            spread=self.config.getoption("dist", "no") != "no",  # pytest-xdist's
            accepting=", ".join([*sorted(session.options.intents), *(["pruning"] if session.options.prune else [])]),
            baseline=str(session.options.override or ""),
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Have the line that pytest writes results on measured quickly, as it asks for with each of them."""
        with quick_widths():
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Show the key scores of a passed case under ``-v``."""
        if not isinstance(report, pytest.TestReport) or report.when != "call" or not report.passed:
            return None
        if self.config.get_verbosity() < 1 or hasattr(report, "wasxfail"):
            return None
        parcels = unpack(report)
        if len(parcels) != 1:
            return None
        from ..reporting.terminal.session import case_word

        session = self.config.stash[SESSION]
        word = case_word(parcels[0].result, session.infos(session.suite(session.root / parcels[0].path)))
        return "passed", ".", (f"PASSED {word}".rstrip(), {"green": True})

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Have the summary of failures made quick, if there are any to be listed (or others, as ``-r`` asks for)."""
        if session.testsfailed or not set("PXxAa").isdisjoint(self.config.getoption("reportchars", "")):
            from .quick_summary import register

            register(self.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the verdict of every run."""
        judged = self.judge.judged
        if not judged:
            return
        from ..reporting.terminal.summary import headline, headline_style, summary_lines
        from ..reporting.text import printable

        runs, verdicts = [j.run for j in judged], [j.verdict for j in judged]
        terminalreporter.section("auepora", sep="=", bold=True)
        if len(judged) > 1:
            text = printable(headline(verdicts, runs), ascii_only=is_ascii())
            terminalreporter.line(text, **dict.fromkeys(headline_style(verdicts), True))
        width = self.config.get_terminal_writer().fullwidth
        for one in judged:
            _write(terminalreporter, summary_lines(one.run, one.verdict, width=width, ascii_only=is_ascii()))
            for done in filter(None, (one.accepted, one.anchored)):
                from ..reporting.terminal.session import accepted_lines

                for text in accepted_lines(done, self.config.rootpath):
                    terminalreporter.line(printable(text, ascii_only=is_ascii()))
        _write(terminalreporter, variant_lines(self.config, runs, width=width, ascii_only=is_ascii()))


def _write(terminalreporter: Any, lines: Iterable[Line]) -> None:
    for line in lines:
        for cell in line:
            terminalreporter.write(cell.text, **dict.fromkeys(cell.style, True))
        terminalreporter.line("")
