"""A golden case is asked: of the system or of an earlier run in its place, how often, and what is made early.

From an item the way leads through here to `replay`, `lookahead` and the calls, and the answers come back once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

import pytest

from ..adapters.parts import retriever_of
from ..adapters.systems import System, as_system
from ..api.evaluation import with_reuse
from ..calls.call import CallResult, Fn
from ..calls.caller import Caller, Upcoming
from ..evaluation.case_flow import CaseCalls, CaseFlow, FinishedCase
from ..evaluation.further import CallBudget, FurtherAnswers, Steps
from ..evaluation.measure import JudgedAnswer, side_by_side
from ..evaluation.replay import Answering, ask_case, is_recorded, replay_of, resumed
from ..evaluation.update import UpdatePlan
from ..io.golden.model import GoldenCase
from ..regression.statistics.case_rule import MOST
from .case_reports import CaseReport, FurtherKind
from .compat import has_plugin, is_worker, restart_time_limit
from .keys import CASE, CASE_REPORTS, CORPUS
from .replay import changed_provenance
from .session import SUITE, SessionSuite, SuiteVariant


def keep_result(item: pytest.Item, flow: CaseFlow, finished: FinishedCase, kind: FurtherKind = "") -> FinishedCase:
    """Put on *item* what it measured, as *flow* ended it, or further answers to a case that was reported before."""
    run = flow.run
    report = CaseReport(run.path, run.variant, finished.result, run.provenance, finished.recordings, kind)
    item.stash.setdefault(CASE_REPORTS, []).append(report)
    return finished


_Ask = tuple[Hashable, Fn, float | None]
"""A call's name, what it calls, and its own time limit."""


def source_for(rag: Any, variant: SuiteVariant) -> AnswerSource:
    """Return what answers the cases of *variant*: *rag*, a fixture's value, or an earlier run in its place.

    Raises:
        SystemShapeError: *rag* is nothing that can be asked.
    """
    if variant.source is None or variant.source.rag is not rag:
        variant.source = _make_source(rag, variant)
    source: AnswerSource = variant.source
    return source


def _make_source(rag: Any, variant: SuiteVariant) -> AnswerSource:
    session, golden = variant.suite.session, variant.suite.golden
    run = golden.name, variant.name, variant.suite.path
    if session.replay is not None and session.asks_nothing:
        system = session.replay.replayed(*run)
        return AnswerSource(variant, rag, system, system.provenance)  # what was known then
    system = as_system(rag)
    seed = {} if session.options.seed is None else {"seed": session.options.seed}
    provenance = {**system.provenance, **seed, **session.project.provenance(golden.name, golden.path)}
    recorded = session.replay.source(*run) if session.replay is not None else None
    if session.replay is None and golden.policy.reuse:
        retriever_of(system)  # raises where there is none, in an update as well
    if session.replay is None and golden.policy.reuse and not (session.options.updating or session.options.anchoring):
        blank = replace(variant.blank_run(), provenance=provenance)
        system = with_reuse(system, golden, blank, variant.baseline[0], repeat=variant.suite.repeats)
    if recorded is not None and not changed_provenance(recorded.run.provenance, provenance):
        system = resumed(recorded, system)
    return AnswerSource(variant, rag, system, provenance)


