"""Reports for machines and people elsewhere: the files asked for, and what GitHub Actions shows by itself.

Written once, by the controller, after everything has been judged: also after ``-x`` and Ctrl-C, for as far as it came.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from ...core.files import shown_path
from ...errors import AueporaError, Problem, did_you_mean
from ...reporting.numbers import number
from ..options import runs_tests
from ..session import CASE_REPORTS, SUFFIXES, Suites

if TYPE_CHECKING:
    from ...reporting.formats import Target
    from ...reporting.trend import Trend
    from ..controller import RunController
    from ..xdist import CaseReport
    from .history_recorder import Recorder

_MISTAKE = r"(?P<path>.+?)(?::(?P<line>\d+):(?P<col>\d+))?: (?P<told>.*)"
_SOURCES = (".py", ".pyi", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".jsonl", ".ipynb", ".lock")
_GITHUB = ("summary", "annotations", "off")


def make_reports(config: pytest.Config, controller: RunController) -> Reports:
    """Return what writes the reports of *config*.

    Raises:
        pytest.UsageError: a report that is asked for cannot be: no case has run yet, so nothing is lost.
    """
    asked = [(text, config.invocation_params.dir) for text in config.getoption("auepora_report") or ()]
    asked += [(text, config.rootpath) for text in config.getini("auepora_report")]
    targets: list[Target] = []
    for text, folder in asked:
        target = _target(text, folder)
        if any(target.path == other.path for other in targets):
            if target in targets:
                continue  # asked for by option and by setting
            raise pytest.UsageError(f"--auepora-report: two reports would be written to {target.path}")
        targets.append(target)
    return Reports(config, controller, targets, _github(config))


def _target(text: str, folder: Path) -> Target:
    from ...reporting.formats import Target, check_installed, read_target

    try:
        kind, path = read_target(text)
        check_installed(kind)
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


def _github(config: pytest.Config) -> frozenset[str]:
    words = config.getini("auepora_github")
    for word in words:
        if word not in _GITHUB:
            known = ", ".join(_GITHUB)
            near = did_you_mean(word, _GITHUB)
            raise pytest.UsageError(f"auepora_github: unknown word {word!r}{near}; there is {known}")
    return frozenset() if "off" in words else frozenset(words)


def _way_from(variable: str, root: Path) -> str:
    """Return how *root* is called in the repository that a CI job has checked out where *variable* says."""
    said = os.environ.get(variable)
    if not said:
        return ""
    try:
        way = root.resolve().relative_to(Path(said).resolve()).as_posix()
    except ValueError:
        return ""
    return "" if way == "." else way


@dataclass(eq=False, repr=False, slots=True)  # a plugin is told apart by identity
class Reports:
    """One per pytest run; controller only."""

    config: pytest.Config
    controller: RunController
    targets: Sequence[Target]
    github: frozenset[str]
    written: list[Target] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    mistakes: list[Problem] = field(default_factory=list)
    told: bool = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what is wrong in golden files, each mistake once, however many workers have read them."""
        if not report.failed or not report.nodeid.endswith(SUFFIXES):
            return
        for line in report.longreprtext.splitlines():
            if (found := re.match(_MISTAKE, line)) is None or not report.nodeid.endswith(found["path"]):
                continue
            mistake = Problem(found["path"], int(found["line"] or 0), int(found["col"] or 0), found["told"])
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
                self._break_off(session)
        result = yield
        if runs_tests(self.config):
            self._annotate()
        return result

    def _write(self, target: Target, session: pytest.Session) -> None:
        """Write one report; a failure to do so is one of the run, as whoever asked for the report waits for it."""
        from ...reporting.formats import report_text, wants_trend, write_report

        try:
            prefix = _way_from("CI_PROJECT_DIR", self.config.rootpath)
            trends = self._trends() if wants_trend(target.kind) else None
            judged = self._runs_and_verdicts()
            text = report_text(target.kind, *judged, prefix=prefix, trends=trends, **self._shared())
            write_report(target.path, text)
        except Exception as exc:  # whatever it is, the verdict stands, and the other reports are still to be written
            self.problems.append(f"{self._named(target)} was not written: {_told(exc)}")
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        else:
            self.written.append(target)

    def _break_off(self, session: pytest.Session) -> None:
        left = [self._named(t) for t in self.targets if t not in self.written] or ["the step summary"]
        self.problems.append(f"interrupted: {', '.join(left)} {'were' if len(left) > 1 else 'was'} not written")
        session.exitstatus = pytest.ExitCode.INTERRUPTED

    def _shown(self, target: Target) -> str:
        return shown_path(target.path, self.config.invocation_params.dir)

    def _named(self, target: Target) -> str:
        return f"{target.kind}:{self._shown(target)}"

    @property
    def html(self) -> str | None:
        """The HTML report that was written, as it is called from where pytest was started; None without one."""
        return next((self._shown(one) for one in self.written if one.kind == "html"), None)

    def _runs_and_verdicts(self) -> tuple[list[Any], list[Any]]:
        finished = self.controller.finished_runs
        return [one.run for one in finished], [one.verdict for one in finished]

    def _shared(self) -> dict[str, Any]:
        return {"compared": self.controller.compared, "mistakes": self.mistakes}

    def _trends(self) -> Mapping[str, Trend]:
        recorder: Recorder | None = self.config.pluginmanager.get_plugin("auepora-recorder")
        return recorder.trends(self._runs_and_verdicts()[0]) if recorder is not None else {}

    def _append_summary(self) -> None:
        """Append to the summary of the step; nobody asked for it by name, so a failure is only told."""
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if not path or "summary" not in self.github or not (self.controller.finished_runs or self.mistakes):
            return
        from ...reporting.markdown_report import SUMMARY_BYTES, step_summary

        try:
            with Path(path).open("ab") as file:
                judged = self._runs_and_verdicts()
                file.write(step_summary(*judged, room=SUMMARY_BYTES - file.tell(), **self._shared()).encode())
        except Exception as exc:
            self.problems.append(f"the step summary was not written: {_told(exc)}")

    def _annotate(self) -> None:
        if os.environ.get("GITHUB_ACTIONS") != "true" or "annotations" not in self.github:
            return
        from ...reporting.findings import annotation_lines

        prefix = _way_from("GITHUB_WORKSPACE", self.config.rootpath)
        if text := annotation_lines(*self._runs_and_verdicts(), prefix=prefix, mistakes=self.mistakes):
            self._say(text)

    def _say(self, text: str) -> None:
        """Print whole lines, whether pytest has a terminal reporter or not."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(text)
        else:
            print(text, flush=True)  # noqa: T201 - -p no:terminal

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was written, below the verdict."""
        from ...reporting.text import harmless

        self.told = True
        if self.written:
            terminalreporter.line(f"reports: {', '.join(map(self._named, self.written))}")
        for problem in self.problems:
            terminalreporter.line(harmless(f"ERROR: {problem}"), red=True, bold=True)

    def pytest_unconfigure(self) -> None:
        """Where pytest prints no summary, say at least what went wrong."""
        if not self.told:
            for problem in self.problems:
                print(f"ERROR: {problem}", file=sys.stderr)  # noqa: T201


