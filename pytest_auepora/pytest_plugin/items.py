"""Running one golden item: call the system, score the answer, judge the case, report."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

import pytest

from ..base.text import did_you_mean
from ..calls.capture import OutputSplitter
from ..errors import SystemShapeError
from ..evaluation.case_flow import FinishedCase
from ..evaluation.case_result import Ended
from ..evaluation.further import adrive, drive
from ..evaluation.replay import CaseEndedError
from ..io.golden.model import GoldenCase
from ..reporting.text import printable
from .asking import AskedCase, keep_result, source_for
from .case_reports import attach
from .compat import available_fixtures, is_worker
from .keys import CASE, CASE_REPORTS, CORPUS, SYSTEM
from .lookahead import Queue
from .output import (
    begin_at_case,
    below_pytest,
    fail_case,
    hide_frames,
    show_headline,
    show_redacted,
    wants_traceback,
)
from .session import SUITE, AueporaSession, SuiteVariant, ended_by


def case_marks(case: GoldenCase, *, xfail: bool = True) -> list[pytest.MarkDecorator]:
    """Return the tags of *case* as marks and, with *xfail*, whether it is expected to fail."""
    marks: list[pytest.MarkDecorator] = [getattr(pytest.mark, tag) for tag in case.tags]
    if xfail and case.xfail is not None:
        marks.append(pytest.mark.xfail(reason=printable(case.xfail)))
    return marks


def end_unmeasured(item: pytest.Item, variant: SuiteVariant, case: GoldenCase, error: BaseException) -> FinishedCase:
    """End a case of *item* whose set-up failed, or that is left out on purpose, and keep its result."""
    if isinstance(error, pytest.FixtureLookupError):  # the same for every case: a report has no room for pytest's list
        error = LookupError(_missing_fixture(error, variant))
    else:
        error = error.with_traceback(below_pytest(error.__traceback__))
    return keep_result(item, variant.flow, variant.flow.end(case, error))


def _missing_fixture(error: pytest.FixtureLookupError, variant: SuiteVariant) -> str:
    """Say which fixture there is not, which of the user's it may be called, and what to write."""
    name, golden = str(error.argname), variant.suite.golden
    like = [known for known in available_fixtures(error) if name in known.split("_")]
    found = f"there is no fixture {name!r}{did_you_mean(name, available_fixtures(error), most=1)}"
    if name != golden.fixture:
        return f"{found}; `pytest --fixtures` lists those there are"
    return (
        f"{found}: write it in conftest.py, as `auepora new` does, or name yours by "
        f"`fixture: {like[0] if like else 'my_rag'}` in the golden file"
    )


def run_case(session: AueporaSession) -> None:
    """Body of every golden item whose system is not bound to an event loop of its own."""
    __tracebackhide__ = True
    asked = _running_case(session)
    calls = asked.timed_answer(session.running) if asked.is_timed else asked.first_answers()
    _report_outcome(asked.item, drive(asked.end(calls)))


async def run_case_async(session: AueporaSession) -> None:
    """Body of a golden item whose system comes from an async fixture: calls stay in the fixture's loop."""
    __tracebackhide__ = True
    item = session.running
    if item.stash[CASE].benchmark is not None:
        pytest.fail("`benchmark:` times calls from outside an event loop; give it a `rag` fixture that is not async")
    session.callers.remember_task(item)
    asked = _running_case(session)
    _report_outcome(item, await adrive(asked.end(await asked.afirst_answers())))


def _running_case(session: AueporaSession) -> AskedCase:
    """Return the running case; one whose system is nothing that can be asked is errored, and fails here."""
    __tracebackhide__ = True
    item = session.running
    case, variant = item.stash[CASE], item.stash[SUITE].variant_of(item)
    try:
        source = source_for(item.funcargs[item.stash[SYSTEM]], variant)
    except SystemShapeError as exc:
        error = exc
    else:
        return AskedCase(item, source, case, item.funcargs.get(CORPUS))
    # the same for all cases: an errored case each, and no traceback through this package
    _report_outcome(item, end_unmeasured(item, variant, case, error))
    raise error  # never reached: an errored case has failed


