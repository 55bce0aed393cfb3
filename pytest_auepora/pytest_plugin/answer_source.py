"""Where answers come from: the system, or an earlier run in its place; and how often each case is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..adapters.systems import System, as_system
from ..calls.call import Fn
from ..evaluation.replay import Answering, ask_case
from ..regression.accept import again_plan
from ..regression.guards.case_guard import Confirmations

if TYPE_CHECKING:
    from ..calls.caller import Caller
    from ..core.run import CaseResult
    from ..evaluation.case_flow import CaseFlow
    from ..io.golden.model import GoldenCase, GoldenSuite
    from .hooks import ProjectHooks
    from .lookahead import Callers
    from .options import Options
    from .replay import Replay
    from .suites import Suites


class AnswerSources:
    """One per process.

    Args:
        options: what the user asks for.
        project: says how answers come about.
        suites: the golden files.
        callers: make the calls.
        replay: the earlier run that answers in place of the system, if one is to.
    """

    def __init__(
        self, options: Options, project: ProjectHooks, suites: Suites, callers: Callers, replay: Replay | None = None
    ) -> None:
        self.options, self.project, self.suites, self.callers, self._replay = options, project, suites, callers, replay
        self.confirmations = Confirmations()
        self._known: dict[tuple[Path, str, int], AnswerSource] = {}
        self._again: dict[Path, dict[str, int]] = {}

    @property
    def asks_nothing(self) -> bool:
        """Whether the system may not be called, nor be made."""
        return self._replay is not None and self._replay.asks_nothing

    def of(self, rag: Any, suite: GoldenSuite, variant: str) -> AnswerSource:
        """Return what answers the cases of *suite*: *rag*, a fixture's value, or an earlier run in its place.

        Raises:
            SystemShapeError: *rag* is nothing that can be asked.
        """
        key = suite.path, variant, id(rag)
        if (known := self._known.get(key)) is None:
            known = self._known[key] = self._made(rag, suite, variant)
        return known

    def _made(self, rag: Any, suite: GoldenSuite, variant: str) -> AnswerSource:
        if self._replay is not None and self._replay.asks_nothing:
            return AnswerSource(self, suite, variant, rag, self._replay.replayed(suite, variant))
        source = AnswerSource(self, suite, variant, rag, as_system(rag))
        if self._replay is not None:
            source.system = self._replay.resumed(suite, variant, source.system, source.provenance)
        return source

    def again(self, suite: GoldenSuite) -> Mapping[str, int]:
        """Return how many more answers an update asks for, by case, to learn what varies; else none."""
        if not (self.options.intents or self.options.anchoring):
            return {}
        if (plan := self._again.get(suite.path)) is None:
            asked = (case.id for case in suite.cases if case.skip is None and case.benchmark is None)
            known = self.options.repeats(suite.repeat) - 1  # repeats tell as much
            found = again_plan(asked, suite.policy.again)
            plan = self._again[suite.path] = {case_id: n - known for case_id, n in found.items() if n > known}
        return plan


class AnswerSource:
    """What answers the cases of *suite* under the configuration *variant*: *system*, made of the fixture's value *rag*.

    What is the same for all of these cases is found out once.
    """

    def __init__(self, sources: AnswerSources, suite: GoldenSuite, variant: str, rag: Any, system: System) -> None:
        self._sources, self.suite, self.variant, self.system = sources, suite, variant, system
        self._rag = rag  # while it is kept, its id is nobody else's
        self._replayed = system if isinstance(system, Answering) else None  # and so asks nothing
        self._repeats = sources.options.repeats(suite.repeat)

    @cached_property
    def caller(self) -> Caller:
        """Makes the calls."""
        return self._sources.callers.of(self.system)

    @cached_property
    def flow(self) -> CaseFlow:
        """Ends the cases."""
        return self._sources.suites.flow(self.suite, self.variant)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What is known of how the answers came about; the project's hook has the last word.

        Of a run that is replayed it is what was known then.
        """
        if self._replayed is not None:
            return self.system.provenance
        seed = {} if self._sources.options.seed is None else {"seed": self._sources.options.seed}
        return {**self.system.provenance, **seed, **self._sources.project.provenance(self.suite.name, self.suite.path)}

    @cached_property
    def again(self) -> Mapping[str, int]:
        """How many more answers are asked for, by case, to learn what varies."""
        return {} if isinstance(self.system, Answering) else self._sources.again(self.suite)

    @cached_property
    def unjudged(self) -> Collection[str]:
        """The metrics that do not judge answers asked for *again*."""
        return self._sources.suites.judged_once(self.suite)

    @cached_property
    def is_judged(self) -> bool:
        """Whether any metric asks a judge."""
        return bool(self._sources.suites.judged(self.suite))

    def ask(self, case: GoldenCase, repeat: int = 0) -> Fn:
        """Return the call that puts *case* to the system for the time *repeat*, counted from 0."""
        return ask_case(self.system, case, repeat, seed=self._sources.options.seed)

    def times(self, case: GoldenCase) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        if self._replayed is not None and self._sources.options.repeat is None:
            return self._replayed.times(case)
        return self._repeats

    def confirms(self, case: GoldenCase, result: CaseResult) -> range:
        """Return the numbers of the repeats that ask a failed case again, before it fails; none for most."""
        if result.state != "failed" or self._sources.options.intents or self._repeats > 1:
            return range(0)
        if self._replayed is not None:
            return self._replayed.confirms(case)
        suite, timed = self.suite, case.benchmark is not None
        wanted = self._sources.confirmations.wants(suite.path, len(suite.cases), result, suite.policy, timed=timed)
        return range(1, 1 + suite.policy.confirm) if wanted else range(0)
