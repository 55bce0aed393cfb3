"""The source of answers: the system, or an earlier run in its place; and how often each case is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..adapters.systems import System, as_system
from ..evaluation.replay import Answering, resumed
from ..regression.guards.case_guard import wants_confirmation
from .replay import changed_provenance
from .session import SessionSuite, SuiteVariant

if TYPE_CHECKING:
    from ..calls.caller import Caller
    from ..core.run import CaseResult
    from ..evaluation.case_flow import CaseFlow
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

    @cached_property
    def again(self) -> Mapping[str, int]:
        """How many more answers are asked for, by case, to learn what varies."""
        return {} if isinstance(self.system, Answering) else self.suite.again

    def times(self, case: GoldenCase) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        if self._replayed is not None and self.suite.session.options.repeat is None:
            return self._replayed.times(case)
        return self.suite.repeats

    def confirms(self, case: GoldenCase, result: CaseResult) -> range:
        """Return the numbers of the repeats that ask a failed case again, before it fails; none for most."""
        if result.state != "failed" or self.suite.session.options.intents or self.suite.repeats > 1:
            return range(0)
        if self._replayed is not None:
            return self._replayed.confirms(case)
        golden, timed = self.suite.golden, case.benchmark is not None
        wanted = wants_confirmation(result, self.suite.confirmed, len(golden.cases), golden.policy, timed=timed)
        return range(1, 1 + golden.policy.confirm) if wanted else range(0)
