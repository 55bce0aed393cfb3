"""Running one golden item: call the system, score the answer, judge the case, report."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import pytest

from ..base.text import did_you_mean
from ..calls.call import CallResult, Fn
from ..calls.caller import Upcoming
from ..calls.capture import OutputSplitter
from ..errors import SystemShapeError
from ..evaluation.replay import CaseEndedError, ask_case, is_recorded
from ..reporting.text import printable
from .answer_source import AnswerSource, source_for
from .case_reports import CaseReport, FurtherKind, attach
from .compat import available_fixtures, is_worker, restart_time_limit
from .keys import CASE, CASE_REPORTS, CORPUS, SYSTEM
from .lookahead import Queue, timed_call
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

if TYPE_CHECKING:
    from ..core.metrics_base import Metric
    from ..evaluation.case_flow import CaseFlow, FinishedCase
    from ..evaluation.further import Steps
    from ..evaluation.measure import JudgedAnswer
    from ..io.golden.model import GoldenCase

_Ask = tuple[Hashable, Fn, float | None]
"""A call's name, what it calls, and its own time limit."""


@dataclass(eq=False, repr=False, slots=True)
class AskedCase:
    """A golden case that *item* puts to *source*, and the corpus that its labels are looked up in."""

    item: pytest.Item
    source: AnswerSource
    case: GoldenCase
    corpus: Any = None

    def asks(self, *, early: bool = False) -> list[_Ask]:
        """Return the calls, one per repeat; answers may be judged *early* as well."""
        n_answers = self.source.answers(self.case)
        if early:
            self.judge_early(n_answers)
        return self._asks(range(n_answers))

    def _asks(self, numbers: range) -> list[_Ask]:
        return [((self.item, i), self.ask(i), self.case.timeout) for i in numbers]

    def ask(self, repeat: int) -> Fn:
        """Return the call that puts the case to the system for the time *repeat*, counted from 0."""
        options = self.source.suite.session.options
        return ask_case(self.source.system, self.case, repeat, seed=options.seed)

    def judge_early(self, n_answers: int) -> None:
        """Have the first *n_answers* judged as soon as they come, where judges may be asked side by side.

        Not where labels are matched by a corpus: a case is relabelled when its item runs.
        """
        suite = self.source.suite
        if not suite.judge_metrics or suite.session.project.has_corpus:
            return
        if CORPUS in getattr(self.item, "fixturenames", ()):
            return
        from ..evaluation.measure import side_by_side

        metrics = side_by_side(suite.judge_metrics)
        for i in range(n_answers):
            if i >= suite.repeats:  # asked again, by an update
                metrics = [metric for metric in metrics if metric.name not in suite.scored_once]
            if metrics:
                judge = partial(self._judge, repeat=i, metrics=metrics)
                suite.session.judge_lookahead.expect((self.item, i), metrics, judge)

    def _judge(self, result: CallResult, *, repeat: int, metrics: Sequence[Metric]) -> JudgedAnswer | None:
        """Return the answer in *result* with its scores by *metrics*; None where it is no answer."""
        from ..evaluation.measure import JudgedAnswer, answer_of, judge_answers, judge_task

        flow = self.source.flow
        case_call = flow.case_call(self.case, result)
        answer = answer_of(case_call, self.source.system, flow.convert, timed=True)
        if isinstance(answer, BaseException):
            return None
        (scores,) = judge_answers([judge_task(case_call, answer, metrics, repeat)], progress=flow.progress)
        return JudgedAnswer(answer, scores)

    def finish(self, calls: Sequence[CallResult]) -> FinishedCase:
        """Score the answers, judge the case, and keep the result for the report."""
        from ..evaluation.case_flow import CaseCalls

        source = self.source
        again = len(calls) - source.times(self.case)
        skipped = source.suite.scored_once if again else ()
        finished = source.flow.finish(CaseCalls(self.case, calls, self.corpus, again, skipped), source.system)
        return keep_result(self.item, source.flow, finished)

    def decide(self, finished: FinishedCase) -> Steps[None]:
        """Ask the case again where further answers decide whether it fails, or are accepted as well."""
        source, case = self.source, self.case
        again = source.again(self.item, self.corpus)
        yield from again.decide(finished, case, source.further(case))
        if (plan := source.plan_for(case)) is not None and finished.result.state != "skipped":
            plan.notice(finished.result)
            for more in (yield from again.complete(plan, {case.id: finished.result}, [case])):
                finished.recordings += more.recordings

    def before_again(self) -> None:
        """Give a further call a time limit of its own, and count it."""
        restart_time_limit(self.item)
        if (answered := self.source.suite.session.answered) is not None:
            answered(last=True)


