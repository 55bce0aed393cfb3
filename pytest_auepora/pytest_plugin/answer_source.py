"""Where answers come from: the system, or an earlier run in its place; and how often each case is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System, as_system
from ..calls.call import Fn
from ..evaluation.replay import Answering, ask_case
from ..regression.accept import again_plan
from ..regression.guards.case_guard import Confirmations
from .compat import fixtures_only_for, variant_of
from .session import SUITE

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..io.golden.model import GoldenCase, GoldenSuite
    from .hooks import ProjectHooks
    from .options import Options
    from .replay import Replay


class AnswerSource:
    """One per process.

    Args:
        options: what the user asks for.
        project: says how answers come about.
        replay: the earlier run that answers in place of the system, if one is to.
    """

    def __init__(self, options: Options, project: ProjectHooks, replay: Replay | None = None) -> None:
        self._options, self._project, self._replay = options, project, replay
        self._systems: dict[int, tuple[Any, System]] = {}
        self._provenance: dict[tuple[Path, int], tuple[System, dict[str, Any]]] = {}
        self._again: dict[Path, dict[str, int]] = {}
        self._confirmations = Confirmations()

    @property
    def asks_nothing(self) -> bool:
        """Whether the system may not be called, nor be made."""
        return self._replay is not None and self._replay.asks_nothing

    def of(self, rag: Any, suite: GoldenSuite, variant: str) -> System:
        """Return what answers the cases of *suite*: *rag*, a fixture's value, or an earlier run in its place.

        Raises:
            SystemShapeError: *rag* is nothing that can be asked.
        """
        if self._replay is not None and self._replay.asks_nothing:
            return self._replay.replayed(suite, variant)
        known = self._systems.get(id(rag))
        if known is None or known[0] is not rag:
            known = self._systems[id(rag)] = rag, as_system(rag)
        if self._replay is None:
            return known[1]
        return self._replay.resumed(suite, variant, known[1], self.provenance(suite, known[1]))

    def provenance(self, suite: GoldenSuite, system: System) -> dict[str, Any]:
        """Return what is known of how the answers came about; the project's hook has the last word.

        Of a run that is replayed it is what was known then.
        """
        if isinstance(system, Answering):
            if system.base is None:
                return system.provenance
            system = system.base
        key = suite.path, id(system)
        known = self._provenance.get(key)
        if known is None or known[0] is not system:
            seed = {} if self._options.seed is None else {"seed": self._options.seed}
            told = {**system.provenance, **seed, **self._project.provenance(suite.name, suite.path)}
            known = self._provenance[key] = system, told
        return known[1]

    def prepare(self, item: pytest.Item) -> None:
        """Where nothing may be asked, let *item* have the earlier run for its system, and set up nothing for that."""
        if self._replay is None or not self.asks_nothing:
            return
        suite = item.stash[SUITE]
        funcargs: dict[str, Any] = getattr(item, "funcargs", {})
        for name in fixtures_only_for(item, suite.fixture):
            funcargs.setdefault(name, None)
        funcargs[suite.fixture] = self._replay.replayed(suite, variant_of(item, suite.fixture))

    def ask(self, system: System, case: GoldenCase, repeat: int = 0) -> Fn:
        """Return the call that puts *case* to *system* for the time *repeat*, counted from 0."""
        return ask_case(system, case, repeat, seed=self._options.seed)

    def times(self, suite: GoldenSuite, case: GoldenCase, system: System) -> int:
        """Return how often *case* is asked; where nothing is, as often as it was, unless that is said."""
        if self._options.repeat is None and isinstance(system, Answering) and system.base is None:
            return system.times(case)
        return self._options.repeats(suite.repeat)

    def times_each(self, suite: GoldenSuite, system: System) -> int:
        """Return how often the cases of *suite* are asked where all are asked as often."""
        return max((self.times(suite, case, system) for case in suite.cases), default=1)

    def again(self, suite: GoldenSuite, system: System | None = None) -> Mapping[str, int]:
        """Return how many more answers an update asks for, by case, to learn what varies; else none."""
        accepts = self._options.intents or self._options.anchoring
        if not accepts or isinstance(system, Answering):
            return {}
        if (plan := self._again.get(suite.path)) is None:
            asked = (case.id for case in suite.cases if case.skip is None and case.benchmark is None)
            known = self._options.repeats(suite.repeat) - 1  # repeats tell as much
            found = again_plan(asked, suite.policy.again)
            plan = self._again[suite.path] = {case_id: n - known for case_id, n in found.items() if n > known}
        return plan

    def confirms(self, suite: GoldenSuite, case: GoldenCase, system: System, result: CaseResult) -> range:
        """Return the numbers of the repeats that ask a failed case again, before it fails; none for most."""
        if self._options.intents or self._options.repeats(suite.repeat) > 1 or result.state != "failed":
            return range(0)
        if isinstance(system, Answering) and system.base is None:
            return system.confirms(case)
        timed = case.benchmark is not None
        wanted = self._confirmations.wants(suite.path, len(suite.cases), result, suite.policy, timed=timed)
        return range(1, 1 + suite.policy.confirm) if wanted else range(0)