@dataclass(eq=False, repr=False)
class AnswerSource:
    """Answers the cases of *variant*; holds what is the same for all of them.

    Attributes:
        rag: the fixture's value.
        system: made from it, or from an earlier run.
        provenance: how the answers come about, as far as known.
    """

    variant: SuiteVariant
    rag: Any
    system: System
    provenance: dict[str, Any]

    @property
    def suite(self) -> SessionSuite:
        """The suite of the cases."""
        return self.variant.suite

    @cached_property
    def _replayed(self) -> Answering | None:
        """The system, where nothing is asked."""
        return replay_of(self.system)

    @cached_property
    def caller(self) -> Caller:
        """Makes the calls."""
        return self.suite.session.callers.caller_for(self.system)

    @cached_property
    def flow(self) -> CaseFlow:
        """Ends the cases, with the provenance of this source."""
        flow = self.variant.flow
        return replace(flow, run=replace(flow.run, provenance=self.provenance))

    def times(self, case: GoldenCase) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        if self._replayed is not None and self.suite.session.options.repeat is None:
            return max(1, self._replayed.source.times(case))
        return self.suite.repeats

    def answers(self, case: GoldenCase) -> int:
        """Return how many answers are asked for at first: as many as make the scores, or as an update accepts."""
        if self._replayed is not None and self.variant.plan is not None:  # all that there are
            return self.times(case) + len(self._replayed.source.further(case))
        if (plan := self.plan_for(case)) is None:
            return self.times(case)
        return self.variant.planned.get(case.id) or plan.answers(case.id)

    def plan_for(self, case: GoldenCase) -> UpdatePlan | None:
        """Return how many answers to *case* an update asks for; None where nothing is accepted, or nothing asked."""
        return self.variant.plan if self._replayed is None and case.benchmark is None else None

    def again(self, owner: pytest.Item, corpus: Any) -> FurtherAnswers:
        """Return what asks again, for *owner*."""
        session = self.suite.session
        budget = CallBudget() if self._replayed is not None else session.budget
        return FurtherAnswers(self.flow, self.system, self.caller, owner, corpus, session.options.seed, budget)

    def further(self, case: GoldenCase) -> range:
        """Return the numbers of the answers that a case which is about to fail can be asked for again."""
        if self._replayed is not None:
            return self._replayed.source.further(case)
        times = self.times(case)
        return range(times, times + MOST) if case.benchmark is None else range(0)


