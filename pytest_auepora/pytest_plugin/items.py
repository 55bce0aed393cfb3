"""Running one golden item: call the system, score the answer, judge the case, report."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import pytest

from ..adapters.systems import System
from ..calls.call import CallResult, Fn
from ..calls.capture import OutputSplitter
from ..calls.schedule import Upcoming
from ..errors import SystemShapeError
from ..evaluation.replay import is_recorded
from .compat import variant_of
from .endings import ended_by, raise_ended, show_redacted
from .keys import CASE, CORPUS, OUT_OF_SIGHT, PARCELS, SESSION, SUITE
from .lookahead import Queue
from .out_of_sight import OutOfSight
from .session import AueporaSession
from .terminal import begin_at_case, failure_message, show_headline, wants_traceback
from .xdist import Parcel, attach

if TYPE_CHECKING:
    from ..evaluation.case_flow import Finished
    from ..io.golden.model import GoldenSuite

__all__ = ["Running", "run_case", "run_case_async", "without_fixture"]


def run_case(session: AueporaSession, rag: Any) -> None:
    """Body of every golden item whose system is not bound to an event loop of its own."""
    __tracebackhide__ = True
    item = session.running
    case, system = item.stash[CASE], _answering(item, session, rag)
    caller = session.callers.of(system)
    if case.benchmark is not None and not is_recorded(system, case):
        from .calling import timed_call

        ask = session.ask(system, case)
        calls = [timed_call(item, caller, ask, case.benchmark, case.timeout)]
    else:
        asks = _asks(item, session, rag, system, ahead=caller.concurrency > 1)
        calls = [caller.call(*ask, upcoming, timeout=limit) for ask, upcoming, limit in asks]
    done = _finish(item, session, rag, calls)
    if repeats := session.confirms(item.stash[SUITE], case, system, done.result):
        again = [caller.call((item, i), session.ask(system, case, i), timeout=case.timeout) for i in repeats]
        _confirm(item, session, rag, done, again)
    _conclude(item, done)


async def run_case_async(session: AueporaSession, rag: Any) -> None:
    """Body of a golden item whose system comes from an async fixture: calls stay in the fixture's loop."""
    __tracebackhide__ = True
    item = session.running
    if item.stash[CASE].benchmark is not None:
        pytest.fail("`benchmark:` times calls from outside an event loop; give it a `rag` fixture that is not async")
    session.callers.asks_here(item)
    system = _answering(item, session, rag)
    caller = session.callers.of(system)
    asks = _asks(item, session, rag, system, ahead=caller.concurrency > 1)
    calls = [await caller.acall(*ask, upcoming, timeout=limit) for ask, upcoming, limit in asks]
    done, case = _finish(item, session, rag, calls), item.stash[CASE]
    if repeats := session.confirms(item.stash[SUITE], case, system, done.result):
        again = [await caller.acall((item, i), session.ask(system, case, i), timeout=case.timeout) for i in repeats]
        _confirm(item, session, rag, done, again)
    _conclude(item, done)


def _confirm(item: pytest.Item, session: AueporaSession, rag: Any, done: Finished, calls: Sequence[CallResult]) -> None:
    """Decide a failed case by the answers it was asked for again."""
    from ..evaluation.case_flow import Asked

    corpus = getattr(item, "funcargs", {}).get(CORPUS)
    suite, asked = item.stash[SUITE], Asked(item.stash[CASE], calls, corpus)
    session.flow(suite, variant_of(item, suite.fixture)).confirm(done, asked, session.system(rag))


def _asks(
    item: pytest.Item, session: AueporaSession, rag: Any, system: System, *, ahead: bool
) -> Iterator[tuple[tuple[Hashable, Fn], Upcoming, float | None]]:
    """Yield the item's calls of *system*, one per repeat; if any may be started *ahead*, each with those behind it."""

    def calls(one: pytest.Item, system: System, first: int = 0) -> Iterator[tuple[Hashable, Fn, float | None]]:
        case = one.stash[CASE]
        times = session.answers.times(one.stash[SUITE], case, system)
        for i in range(first, times + session.again(one.stash[SUITE], system).get(case.id, 0)):
            yield (one, i), session.ask(system, case, i), case.timeout

    own = list(calls(item, system))
    for i, (key, fn, limit) in enumerate(own):
        upcoming: Upcoming = ()
        if ahead:
            followers = (calls(one, _answering(one, session, rag)) for one in session.queue.upcoming(item))
            upcoming = chain(calls(item, system, i + 1), chain.from_iterable(followers))
        yield (key, fn), upcoming, limit
        if session.answered is not None:
            session.answered(last=i == len(own) - 1)


def _answering(item: pytest.Item, session: AueporaSession, rag: Any) -> System:
    __tracebackhide__ = True
    suite = item.stash[SUITE]
    try:
        return session.answers.source(suite, variant_of(item, suite.fixture), session.system(rag))
    except SystemShapeError as exc:
        error = exc
    # the same for all cases: an errored case each, and no traceback through this package
    flow = session.flow(suite, variant_of(item, suite.fixture))
    _conclude(item, _keep(item, session, flow.end(item.stash[CASE], error), {}))
    raise error  # never reached: an errored case has failed


def _finish(item: pytest.Item, session: AueporaSession, rag: Any, calls: Sequence[CallResult]) -> Finished:
    """Score the answers, judge the case, and keep the result for the report."""
    from ..evaluation.case_flow import Asked

    case, suite = item.stash[CASE], item.stash[SUITE]
    system = session.system(rag)
    provenance = session.provenance(suite, system)
    corpus = getattr(item, "funcargs", {}).get(CORPUS)
    variant = variant_of(item, suite.fixture)
    again = session.again(suite, session.answers.source(suite, variant, system)).get(case.id, 0)
    done = session.flow(suite, variant, provenance).finish(Asked(case, calls, corpus, again), system)
    return _keep(item, session, done, provenance)


