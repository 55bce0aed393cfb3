"""Messages while cases run: the progress of a run, and a warning about a call that hangs.

Pytest's own line stands still while LLM judges are asked, or an update asks again; an update first prints how many
calls it makes.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property
from typing import Any

import pytest

from ...base.grouping import grouped
from ...base.progress import Progress, is_watched
from ...evaluation.further import Purpose
from ...io.golden.model import GoldenCase
from ...reporting.numbers import plural
from ...reporting.wording.steps import ASKED_FOR
from ..case_reports import unpack
from ..keys import SUFFIXES
from ..output import terminal_width, wrapped
from ..session import AueporaSession, SuiteVariant

AFTER = 30.0
"""Seconds of the call phase after which a call counts as hanging; warned about once a case."""
EVERY = 5.0
"""Seconds between two looks."""


class RunProgress:
    """In the process that has the terminal: it runs the cases, or gets their reports from workers."""

    def __init__(self, session: AueporaSession) -> None:
        self._session, self._config = session, session.config
        self._calls = self._scores = 0
        self._in_workers = False

    @cached_property
    def _bar(self) -> Progress:
        """The bar; it starts on first use, and never without a terminal, or where nothing is judged or asked again."""
        bar, total, what, why = self._session.progress, self._scores, "judged scores", "asking LLM judges"
        if not total:
            total, what, why = self._calls, "calls", "asking for the update"
        if total and self._is_watched:
            bar.start(what, total, why, file=_LineBelow(self._config), columns=terminal_width(self._config) - 1)
        return bar

    @property
    def _is_watched(self) -> bool:
        """Whether somebody looks; the bar is below pytest's line."""
        with _stderr_uncaptured(self._config):
            watched = is_watched() and sys.stdout.isatty()
        return watched and self._config.pluginmanager.hasplugin("terminalreporter")

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> str:
        """Say before they begin how many calls an update makes, and why."""
        text = self._plan(filter(None, map(self._session.case_of, items)))
        if self._calls:
            self._session.answered = self._answered
        self._session.begin_bar = self._begin
        return text

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Do the same where workers collect: they all have the same cases."""
        if self._in_workers:
            return
        self._in_workers = True
        reporter: Any = self._config.pluginmanager.getplugin("terminalreporter")
        if (text := self._plan(filter(None, map(self._session.find_asked, ids)))) and reporter is not None:
            reporter.write_line(text)

    def _plan(self, cases: Iterable[tuple[SuiteVariant, GoldenCase]]) -> str:
        if self._session.asks_nothing:
            return ""
        by_variant = grouped((variant, case) for variant, case in cases if case.skip is None)
        calls = most = scores = more_scores = 0
        for variant, asked in by_variant.items():
            suite = variant.suite
            metrics, known = len(suite.judge_metrics), sum(map(variant.first_calls, asked))
            again = known - len(asked) * suite.repeats
            varying = metrics and metrics - len(suite.scored_once)
            calls, scores = calls + known, scores + metrics * len(asked) * suite.repeats + varying * again
            more_scores += varying * again
            plan, untimed = variant.plan, [case.id for case in asked if case.benchmark is None]
            most += known if plan is None else known + plan.calls(untimed)[1] - plan.calls(untimed)[0]
        if not self._in_workers:
            self._scores = scores
        if not (self._session.options.intents or self._session.options.anchoring):
            return ""
        self._calls = calls
        text = f"auepora: the update takes {calls} calls{f', up to {most} if answers vary' if most > calls else ''}"
        if scores:
            text += f"\nauepora: {scores} scores by LLM judges, {more_scores or 'none'} of them again"
        return wrapped(self._config, text)

    def _say(self, text: str) -> None:
        """Print a line while a test runs."""
        reporter: Any = self._config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            with _stderr_uncaptured(self._config):  # standard output as well
                reporter.write_line(wrapped(self._config, text))

    def _begin(self, calls: int, purpose: Purpose) -> Callable[[], object]:
        """Show a bar for so many further calls; return what counts them."""
        if calls and purpose == "cause":
            self._say(f"auepora: --auepora-why takes {plural(calls, 'call')}: {ASKED_FOR[purpose]}")
        if not calls or not self._is_watched:
            return lambda: None
        bar, place = Progress("calls", show=False), _LineBelow(self._config)
        bar.start("calls", calls, ASKED_FOR[purpose], file=place, columns=terminal_width(self._config) - 1)
        left = iter(range(calls - 1, -1, -1))

        def answered() -> None:
            bar.done()
            if not next(left, 0):
                bar.__exit__()

        return answered

    def _answered(self, *, last: bool) -> None:
        """Count one call of this process; after the *last* of a case pytest's own line goes on."""
        if self._scores:  # the bar counts scores
            self._bar.draw()
            return
        self._bar.done()
        if last:
            self._bar.hide()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Make room for pytest's own line; count the calls that a worker made for a case."""
        if not self._in_workers:
            self._bar.hide()
            return (yield)
        self._bar.hide()
        yield
        self._bar.done(sum(case_report.result.n_answers for case_report in unpack(report)))

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logstart(self) -> None:
        """Show the bar of judged scores, once pytest's own line has begun: threads count them, this one draws."""
        if self._scores:
            self._bar.draw()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Remove the bar when all have run."""
        try:
            return (yield)
        finally:
            self._bar.__exit__()


class _LineBelow:
    """A file for a bar in the line below pytest's own; the cursor goes back to where pytest writes on."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.encoding = getattr(sys.__stdout__, "encoding", "")

    def write(self, text: str) -> None:
        """Write the line."""
        if text in ("", "\r"):
            return
        column = self._config.get_terminal_writer().width_of_current_line
        with _stderr_uncaptured(self._config):
            back = f"\x1b[{column}C" if column > 0 else ""
            sys.stderr.write(f"\n{text.strip()}\x1b[K\x1b[A\r{back}")
            sys.stderr.flush()

    def flush(self) -> None:
        """Do nothing: `write` flushes."""


