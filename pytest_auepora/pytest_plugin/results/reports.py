"""Reports: the files asked for, and the step summary and annotations of GitHub Actions.

Written once, by the controller, after everything has been judged: also after ``-x`` and Ctrl-C, with what has run.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from ...base.complaints import Problem
from ...base.files import shown_path, write_atomically
from ...errors import AueporaError
from ...reporting.formats.registry import WITH_TRENDS, Target, read_target, report_text
from ...reporting.numbers import number
from ...reporting.text import harmless
from ..case_reports import CaseReport
from ..keys import CASE_REPORTS, MISTAKES
from ..options import check_words, lines_of, runs_tests, words_of
from ..session import AueporaSession

if TYPE_CHECKING:
    from ...reporting.report import Report, Trend
    from ..controller import RunController
    from .history_recorder import Recorder

_SOURCES = (".py", ".pyi", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".jsonl", ".ipynb", ".lock")
_GITHUB = ("summary", "annotations", "off")


class Reports:
    """One per pytest run; controller only.

    Raises:
        pytest.UsageError: a report that is asked for cannot be: no case has run yet, so nothing is lost.
    """

    def __init__(self, controller: RunController) -> None:
        self.controller, self.config = controller, controller.config
        self.targets = _read_targets(self.config)
        words = words_of(self.config, "auepora_github")
        check_words("auepora_github", words, _GITHUB)
        self.github = frozenset() if "off" in words else frozenset(words)
        self.written: list[Target] = []
        self.problems: list[str] = []
        self.mistakes: list[Problem] = []
        self.summarized = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Collect the mistakes in golden files, each once, however many workers have read them."""
        for mistake in starmap(Problem, getattr(report, MISTAKES, ())):
            if mistake not in self.mistakes:
                self.mistakes.append(mistake)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Write the reports, let pytest print its summary, and end with what GitHub reads from the log."""
        if runs_tests(self.config):
            try:
                for target in self.targets:
                    self._write(target, session)
                self._append_summary()
            except KeyboardInterrupt:  # mostly the second one: out of here, but not out of what pytest still has to say
                self._note_interruption(session)
        result = yield
        if runs_tests(self.config):
            self._annotate()
        return result

    def _write(self, target: Target, session: pytest.Session) -> None:
        """Write one report; a failure fails the run, as somebody asked for the report."""
        try:
            report = self._report(with_trends=target.kind in WITH_TRENDS)
            write_atomically(target.path, report_text(target.kind, report))
        except Exception as exc:  # whatever it is, the verdict stands, and the other reports are still to be written
            self.problems.append(f"{self._title(target)} was not written: {_error_text(exc)}")
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        else:
            self.written.append(target)

    def _note_interruption(self, session: pytest.Session) -> None:
        unwritten = [self._title(t) for t in self.targets if t not in self.written] or ["the step summary"]
        verb = "were" if len(unwritten) > 1 else "was"
        self.problems.append(f"interrupted: {', '.join(unwritten)} {verb} not written")
        session.exitstatus = pytest.ExitCode.INTERRUPTED

    def _shown_path(self, target: Target) -> str:
        return shown_path(target.path, self.config.invocation_params.dir)

    def _title(self, target: Target) -> str:
        return f"{target.kind}:{self._shown_path(target)}"

    @property
    def html(self) -> str | None:
        """The HTML report that was written, as it is called from where pytest was started; None without one."""
        return next((self._shown_path(target) for target in self.written if target.kind == "html"), None)

    def _report(self, *, with_trends: bool = False) -> Report:
        """Return what was measured."""
        from ...reporting.report import Report

        runs = [judged.run for judged in self.controller.finished_runs]
        verdicts = [judged.verdict for judged in self.controller.finished_runs]
        recorder: Recorder | None = self.config.pluginmanager.get_plugin("auepora-recorder")
        trends = recorder.trends(runs) if with_trends and recorder is not None else {}
        trends |= self._accepted_trends(trends) if with_trends else {}
        prefix = _path_from_checkout(self.config.rootpath)
        mistakes = [*self.mistakes, *self.controller.required_unused]
        is_stopped = not self.controller.complete
        return Report(runs, verdicts, mistakes, trends, prefix, self.controller.compared, is_stopped)

    def _accepted_trends(self, trends: Mapping[tuple[str, str], Trend]) -> dict[tuple[str, str], Trend]:
        """Return *trends* with the accepted run as the one before, where the project keeps its texts."""
        from ...history.accepted import NAME, accepted_run
        from ...reporting.report import Trend

        out: dict[tuple[str, str], Trend] = {}
        for judged in self.controller.finished_runs:
            key = judged.run.path, judged.run.variant
            with suppress(AueporaError):  # the verdict says what is wrong with a baseline, an update with its texts
                if judged.accepting:
                    continue
                variant = judged.variant
                accepted = accepted_run(variant.baseline_path, judged.run.path, variant.accepted_texts())
                if accepted is not None:
                    out[key] = replace(trends.get(key, Trend()), previous=accepted, previous_name=NAME)
        return out

    def _append_summary(self) -> None:
        """Append to the summary of the step; a failure is a message only, as nobody asked for it by name."""
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if not path or "summary" not in self.github or not (self.controller.finished_runs or self.mistakes):
            return
        from ...reporting.formats.markdown_report import SUMMARY_BYTES, step_summary

        try:
            with Path(path).open("ab") as file:
                report = self._report()
                file.write(step_summary(report, room=SUMMARY_BYTES - file.tell()).encode())
        except Exception as exc:
            self.problems.append(f"the step summary was not written: {_error_text(exc)}")

    def _annotate(self) -> None:
        if os.environ.get("GITHUB_ACTIONS") != "true" or "annotations" not in self.github:
            return
        from ...reporting.annotations import annotation_lines

        if text := annotation_lines(self._report()):
            self._print(text)

    def _print(self, text: str) -> None:
        """Print whole lines, whether pytest has a terminal reporter or not."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(text)
        else:
            print(text, flush=True)  # noqa: T201 - -p no:terminal

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was written, below the verdict."""
        self.summarized = True
        if self.written:
            terminalreporter.line(f"reports: {', '.join(map(self._title, self.written))}")
        for problem in self.problems:
            terminalreporter.line(harmless(f"ERROR: {problem}"), red=True, bold=True)

    def pytest_unconfigure(self) -> None:
        """Where pytest prints no summary, say at least what went wrong."""
        if not self.summarized:
            for problem in self.problems:
                print(f"ERROR: {problem}", file=sys.stderr)  # noqa: T201


def _read_targets(config: pytest.Config) -> list[Target]:
    requests = [(text, config.invocation_params.dir) for text in config.getoption("auepora_report") or ()]
    requests += [(text, config.rootpath) for text in lines_of(config, "auepora_report")]
    targets: list[Target] = []
    for text, folder in requests:
        target = _target(text, folder)
        if target in targets:
            continue  # asked for by option and by setting
        if any(target.path == other.path for other in targets):
            raise pytest.UsageError(f"--auepora-report: two reports would be written to {target.path}")
        targets.append(target)
    return targets


def _target(text: str, folder: Path) -> Target:
    try:
        kind, path = read_target(text)
    except AueporaError as exc:
        raise pytest.UsageError(f"--auepora-report: {exc}") from None
    path = folder / path
    if not path.parent.is_dir():
        raise pytest.UsageError(f"--auepora-report {text}: there is no directory {path.parent}")
    if path.is_dir():
        raise pytest.UsageError(f"--auepora-report {text}: {path} is a directory, a file is wanted")
    if path.suffix in _SOURCES and path.is_file():
        raise pytest.UsageError(f"--auepora-report {text}: {path} is a source file and would be overwritten")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise pytest.UsageError(f"--auepora-report {text}: {path} cannot be written")
    return Target(kind, path)


def _path_from_checkout(root: Path) -> str:
    """Return the path of *root* in the checkout of a job of GitHub Actions."""
    here = root.resolve()
    checkout = Path(os.environ.get("GITHUB_WORKSPACE") or here).resolve()
    path = here.relative_to(checkout).as_posix() if here.is_relative_to(checkout) else "."
    return "" if path == "." else path


def _error_text(error: BaseException) -> str:
    if isinstance(error.__cause__, OSError):
        error = error.__cause__
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, AueporaError):
        return str(error)
    return f"{type(error).__name__}: {error}"


@dataclass(eq=False, repr=False)
class JUnitProperties:
    """Scores in ``--junitxml``: properties of each test that ran golden cases.

    In every process that runs tests: pytest sends the properties of an item to the process that writes the file.
    """

    session: AueporaSession

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Add the properties before the last report of the item, from which the file is made."""
        if (case_reports := item.stash.get(CASE_REPORTS, None)) is None:
            return
        of_others = [(name, value) for name, value in item.user_properties if not name.startswith("auepora.")]
        item.user_properties[:] = of_others  # without those of an earlier attempt
        for case_report in case_reports:
            prefix = f"auepora.{case_report.result.case_id}." if len(case_reports) > 1 else "auepora."
            properties = _properties(case_report, self.session.load(case_report.path).golden.owner)
            item.user_properties += [(f"{prefix}{name}", text) for name, text in properties]


