"""Terminal output of a run: the header, scores under ``-v``, the closing summary."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from ...base.grouping import grouped
from ...reporting.numbers import plural
from ...reporting.tally import headline_style
from ...reporting.terminal.layout import Cell, Line
from ...reporting.terminal.session import accepted_lines, accepted_worse, case_word, header_lines
from ...reporting.terminal.summary import summary_lines
from ...reporting.text import ARROW, harmless, printable
from ...reporting.wording.verdict import headline
from ..case_reports import unpack
from ..controller import RunController
from ..options import words_of
from ..output import encodable, in_ci, terminal_width, wrapped, write_lines
from ..session import AueporaSession
from .reports import Reports

MOST_IN_FULL = 3
"""Failing cases of golden files that pytest shows itself."""


@dataclass(eq=False, repr=False)
class Terminal:
    """Writes to pytest's own terminal reporter; controller only."""

    controller: RunController
    reports: Reports

    def pytest_report_header(self, config: pytest.Config) -> list[str]:
        """Say that golden files are collected, and with what settings."""
        options = self.controller.session.options
        return header_lines(
            files=words_of(config, "auepora_files"),
            concurrency=options.concurrency,
            timeout=options.timeout,
            seed=options.seed,
            spread=config.getoption("dist", "no") != "no",  # pytest-xdist's
            accepting=", ".join([*sorted(options.intents), *(["pruning"] if options.prune else [])]),
            baseline=str(options.override or ""),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the verdict of every run."""
        if self.controller.none_selected:
            terminalreporter.line("auepora: no golden case was selected")
        if self.controller.finished_runs:
            terminalreporter.section("auepora", sep="=", bold=True)
            self._write_headlines(terminalreporter)
            self._write_runs(terminalreporter)
            write_lines(terminalreporter, self._side_by_side())
        for problem in self.controller.unused:
            terminalreporter.line(f"warning: {problem}", yellow=True, bold=True)

    def _write_headlines(self, terminalreporter: Any) -> None:
        """Print what is most urgent: results that an update made worse, and the verdict on several runs together."""
        finished_runs = self.controller.finished_runs
        for judged in finished_runs:
            if judged.accepted is not None:
                text = accepted_worse(judged.accepted, judged.run, judged.verdict, in_ci=in_ci())
                if text:
                    self._write(terminalreporter, text, yellow=True)
        if len(finished_runs) > 1:
            verdicts = [judged.verdict for judged in finished_runs]
            text = encodable(harmless(headline(verdicts, [judged.run for judged in finished_runs])))
            terminalreporter.line(text, **dict.fromkeys(headline_style(verdicts), True))

    def _write_runs(self, terminalreporter: Any) -> None:
        """Print the verdict of each run, and what was accepted of it."""
        config, finished_runs = self.controller.config, self.controller.finished_runs
        pairs = [(judged.run, judged.verdict) for judged in finished_runs]
        options: Any = {"width": terminal_width(config), "html": self.reports.html}
        for i, judged in enumerate(finished_runs, 1):
            write_lines(terminalreporter, summary_lines(judged.run, judged.verdict, later=pairs[i:], **options))
            for accepted in filter(None, (judged.accepted, judged.anchored)):
                for text in accepted_lines(accepted, config.rootpath, preview=self.controller.session.options.preview):
                    self._write(terminalreporter, text)
        new = (
            j.verdict for j in finished_runs if j.accepted is None and j.run.is_full and j.verdict.comparison is None
        )
        if any(v.outcome == "passed" and v.baseline_note.state != "unnamed" for v in new):
            text = "no baseline yet: accept with `pytest --auepora-update`, and commit the file"
            self._write(terminalreporter, f"{ARROW} {text}", bold=True)

    def _write(self, terminalreporter: Any, text: str, **style: bool) -> None:
        terminalreporter.line(encodable(wrapped(self.controller.config, harmless(text))), **style)

    def _side_by_side(self) -> Iterator[Line]:
        """Yield the lines on suites that several configurations ran."""
        if not self.controller.compared:
            return
        from ...reporting.formats.side_by_side_formats import side_by_side_lines

        config = self.controller.config
        reference = config.getini("auepora_reference")
        for compared in self.controller.compared:
            yield []
            yield from side_by_side_lines(compared, width=terminal_width(config))
            names = [column.name for column in compared.columns]
            if reference and reference not in names:
                text = f"auepora_reference = {reference}: no such configuration; available: {', '.join(names)}"
                yield [Cell(text, ("yellow",))]


@dataclass(eq=False, repr=False)
class CaseWords:
    """Shows the key scores of a passed case, where ``-v`` was given; controller only."""

    session: AueporaSession

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Show the scores in place of a bare ``PASSED``."""
        if not isinstance(report, pytest.TestReport) or report.when != "call" or not report.passed:
            return None
        case_reports = unpack(report)
        if len(case_reports) != 1 or hasattr(report, "wasxfail"):
            return None
        (case_report,) = case_reports
        word = printable(case_word(case_report.result, self.session.load(case_report.path).infos))
        return "passed", ".", (f"PASSED {word}".rstrip(), {"green": True})


@dataclass(eq=False, repr=False)
class ShortFailures:
    """Keeps pytest from listing failures of golden files again: the verdict names the worst cases and failed gates.

    A few cases are shown in full, failed suites in one line each, cases whose set-up failed alike once, all of them in
    full under ``-v``, ``-rA``, ``-rf`` or ``--tb=…``; counts stay as they are.  pytest has no option to list some and
    count all, and prints its list below the verdict: a thousand failures would push that off the screen.  So the
    reporter's lists, which plugins may change, are shorter while they are printed.
    """

    controller: RunController
    _listed: dict[str, list[Any]] = field(init=False, default_factory=dict)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> Generator[None, object, object]:
        """Remove them from the failures that pytest is about to show in full, and put them back for its counts."""
        stats = terminalreporter.stats
        all_reports = {kind: stats[kind] for kind in ("failed", "error") if kind in stats}
        if not all_reports or not self._is_short():
            return (yield)
        in_full = dict(all_reports)
        if failed := all_reports.get("failed"):
            in_full["failed"], self._listed["failed"] = self._shortened(failed)
        if errors := all_reports.get("error"):
            in_full["error"] = self._listed["error"] = self._folded(errors)
        stats.update(in_full)
        try:
            result = yield
        finally:
            stats.update(all_reports)
        for kind, what, option in (("failed", "failures", "-rf"), ("error", "errors", "-rE")):
            if n := len(all_reports.get(kind, ())) - len(self._listed.get(kind, ())):
                terminalreporter.line(f"{n} {what} are summed up above: -v shows each in full, {option} lists them")
        return result

    @pytest.hookimpl(specname="pytest_terminal_summary")
    def pytest_before_short_summary(self, terminalreporter: Any) -> None:
        """Put back what pytest is to list in one line each, which it does once the other summaries are printed."""
        terminalreporter.stats.update(self._listed)

    def _is_short(self) -> bool:
        config = self.controller.config
        in_short = config.getoption("tbstyle", "auto") == "auto" and config.getoption("reportchars", "") in ("", "fE")
        return in_short and config.get_verbosity() <= 0

    @property
    def _paths(self) -> set[str]:
        return {judged.run.path for judged in self.controller.finished_runs}

    def _shortened(self, failed: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return what pytest is to show in full of *failed*, and what it is to list."""
        paths = self._paths
        ours = [report for report in failed if report.nodeid.partition("::")[0] in paths]
        of_cases = [report for report in ours if self.controller.session.find_case(report.nodeid) is not None]
        if len(of_cases) > MOST_IN_FULL:
            others = [report for report in failed if report not in ours]
            return others, others
        return [report for report in failed if report not in ours or report in of_cases], failed

    def _folded(self, errors: list[Any]) -> list[Any]:
        """Return *errors* with one report for all cases of a golden file whose set-up failed alike."""
        paths = self._paths
        alike = grouped(((report.nodeid.partition("::")[0], report.longreprtext), report) for report in errors)
        folded = []
        for (path, _), (first, *others) in alike.items():
            if path not in paths or not others:
                folded += [first, *others]
                continue
            report = copy(first)
            report.location = (*first.location[:2], f"{first.location[2]} and {plural(len(others), 'more case')}")
            folded.append(report)
        return folded
