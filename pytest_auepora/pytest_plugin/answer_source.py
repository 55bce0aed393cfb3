"""The source of answers: the system, or an earlier run in its place; and how often each case is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System, as_system
from ..calls.call import CallResult, Fn
from ..evaluation.replay import Answering, ask_case, resumed
from ..regression.guards.case_guard import wants_confirmation
from .replay import changed_provenance
from .session import AueporaSession, SessionSuite, SuiteVariant

if TYPE_CHECKING:
    from ..calls.caller import Caller
    from ..core.metrics_base import Metric
    from ..core.run import CaseResult
    from ..evaluation.case_flow import CaseFlow
    from ..evaluation.measure import JudgedAnswer
    from ..io.golden.model import GoldenCase

_LATEST: pytest.StashKey[dict[SuiteVariant, AnswerSource]] = pytest.StashKey()
"""On the config: the sources that answer now; each test may make its system anew."""


def source_for(rag: Any, variant: SuiteVariant) -> AnswerSource:
    """Return what answers the cases of *variant*: *rag*, a fixture's value, or an earlier run in its place.

    Raises:
        SystemShapeError: *rag* is nothing that can be asked.
    """
    latest = variant.suite.session.config.stash.setdefault(_LATEST, {})
    if (source := latest.get(variant)) is None or source.rag is not rag:
        source = latest[variant] = _make_source(rag, variant)
    return source


def _make_source(rag: Any, variant: SuiteVariant) -> AnswerSource:
    session, golden = variant.suite.session, variant.suite.golden
    run = golden.name, variant.name, variant.suite.path
    if session.replay is not None and session.replay.asks_nothing:
        system = session.replay.replayed(*run)
        return AnswerSource(variant, rag, system, system.provenance)  # what was known then
    system = as_system(rag)
    seed = {} if session.options.seed is None else {"seed": session.options.seed}
    provenance = {**system.provenance, **seed, **session.project.provenance(golden.name, golden.path)}
    recorded = session.replay.source(*run) if session.replay is not None else None
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

    @property
    def session(self) -> AueporaSession:
        """The session that asks."""
        return self.variant.suite.session

    @cached_property
    def _replayed(self) -> Answering | None:
        """The system, where nothing is asked."""
        return self.system if isinstance(self.system, Answering) and self.system.base is None else None

    @cached_property
    def caller(self) -> Caller:
        """Makes the calls."""
        return self.session.callers.caller_for(self.system)

    @cached_property
    def flow(self) -> CaseFlow:
        """Ends the cases, with the provenance of this source."""
        flow = self.variant.flow
        return replace(flow, run=replace(flow.run, provenance=self.provenance))

    @cached_property
    def again(self) -> Mapping[str, int]:
        """How many more answers are asked for, by case, to learn what varies."""
        return {} if isinstance(self.system, Answering) else self.suite.again

    def ask(self, case: GoldenCase, repeat: int = 0) -> Fn:
        """Return the call that puts *case* to the system for the time *repeat*, counted from 0."""
        return ask_case(self.system, case, repeat, seed=self.session.options.seed)

    def early_judges(self, repeat: int) -> list[Metric]:
        """Return the metrics whose judges may be asked about the answer number *repeat* before its item runs."""
        from ..evaluation.measure import side_by_side

        metrics = side_by_side(self.suite.judge_metrics)
        if repeat < self.suite.repeats:
            return metrics
        return [metric for metric in metrics if metric.name not in self.suite.scored_once]  # asked again, by an update

    def judge(
        self, result: CallResult, *, case: GoldenCase, repeat: int, metrics: Sequence[Metric]
    ) -> JudgedAnswer | None:
        """Return the answer in *result* with its scores by *metrics*; None where it is no answer."""
        from ..evaluation.measure import JudgedAnswer, answer_of, judge_answers, judge_task

        case_call = self.flow.case_call(case, result)
        answer = answer_of(case_call, self.system, self.flow.convert, timed=True)
        if isinstance(answer, BaseException):
            return None
        (scores,) = judge_answers([judge_task(case_call, answer, metrics, repeat)], progress=self.flow.progress)
        return JudgedAnswer(answer, scores)

    def times(self, case: GoldenCase) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        if self._replayed is not None and self.session.options.repeat is None:
            return self._replayed.times(case)
        return self.suite.repeats

    def confirms(self, case: GoldenCase, result: CaseResult) -> range:
        """Return the numbers of the repeats that ask a failed case again, before it fails; none for most."""
        if result.state != "failed" or self.session.options.intents or self.suite.repeats > 1:
            return range(0)
        if self._replayed is not None:
            return self._replayed.confirms(case)
        golden, timed = self.suite.golden, case.benchmark is not None
        wanted = wants_confirmation(result, self.suite.confirmed, len(golden.cases), golden.policy, timed=timed)
        return range(1, 1 + golden.policy.confirm) if wanted else range(0)