def _properties(case_report: CaseReport, owner: str) -> Iterator[tuple[str, str]]:
    yield "state", case_report.result.state
    if owner:
        yield "owner", owner
    if case_report.variant:
        yield "configuration", case_report.variant
    for name, score in case_report.result.scores.items():
        if score.value is not None:
            yield name, number(score.value, 4)
        elif score.state != "aggregate":
            yield name, f"{score.state}: {score.reason}" if score.reason else score.state


@dataclass(eq=False, repr=False)
class AllurePublished:
    """What the controller publishes in Allure's report, which reads results of items alone: by Allure's own hook.

    Controller only, where a report of Allure was asked for.
    """

    controller: RunController

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report it once, with the phase that judges it."""
        path, _, name = report.nodeid.partition("::")
        if report.nodeid not in self.controller.published or report.when != "call":
            return
        model, allure = import_module("allure_commons.model2"), import_module("allure_commons")
        message = report.longreprtext
        result = model.TestResult(
            uuid=str(uuid4()), name=name, fullName=report.nodeid,
            historyId=hashlib.md5(report.nodeid.encode(), usedforsecurity=False).hexdigest(),
            status=report.outcome, statusDetails=model.StatusDetails(message=message, trace=message),
            labels=[model.Label(name="suite", value=path), model.Label(name="framework", value="pytest")],
            start=int(report.start * 1000), stop=int(report.stop * 1000),
        )  # fmt: skip
        allure.plugin_manager.hook.report_result(result=result)