def _conclude(item: pytest.Item, done: Finished) -> None:
    """Fail the item if its case did not pass, skip it if it was not measured."""
    __tracebackhide__ = True
    session = item.config.stash[SESSION]
    raise_ended(done)
    if done.error is not None and wants_traceback(item.config) and not session.project.redacts:
        raise done.error
    if done.result.state != "passed":
        infos = session.infos(item.stash[SUITE])
        pytest.fail(failure_message(item.config, done.result, done.comparison, infos), pytrace=False)


def _keep(item: pytest.Item, session: AueporaSession, done: Finished, provenance: dict[str, Any]) -> Finished:
    """Put the result on *item*, with what was recorded of the answers."""
    suite = item.stash[SUITE]
    path, variant = session.relative(suite.path), variant_of(item, suite.fixture)
    item.stash[PARCELS] = [Parcel(path, variant, done.result, provenance, done.recordings)]
    return done


def without_fixture(error: pytest.FixtureLookupError, suite: GoldenSuite) -> LookupError:
    """Say in a sentence that a fixture is missing, the same for every case: a report has no room for pytest's list."""
    told = f"there is no fixture {error.argname!r}"
    if error.argname == suite.fixture:
        told += ": write it in conftest.py (`auepora new` shows how), or name yours by `fixture:` in the golden file"
    return LookupError(told)


class Running:
    """The part of the plugin that is active in every process that runs tests."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._splitter = OutputSplitter()
        self._items: list[pytest.Item] = []
        self._out_of_sight = config.stash[OUT_OF_SIGHT] = OutOfSight(config)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn the run order, after every deselection and reordering."""
        self._splitter.install()  # on the streams behind pytest's own as well: between phases calls print there
        known, self._items = self.config.stash[SESSION], session.items
        if not hasattr(self.config, "workerinput"):
            known.queue = Queue(session.items)
        self._out_of_sight.put(sum(CASE in item.stash for item in session.items))

    def pytest_unconfigure(self) -> None:
        """Let go of cases and what they measured: pytest, and the interpreter to end, would walk it again and again.

        Of a run of 1,000 cases that is a twentieth of the time.  pytest's own plugins come after those of others.
        """
        for item in self._items:
            if PARCELS in item.stash:
                item.stash[PARCELS].clear()  # the report has the same list
            if CASE in item.stash:
                del item.stash[CASE], item.stash[SUITE]
        self.config.stash[SESSION].let_go()
        self._out_of_sight.put_again()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Keep what early calls print and log apart from what items do; pytest swaps streams between phases."""
        if CASE in item.stash:
            self._splitter.install()
            if PARCELS in item.stash:
                del item.stash[PARCELS]  # it is run again
            if (replay := self.config.stash[SESSION].answers.replay) is not None:
                replay.prepare(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        """The same for the call phase.  The function of a case asks its session whose it is.

        An argument ``request`` would tell it as well, but setting that up takes longer than all else here.
        """
        if CASE in pyfuncitem.stash:
            self._splitter.install()
            self.config.stash[SESSION].running = pyfuncitem

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put what was measured on the item's report.

        A failed set-up is an errored case, and so is one that somebody ended before it was measured, as pytest-timeout.
        """
        if failed := call.when == "call" and call.excinfo is not None and CASE in item.stash:
            begin_at_case(cast("pytest.Function", item), call)
        report = yield
        if failed:
            show_headline(report)
        if not report.passed and CASE in item.stash:
            if ended := call.when == "call" and PARCELS not in item.stash:
                self.config.stash[SESSION].callers.forget(item)
            if call.when == "setup" or (ended and not self.config.stash[SESSION].options.checking):
                self._keep_unmeasured(item, call, report)
        if call.when != "teardown" and PARCELS in item.stash:
            parcels = item.stash[PARCELS]
            if hasattr(report, "wasxfail"):
                for parcel in parcels:
                    if CASE not in item.stash or parcel.result.case_id == item.stash[CASE].id:
                        parcel.result.extra.setdefault("xfail", report.wasxfail)
            attach(report, parcels, leaves_process=hasattr(self.config, "workerinput"))
        return report

    def _keep_unmeasured(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        from ..evaluation.case_result import Ended

        session = self.config.stash[SESSION]
        case, suite = item.stash[CASE], item.stash[SUITE]
        error = call.excinfo.value if call.excinfo is not None else RuntimeError("it did not run")
        if isinstance(error, pytest.FixtureLookupError):
            error = without_fixture(error, suite)
        flow = session.flow(suite, variant_of(item, suite.fixture))
        if report.skipped and ended_by(error) is None:  # an error that a mark expects
            done = flow.leave_out(case, Ended("xfail", str(getattr(report, "wasxfail", error))), error)
        else:
            done = flow.end(case, error)
        _keep(item, session, done, {})
        if session.project.redacts:
            show_redacted(report, done.result)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Stop early calls before the system they use is torn down."""
        session = self.config.stash[SESSION]
        if session.callers.ahead and session.queue.leaves(item, nextitem):
            session.callers.drop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Cancel calls before pytest tears session fixtures down, also after ``-x`` and Ctrl-C."""
        self.config.stash[SESSION].callers.close()
        self._out_of_sight.show()
        self._splitter.uninstall()