def _report_outcome(item: pytest.Item, finished: FinishedCase) -> None:
    """Fail the item if its case did not pass, skip it if it was not measured."""
    __tracebackhide__ = True
    if finished.result.state == "skipped":
        raise_skipped(finished)
    suite = item.stash[SUITE]
    if finished.error is not None and wants_traceback(item.config) and suite.session.project.redact is None:
        raise finished.error
    if finished.result.state != "passed":
        fail_case(item.config, finished, suite.infos)


def raise_skipped(finished: FinishedCase) -> None:
    """Tell pytest that the case was not measured, in words that the project has redacted."""
    __tracebackhide__ = True
    kind: Any = pytest.xfail.Exception if finished.result.expected_to_fail else pytest.skip.Exception
    error = finished.error
    raise kind(finished.result.error).with_traceback(error.__traceback__ if error is not None else None)


def _is_ours(item: pytest.Item) -> bool:
    """Whether *item* is a golden case or a gate, or a test that `auepora_case` asks the system for."""
    return SUITE in item.stash or "auepora_case" in getattr(item, "fixturenames", ())


class Running:
    """In every process that runs tests: hooks around the cases of its *session*."""

    def __init__(self, session: AueporaSession) -> None:
        self._session, self._is_worker = session, is_worker(session.config)
        self._splitter = OutputSplitter()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn the run order, after every deselection and reordering."""
        self._splitter.install()  # on the streams behind pytest's own as well: between phases calls print there
        if not self._is_worker:
            self._session.queue = Queue(session.items)
        self._session.limit_calls(filter(None, map(self._session.case_of, session.items)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Separate the output of early calls from that of items; pytest swaps streams between phases."""
        if SUITE in item.stash:
            self._splitter.install()
        if CASE_REPORTS in item.stash:
            del item.stash[CASE_REPORTS]  # it is run again

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        """Do the same for the call phase, and note the running item, which the function of a case reads.

        An argument ``request`` would tell it as well, but setting that up takes longer than all else here.
        """
        if SUITE in pyfuncitem.stash:
            self._splitter.install()
            self._session.running = pyfuncitem

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put what was measured on the item's report.

        A failed set-up is an errored case, and so is one that somebody ended before it was measured, as pytest-timeout.
        """
        is_case = CASE in item.stash
        failed = call.excinfo if SUITE in item.stash and call.when == "call" else None
        if failed is not None:
            begin_at_case(cast("pytest.Function", item), call)
        report = yield
        if failed is not None:
            show_headline(report, failed.value)
        if call.excinfo is not None and self._session.project.redact is not None and _is_ours(item):
            hide_frames(item.config, report, call.excinfo.value)
        if is_case and not report.passed:
            if ended := call.when == "call" and CASE_REPORTS not in item.stash:
                self._session.callers.forget(item)
            if call.when == "setup" or (ended and not self._session.options.checking):
                self._end_unmeasured(item, call, report)
        if call.when != "teardown" and (case_reports := item.stash.get(CASE_REPORTS, None)) is not None:
            if hasattr(report, "wasxfail"):
                for case_report in case_reports:
                    if not is_case or case_report.result.case_id == item.stash[CASE].id:
                        case_report.result.xfail = case_report.result.xfail or report.wasxfail
            attach(report, case_reports, leaves_process=self._is_worker)
        return report

    def _end_unmeasured(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        error = call.excinfo.value if call.excinfo is not None else RuntimeError("it did not run")
        if report.skipped and ended_by(error) is None:  # an error that a mark expects
            error = CaseEndedError(Ended("xfail", str(getattr(report, "wasxfail", error))))
        finished = end_unmeasured(item, item.stash[SUITE].variant_of(item), item.stash[CASE], error)
        if self._session.project.redact is not None or (report.failed and not wants_traceback(item.config)):
            show_redacted(item.config, report, finished.result)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Stop early calls before the system they use is torn down."""
        if self._session.callers.ahead and self._session.queue.group_ends(item, nextitem):
            self._session.callers.drop()

    def pytest_sessionfinish(self) -> None:
        """Put the streams back: no call prints any more."""
        self._splitter.uninstall()