def _told(exc: BaseException) -> str:
    if isinstance(exc.__cause__, OSError):
        exc = exc.__cause__
    if isinstance(exc, OSError) and exc.strerror:
        return exc.strerror
    if isinstance(exc, AueporaError):
        return str(exc)
    return f"{type(exc).__name__}: {exc}"


_TOLD: pytest.StashKey[list[tuple[str, object]]] = pytest.StashKey()
"""On an item: the properties that were added."""


class JUnitProperties:
    """Scores in ``--junitxml``: properties of each test that ran golden cases.

    In every process that runs tests: pytest carries the properties of an item to whoever writes the file.
    """

    def __init__(self, suites: Suites) -> None:
        self._suites = suites

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Add the properties while the last report of the item, from which the file is made, is still to come."""
        case_reports = item.stash.get(CASE_REPORTS, [])
        if of_attempt_before := item.stash.get(_TOLD, []):
            item.user_properties[:] = [one for one in item.user_properties if one not in of_attempt_before]
        told = item.stash[_TOLD] = []
        for one in case_reports:
            prefix = f"auepora.{one.result.case_id}." if len(case_reports) > 1 else "auepora."
            properties = _properties(one, self._suites.at(one.path).owner)
            told += [(f"{prefix}{name}", text) for name, text in properties]
        item.user_properties += told


def _properties(one: CaseReport, owner: str) -> Iterator[tuple[str, str]]:
    yield "state", one.result.state
    if owner:
        yield "owner", owner
    if one.variant:
        yield "configuration", one.variant
    for name, score in one.result.scores.items():
        if score.value is not None:
            yield name, number(score.value, 4)
        elif score.state != "aggregate":
            yield name, f"{score.state}: {score.reason}" if score.reason else score.state


class AllureGates:
    """Gates in Allure's report, which takes its results from items alone: told by the hook that it has for results.

    Controller only, where a report of Allure was asked for.
    """

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Report a gate once, with the phase that judges it."""
        path, is_gate, name = report.nodeid.partition("::gate: ")
        if not is_gate or report.when != "call":
            return
        model, allure = import_module("allure_commons.model2"), import_module("allure_commons")
        message = report.longreprtext
        result = model.TestResult(
            uuid=str(uuid4()), name=f"gate: {name}", fullName=report.nodeid,
            historyId=hashlib.md5(report.nodeid.encode(), usedforsecurity=False).hexdigest(),
            status=report.outcome, statusDetails=model.StatusDetails(message=message, trace=message),
            labels=[model.Label(name="suite", value=path), model.Label(name="framework", value="pytest")],
            start=int(report.start * 1000), stop=int(report.stop * 1000),
        )  # fmt: skip
        allure.plugin_manager.hook.report_result(result=result)
