"""The source of answers: the system, or an earlier run in its place; and how often each case is asked."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..adapters.systems import System, as_system
from ..calls.budget import CallBudget
from ..evaluation.replay import Answering, resumed
from ..regression.statistics.case_rule import MOST
from .replay import changed_provenance
from .session import SessionSuite, SuiteVariant

if TYPE_CHECKING:
    from ..calls.caller import Caller
    from ..evaluation.case_flow import CaseFlow
    from ..evaluation.further import FurtherAnswers
    from ..evaluation.update import UpdatePlan
    from ..io.golden.model import GoldenCase


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
        return self.system if isinstance(self.system, Answering) and self.system.base is None else None

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
            return self._replayed.times(case)
        return self.suite.repeats

    def answers(self, case: GoldenCase) -> int:
        """Return how many answers are asked for at first: as many as make the scores, or as an update accepts."""
        if self._replayed is not None and self.variant.plan is not None:  # all that there are
            return self.times(case) + len(self._replayed.further(case))
        if (plan := self.plan_for(case)) is None:
            return self.times(case)
        return self.variant.planned.get(case.id) or plan.answers(case.id)

    def plan_for(self, case: GoldenCase) -> UpdatePlan | None:
        """Return how many answers to *case* an update asks for; None where nothing is accepted, or nothing asked."""
        return self.variant.plan if self._replayed is None and case.benchmark is None else None

    def again(self, owner: Hashable, corpus: Any) -> FurtherAnswers:
        """Return what asks again, for *owner*."""
        from ..evaluation.further import FurtherAnswers

        session = self.suite.session
        budget = CallBudget() if self._replayed is not None else session.budget
        return FurtherAnswers(self.flow, self.system, owner, corpus, session.options.seed, budget)

    @property
    def can_look(self) -> bool:
        """Whether every case can be asked once more; an earlier run that answers may have done so."""
        return self._replayed is None or self._replayed.can_look(self.suite.golden.cases)

    def further(self, case: GoldenCase) -> range:
        """Return the numbers of the answers that a case which is about to fail can be asked for again."""
        if self._replayed is not None:
            return self._replayed.further(case)
        times = self.times(case)
        return range(times, times + MOST) if case.benchmark is None else range(0)