def case_marks(case: GoldenCase, *, xfail: bool = True) -> list[pytest.MarkDecorator]:
    """Return the tags of *case* as marks and, with *xfail*, whether it is expected to fail."""
    marks: list[pytest.MarkDecorator] = [getattr(pytest.mark, tag) for tag in case.tags]
    if xfail and case.xfail is not None:
        marks.append(pytest.mark.xfail(reason=printable(case.xfail)))
    return marks


def keep_result(item: pytest.Item, flow: CaseFlow, finished: FinishedCase) -> FinishedCase:
    """Put on *item* what it measured, as *flow* ended it: it travels with the report."""
    run = flow.run
    report = CaseReport(run.path, run.variant, finished.result, run.provenance, finished.recordings)
    item.stash.setdefault(CASE_REPORTS, []).append(report)
    return finished


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


def keep_further(item: pytest.Item, flow: CaseFlow, kind: FurtherKind, finished: FinishedCase) -> None:
    """Put on *item* further answers to a case that was reported before."""
    run = flow.run
    report = CaseReport(run.path, run.variant, finished.result, run.provenance, finished.recordings, kind)
    item.stash.setdefault(CASE_REPORTS, []).append(report)


def run_case(session: AueporaSession) -> None:
    """Body of every golden item whose system is not bound to an event loop of its own."""
    __tracebackhide__ = True
    from ..evaluation.further import drive

    asked = _running_case(session)
    case, source, caller = asked.case, asked.source, asked.source.caller
    if case.benchmark is not None and not is_recorded(source.system, case):
        calls = [timed_call(session.running, caller, asked.ask(0), case.benchmark, case.timeout)]
    else:
        calls = [caller.call(*ask) for ask in _with_upcoming(asked)]
        if source.suite.judge_metrics:
            if caller.concurrency == 1 and not is_worker(asked.item.config):
                asked.judge_early(len(calls))
                session.judge_lookahead.preload(asked.item, calls, caller, _following(asked))
            calls = [session.judge_lookahead.with_scores((asked.item, i), call) for i, call in enumerate(calls)]
    finished = asked.finish(calls)
    drive(asked.decide(finished), caller, asked.before_again)
    _report_outcome(asked.item, finished)


async def run_case_async(session: AueporaSession) -> None:
    """Body of a golden item whose system comes from an async fixture: calls stay in the fixture's loop."""
    __tracebackhide__ = True
    from ..evaluation.further import adrive

    item = session.running
    if item.stash[CASE].benchmark is not None:
        pytest.fail("`benchmark:` times calls from outside an event loop; give it a `rag` fixture that is not async")
    session.callers.remember_task(item)
    asked = _running_case(session)
    caller = asked.source.caller
    calls = [await caller.acall(*ask) for ask in _with_upcoming(asked)]
    if asked.source.suite.judge_metrics:
        calls = [await session.judge_lookahead.awith_scores((item, i), call) for i, call in enumerate(calls)]
    finished = asked.finish(calls)
    await adrive(asked.decide(finished), caller, asked.before_again)
    _report_outcome(item, finished)


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


def _with_upcoming(asked: AskedCase) -> Iterator[tuple[Hashable, Fn, Upcoming, float | None]]:
    """Yield the arguments of the calls of a case, with the calls behind each where any may be started ahead."""
    answered, ahead = asked.source.suite.session.answered, asked.source.caller.concurrency > 1
    case_asks = asked.asks(early=ahead)
    for i, (key, fn, limit) in enumerate(case_asks, 1):
        if i > 1:
            restart_time_limit(asked.item)
        yield key, fn, chain(case_asks[i:], _following(asked)) if ahead else (), limit
        if answered is not None:
            answered(last=i == len(case_asks))


def _following(asked: AskedCase) -> Iterator[_Ask]:
    """Yield the calls of the cases behind *asked* that may be made now."""
    for item in asked.source.suite.session.queue.upcoming(asked.item):
        source = source_for(asked.source.rag, item.stash[SUITE].variant_of(item))
        yield from AskedCase(item, source, item.stash[CASE]).asks(early=True)


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
        if failed := SUITE in item.stash and call.when == "call" and call.excinfo is not None:
            begin_at_case(cast("pytest.Function", item), call)
        report = yield
        if failed:
            show_headline(report)
        if call.excinfo is not None and self._session.project.redact is not None and _is_ours(item):
            hide_frames(item.config, report, call.excinfo.value)
        if is_case and not report.passed:
            if ended := call.when == "call" and CASE_REPORTS not in item.stash:
                self._session.callers.forget(item)
                self._session.judge_lookahead.forget(item)
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
        from ..evaluation.case_result import Ended

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
            self._session.judge_lookahead.forget()

    def pytest_sessionfinish(self) -> None:
        """Put the streams back: no call prints any more."""
        self._splitter.uninstall()