@dataclass(eq=False, repr=False, slots=True)
class AskedCase:
    """A golden case that *item* puts to *source*, and the corpus that its labels are looked up in."""

    item: pytest.Item
    source: AnswerSource
    case: GoldenCase
    corpus: Any = None

    def first_answers(self) -> CaseCalls:
        """Ask as often as the case is to be asked before anything is known of its answers."""
        source, caller, session = self.source, self.source.caller, self.source.suite.session
        calls = [caller.call(*ask) for ask in self._with_upcoming()]
        if source.suite.judge_metrics and caller.concurrency == 1 and not is_worker(self.item.config):
            self._judge_early(len(calls))
            session.callers.judging.preload(self.item, calls, caller, self._following())
        return self._case_calls(calls, [session.callers.judging.wait((self.item, i)) for i in range(len(calls))])

    async def afirst_answers(self) -> CaseCalls:
        """Do the same in the running loop."""
        caller, lookahead = self.source.caller, self.source.suite.session.callers.judging
        calls = [await caller.acall(*ask) for ask in self._with_upcoming()]
        return self._case_calls(calls, [await lookahead.await_judged((self.item, i)) for i in range(len(calls))])

    @property
    def is_timed(self) -> bool:
        """Whether pytest-benchmark times the calls."""
        return self.case.benchmark is not None and not is_recorded(self.source.system, self.case)

    def timed_answer(self, item: pytest.Function) -> CaseCalls:
        """Ask as often as pytest-benchmark wants; the last answer counts, with the median time of all.

        A call that fails ends the timing.  Fails the item where pytest-benchmark is not active.
        """
        if not has_plugin(item.config, "benchmark"):
            pytest.fail(
                "this case has `benchmark:` and is timed by pytest-benchmark, which is not active: "
                "pip install 'pytest-auepora[benchmark]'",
                pytrace=False,
            )
        request: Any = item.funcargs["request"]
        fixture, options = request.getfixturevalue("benchmark"), dict(self.case.benchmark or {})
        if "group" in options:
            fixture.group = options.pop("group")
        caller, fn, results = self.source.caller, self._fn(0), list[CallResult]()

        def once() -> CallResult:
            if not results or results[-1].error is None:
                results.append(caller.call((item, len(results)), fn, timeout=self.case.timeout))
            return results[-1]

        if options:
            fixture.pedantic(once, **options)
        else:
            fixture(once)
        last = results[-1]
        if last.error is None:
            last.seconds = sorted(call.seconds for call in results)[len(results) // 2]
        return self._case_calls([last], [])

    def end(self, case_calls: CaseCalls) -> Steps[FinishedCase]:
        """Score the answers; ask again where further ones decide whether the case fails, or are accepted as well."""
        source, case = self.source, self.case
        finished = keep_result(self.item, source.flow, source.flow.finish(case_calls, source.system))
        again = source.again(self.item, self.corpus)
        again.before = self._before_again
        yield from again.decide(finished, case, source.further(case))
        if (plan := source.plan_for(case)) is not None and finished.result.state != "skipped":
            plan.notice(finished.result)
            for more in (yield from again.complete(plan, {case.id: finished.result}, [case])):
                finished.recordings += more.recordings
        return finished

    def _before_again(self) -> None:
        """Give a further call a time limit of its own, and count it."""
        restart_time_limit(self.item)
        if (answered := self.source.suite.session.answered) is not None:
            answered(last=True)

    def _case_calls(self, calls: list[CallResult], judged: Sequence[JudgedAnswer | None]) -> CaseCalls:
        again = len(calls) - self.source.times(self.case)
        skipped = self.source.suite.scored_once if again else ()
        return CaseCalls(self.case, calls, self.corpus, again, skipped, judged)

    def _with_upcoming(self) -> Iterator[tuple[Hashable, Fn, Upcoming, float | None]]:
        """Yield the arguments of the first calls, with those behind each where any may be started ahead."""
        answered, ahead = self.source.suite.session.answered, self.source.caller.concurrency > 1
        asks = self._asks(early=ahead)
        for i, (key, fn, limit) in enumerate(asks, 1):
            if i > 1:
                restart_time_limit(self.item)
            yield key, fn, chain(asks[i:], self._following()) if ahead else (), limit
            if answered is not None:
                answered(last=i == len(asks))

    def _following(self) -> Iterator[_Ask]:
        """Yield the calls of the cases behind this one that may be made now."""
        for item in self.source.suite.session.queue.upcoming(self.item):
            source = source_for(self.source.rag, item.stash[SUITE].variant_of(item))
            yield from AskedCase(item, source, item.stash[CASE])._asks(early=True)

    def _asks(self, *, early: bool) -> list[_Ask]:
        """Return the first calls; their answers may be judged *early* as well."""
        n_answers = self.source.answers(self.case)
        if early:
            self._judge_early(n_answers)
        return [((self.item, i), self._fn(i), self.case.timeout) for i in range(n_answers)]

    def _fn(self, repeat: int) -> Fn:
        """Return the call that puts the case to the system for the time *repeat*, counted from 0."""
        return ask_case(self.source.system, self.case, repeat, seed=self.source.suite.session.options.seed)

    def _judge_early(self, n_answers: int) -> None:
        """Have the first *n_answers* judged as soon as they come, where judges may be asked side by side.

        Not where labels are matched by a corpus: a case is relabelled when its item runs.
        """
        source, suite = self.source, self.source.suite
        if not suite.judge_metrics or suite.session.project.has_corpus or self.corpus is not None:
            return
        if CORPUS in getattr(self.item, "fixturenames", ()):
            return
        metrics = side_by_side(suite.judge_metrics)
        for i in range(n_answers):
            if i >= suite.repeats:  # asked again, by an update
                metrics = [metric for metric in metrics if metric.name not in suite.scored_once]
            if metrics:
                judge = partial(source.flow.judge_early, self.case, source.system, metrics, i)
                suite.session.callers.judging.expect((self.item, i), metrics, judge)