def _stderr_uncaptured(config: pytest.Config) -> AbstractContextManager[None]:
    """Return a block in which standard error is the terminal; without pytest's capture it always is."""
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    return capture.global_and_fixture_disabled() if capture is not None else nullcontext()


class Watchdog:
    """Warns of a call that hangs: without a time limit a run would hang and not say in which case.

    A thread reads now and then which test pytest is running (``PYTEST_CURRENT_TEST``): a case costs nothing.
    It watches the cases of this process; a worker of pytest-xdist watches its own.
    """

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._stderr = copy_of_stderr()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Begin to watch."""
        if self._stderr is not None and session.items and not session.config.option.collectonly:
            args = (self._stderr,)
            self._thread = threading.Thread(target=self._watch, args=args, name="auepora-watchdog", daemon=True)
            self._thread.start()

    def pytest_unconfigure(self) -> None:
        """Stop."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if self._stderr is not None:
            os.close(self._stderr)

    def _watch(self, stderr: int) -> None:
        running, waited = "", 0.0
        while not self._stopped.wait(EVERY):
            now = os.environ.get("PYTEST_CURRENT_TEST", "")
            running, waited = (now, waited + EVERY) if now == running else (now, 0.0)
            name, _, phase = now.rpartition(" ")
            golden = phase == "(call)" and name.partition("::")[0].endswith(SUFFIXES)
            if golden and waited >= AFTER > waited - EVERY:
                text = (
                    f"\nauepora: {name} has been running for {waited:.0f} s "
                    "(--auepora-timeout SECONDS gives up on a call)\n"
                )
                with suppress(OSError):
                    os.write(stderr, text.encode(errors="replace"))


def copy_of_stderr() -> int | None:
    """Return a duplicate of the file descriptor of standard error (a test has another), None without any."""
    try:
        return os.dup(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return None
