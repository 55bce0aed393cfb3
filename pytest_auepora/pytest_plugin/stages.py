"""The second stage of suites whose plan has two: all cases asked again, by the last of them, while the system is there.

Only the process that judges can know that a second stage is wanted, and only a process that holds the system can ask.
Where these are not one (xdist), or where cases do not share a system, all there may be is asked at once instead.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ..adapters.systems import System
from ..core.booking import Fn, Upcoming
from ..core.one_call import CallResult
from ..io.golden.load import GoldenCase
from .compat import variant_of
from .keys import CASE, PARCELS, SUITE
from .session import AueporaSession
from .xdist_messages import Parcel

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..evaluation.document_texts import Recording
    from ..regression.compare.cases import CaseComparison

__all__ = ["Stages", "Taken", "staged_suites"]

Ask = tuple[tuple[Hashable, Fn], Upcoming, "float | None"]


def staged_suites(items: Sequence[pytest.Item], session: AueporaSession) -> frozenset[Path]:
    """Return the golden files whose plan has two stages and whose cases share a system: the last can ask for all."""
    suites = {item.stash[SUITE].path: item.stash[SUITE] for item in items if CASE in item.stash}
    staged = {path for path, suite in suites.items() if session.plan(suite).two_stage}
    if not staged:
        return frozenset()
    found = [item for item in items if CASE in item.stash and item.stash[SUITE].path in staged]
    apart = {i.stash[SUITE].path for i in found if i.stash[CASE].skip is None and not session.queue.shares(i)}
    return frozenset(staged - apart)


class Taken(NamedTuple):
    """A case as it was judged, what came of it, and of each of its repeats.

    The recordings of its parcel are let go of once they are kept; a second stage needs them again.
    """

    item: pytest.Item
    case: GoldenCase
    result: CaseResult
    singles: list[CaseResult]
    comparison: CaseComparison | None
    parcel: Parcel
    recordings: list[Recording]


class Stages:
    """What is held of the cases of each suite and configuration until the last of them has run."""

    def __init__(self, session: AueporaSession) -> None:
        self.session = session
        self._held: dict[tuple[Path, str], dict[str, Taken]] = {}
        self._again: list[tuple[Taken, int]] = []

    def asks(self, system: System, done: Taken) -> list[Ask]:
        """Return the calls of the second stage, if *done* is the last case of its suite and the first looks bad."""
        self._again = []
        suite = done.item.stash[SUITE]
        if suite.path not in self.session.staged or self.session.answers.asks_nothing:
            return []
        plan = self.session.plan(suite)
        held = self._held.setdefault((suite.path, variant_of(done.item)), {})
        held[done.case.id] = done
        if self._is_awaited(done.item) or not self._looks_bad(done.item, system):
            return []
        again = [one for one in held.values() if one.result.state != "error"]
        self._again = [(one, i) for one in again for i in range(len(one.singles), plan.total)]
        todo: list[tuple[Hashable, Fn, float | None]] = [
            ((one.item, i), self.session.ask(system, one.case, i), one.case.timeout) for one, i in self._again
        ]
        return [((key, fn), islice(todo, n, None), limit) for n, (key, fn, limit) in enumerate(todo, 1)]

    def add(self, item: pytest.Item, system: System, calls: Sequence[CallResult]) -> None:
        """Put the cases with all their repeats on *item*; *calls* are the answers to what `asks` gave last."""
        more: dict[str, list[CallResult]] = {}
        for (one, _), call in zip(self._again, calls, strict=True):
            more.setdefault(one.case.id, []).append(call)
        parcels = []
        for one in {one.case.id: one for one, _ in self._again}.values():
            own = one.parcel
            suite = one.item.stash[SUITE]
            singles = one.singles + self.session.measure_each(suite, one.case, system, more[one.case.id])
            result = self.session.widened(suite, one.result, singles)
            recordings = [*one.recordings, *self.session.answers.take(one.case.id)]
            parcels.append(Parcel(own.path, own.variant, result, own.provenance, recordings))
        item.stash[PARCELS] += parcels
        self._again = []

    def _is_awaited(self, item: pytest.Item) -> bool:
        """Whether another case of the same suite and configuration is sure to run next; else it has to be found out."""
        suite = item.stash[SUITE]
        return any(i.stash[SUITE] is suite for i in self.session.queue.upcoming(item))

    def _looks_bad(self, item: pytest.Item, system: System) -> bool:
        from ..evaluation.case import skipped_result
        from ..regression.two_stage import wants_more

        session, suite, variant = self.session, item.stash[SUITE], variant_of(item)
        run = session.run(suite, variant, session.provenance(suite, system))
        run.add(one.result for one in self._held[suite.path, variant].values())
        run.add(skipped_result(c, c.skip, session.where(suite, c)) for c in suite.cases if c.skip is not None)
        baseline, _ = session.baseline(suite, variant)
        return wants_more(run, baseline, suite.policy, session.plan(suite), session.advisory(suite))
