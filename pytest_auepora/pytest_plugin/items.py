"""Running one golden item: call the system, score the answer, judge the case, report."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ..core.call_output import OutputSplitter, replay
from ..core.calls import CallResult, Upcoming
from ..core.run import CaseResult
from ..evaluation.case import errored_result, measure_case, skipped_result
from ..regression.case_guard import judge_case
from ..regression.compare import CaseComparison, compare_case
from .compat import variant_of
from .keys import CASE, PARCELS, SESSION, SUITE
from .lookahead import Queue
from .session import AueporaSession
from .wire import Parcel, attach

__all__ = ["Collecting", "run_case", "run_case_async"]


def run_case(item: pytest.Item, rag: Any) -> None:
    """Body of every golden item whose system is not bound to an event loop of its own."""
    __tracebackhide__ = True
    session = item.config.stash[SESSION]
    system = session.system(rag)
    case = item.stash[CASE]
    call = session.caller(system).call(
        item, partial(system.invoke, case.sample, case.top_k), _upcoming(item, system.invoke), timeout=case.timeout
    )
    finish(item, session, rag, call)


async def run_case_async(item: pytest.Item, rag: Any) -> None:
    """Body of a golden item whose system comes from an async fixture: calls stay in the fixture's loop."""
    __tracebackhide__ = True
    session = item.config.stash[SESSION]
    system = session.system(rag)
    case = item.stash[CASE]
    call = await session.caller(system).acall(
        item, partial(system.invoke, case.sample, case.top_k), _upcoming(item, system.invoke), timeout=case.timeout
    )
    finish(item, session, rag, call)


def _upcoming(item: pytest.Item, invoke: Callable[..., Any]) -> Upcoming:
    queue = item.config.stash[SESSION].queue
    for other in queue.upcoming(item) if queue is not None else ():
        case = other.stash[CASE]
        yield other, partial(invoke, case.sample, case.top_k), case.timeout


def finish(item: pytest.Item, session: AueporaSession, rag: Any, call: CallResult) -> None:
    """Score the answer, keep the result for the report, fail the item if the case did not pass."""
    __tracebackhide__ = True
    replay(call)
    if isinstance(call.error, (KeyboardInterrupt, pytest.exit.Exception)):
        raise call.error
    case, suite = item.stash[CASE], item.stash[SUITE]
    variant = variant_of(item)
    system = session.system(rag)
    provenance = session.provenance(suite, system)
    if isinstance(call.error, pytest.skip.Exception):
        _keep(item, skipped_result(case, str(call.error), _where(session, item)), provenance)
        raise call.error
    metrics = session.metrics(suite)
    result = measure_case(case, system, call, metrics, where=_where(session, item), convert=session.convert)
    baseline, _ = session.baseline(suite, variant)
    infos = session.infos(suite)
    comparison: CaseComparison | None = None
    if baseline is not None:
        incomparable = session.incomparable(suite, variant, provenance)
        comparison = compare_case(result, baseline.cases.get(case.id), infos, incomparable)
    judge_case(result, case.thresholds, infos, None if session.accepting else comparison, suite.policy)
    session.redact(result)
    _keep(item, result, provenance)
    if result.state == "error" and call.error is not None and _wants_traceback(item.config):
        raise call.error
    if result.state != "passed":
        from .terminal import failure_message

        pytest.fail(failure_message(item.config, result, comparison, infos), pytrace=False)


def _keep(item: pytest.Item, result: CaseResult, provenance: dict[str, Any]) -> None:
    path = item.config.stash[SESSION].relative(item.stash[SUITE].path)
    item.stash[PARCELS] = [Parcel(path, variant_of(item), result, provenance)]


def _where(session: AueporaSession, item: pytest.Item) -> str:
    return f"{session.relative(item.stash[SUITE].path)}:{item.stash[CASE].line}"


def _wants_traceback(config: pytest.Config) -> bool:
    """Whether the user asked to see, or step into, frames; else a short text serves (and is fast)."""
    return bool(config.getoption("usepdb", False)) or config.getoption("tbstyle", "auto") in ("long", "native")


class Collecting:
    """The part of the plugin that is active in every process that runs tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._splitter = OutputSplitter()

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take golden files: by pattern, or because the command line names them."""
        from .collect import GoldenFile, is_golden

        if not is_golden(file_path, self.config, parent):
            return None
        collector: pytest.Collector = GoldenFile.from_parent(parent, path=file_path)
        return collector

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn the run order, after every deselection and reordering."""
        if not hasattr(self.config, "workerinput"):
            self.config.stash[SESSION].queue = Queue(session.items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Keep what early calls print and log apart from what items do; pytest swaps streams between phases."""
        if CASE in item.stash:
            self._splitter.install()

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        """The same for the call phase."""
        if CASE in pyfuncitem.stash:
            self._splitter.install()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put what was measured on the item's report; a failed set-up is an errored case."""
        report = yield
        if call.when == "setup" and CASE in item.stash and not report.passed:
            self._keep_setup(item, call, report)
        if (parcels := item.stash.get(PARCELS, None)) is not None and call.when != "teardown":
            if hasattr(report, "wasxfail"):
                for parcel in parcels:
                    parcel.result.extra["xfail"] = report.wasxfail
            attach(report, parcels, leaves_process=hasattr(self.config, "workerinput"))
        return report

    def _keep_setup(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        session = self.config.stash[SESSION]
        case, suite = item.stash[CASE], item.stash[SUITE]
        error = call.excinfo.value if call.excinfo is not None else RuntimeError("set-up failed")
        if report.skipped:
            result = skipped_result(case, str(error), _where(session, item))
        else:
            result = errored_result(case, error, session.metrics(suite), where=_where(session, item))
            session.redact(result)
        _keep(item, result, {})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Stop early calls before the system they use is torn down."""
        queue = self.config.stash[SESSION].queue
        if queue is not None and queue.leaves(item, nextitem):
            self.config.stash[SESSION].drop_calls()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Cancel calls before pytest tears session fixtures down, also after ``-x`` and Ctrl-C."""
        self.config.stash[SESSION].close()
        self._splitter.uninstall()
