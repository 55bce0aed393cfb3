"""Further answers to cases that were asked already, and who wants them: a case that is about to fail, an update, a
second look at the suite, the question why it got worse.

Each way is a generator of calls.  `drive` makes them in the thread of their owner, `adrive` in a running event loop,
and sends back what they gave: what is asked, and what becomes of the answers, stands here once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeVar

from ..adapters.systems import System
from ..calls.call import CallResult, Fn
from ..calls.caller import Caller, Upcoming
from ..core.run import CaseResult, Run
from ..io.golden.model import GoldenCase
from .case_flow import CaseCalls, CaseFlow, FinishedCase, sum_usage
from .replay import SECOND_LOOK, ask_case, replay_of
from .update import UpdatePlan

_T = TypeVar("_T")
BATCH_SIZE = 32  # cases that are measured at once: enough for a model, not many to hold


class Ask(NamedTuple):
    """A call to be made by *caller*, with the arguments of `Caller.call`."""

    caller: Caller
    key: Hashable
    fn: Fn
    upcoming: Upcoming = ()
    timeout: float | None = None
    urgent: bool = True


Steps = Generator[Ask, CallResult, _T]
"""Calls to be made one after the other; each gets the result of its own, and the last one gives a value."""

Purpose = Literal["update", "look", "cause"]
"""Why several calls are made: to learn what varies before it is accepted; to look at the suite once more; to learn why
it got worse."""


def drive(steps: Steps[_T]) -> _T:
    """Make the calls of *steps* in this thread, and return what they come to."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(ask.caller.call(*ask[1:]))
    except StopIteration as end:
        value: _T = end.value
        return value


async def adrive(steps: Steps[_T]) -> _T:
    """Do the same in the running loop."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(await ask.caller.acall(*ask[1:]))
    except StopIteration as end:
        value: _T = end.value
        return value


def uncounted(_calls: int, _purpose: Purpose) -> Callable[[], object]:
    """Begin calls that nobody counts."""
    return lambda: None


@dataclass(eq=False)
class CallBudget:
    """Calls that are left; None: as many as it takes.

    ``refused`` has whom they did not suffice for: golden file, configuration and case; no case: the suite.  ``afford``
    says whether so many may be paid for.
    """

    left: int | None = None
    refused: dict[tuple[str, str, str], None] = field(default_factory=dict)
    afford: Callable[[int], bool] = lambda _calls: True

    def allows(self, calls: int) -> bool:
        """Whether so many calls are left."""
        return (self.left is None or calls <= self.left) and self.afford(calls)

    def take(self, calls: int, who: tuple[str, str, str]) -> bool:
        """Take so many calls for *who*; return whether they were left."""
        if not self.allows(calls):
            self.refused[who] = None
            return False
        if self.left is not None:
            self.left -= calls
        return True


@dataclass(eq=False, repr=False)
class FurtherAnswers:
    """Asks *system* again by *caller*, for *owner*.

    Attributes:
        flow: what ends the cases.
        corpus: what labels that moved are looked up in.
        seed: of random numbers.
        budget: how many calls may be made.
        begin: called with the number of calls before several are made, and their purpose; returns what counts them.
        before: called before each call.
    """

    flow: CaseFlow
    system: System
    caller: Caller
    owner: Hashable = None
    corpus: Any = None
    seed: int | None = None
    budget: CallBudget = field(default_factory=CallBudget)
    begin: Callable[[int, Purpose], Callable[[], object]] = uncounted
    before: Callable[[], object] = lambda: None

    def decide(self, finished: FinishedCase, case: GoldenCase, numbers: Iterable[int]) -> Steps[None]:
        """Ask a case that is about to fail again, one answer at a time, until its checks are decided.

        *numbers* are those of the answers to be had, counted from 0.
        """
        left = iter(numbers)
        while finished.wants_another and (number := next(left, None)) is not None:
            if not self.budget.take(1, self._name(case)):
                break
            call = yield from self._call(self._ask(case, number))
            self.flow.take(finished, CaseCalls(case, [call], self.corpus), self.system)
        self.flow.settle(finished)

    def complete(
        self, plan: UpdatePlan, results: Mapping[str, CaseResult], cases: Sequence[GoldenCase]
    ) -> Steps[list[FinishedCase]]:
        """Ask *cases* that an update accepts as often as *plan* wants by now, and return those that were asked."""
        missing = plan.missing({case.id: results[case.id] for case in cases if case.id in results})
        todo = [(case, missing[case.id]) for case in cases if case.id in missing]
        todo = [(case, n) for case, n in todo if self.budget.take(n, self._name(case))]
        firsts = {case.id: results[case.id].n_answers for case, _ in todo}
        asks = [self._ask(case, number) for case, n in todo for number in range(firsts[case.id], firsts[case.id] + n)]
        answered, place, done = self.begin(len(asks), "update"), 0, []
        for case, n in todo:
            calls = yield from self.several(asks, range(place, place + n), answered)
            done.append(self.flow.extend(results[case.id], CaseCalls(case, calls, self.corpus), self.system))
            place += n
        return done

    def may_look(self, run: Run, cases: Sequence[GoldenCase], before: int = 0) -> bool:
        """Whether every case of *run* may be asked once more, after so many looks *before*.

        An earlier run that answers has to have been asked as often.
        """
        if (replayed := replay_of(self.system)) is not None:
            return all(replayed.source.look(case, before) is not None for case in cases if case.skip is None)
        return self.budget.allows(len(_asked(run)))

    def look(self, run: Run, cases: Sequence[GoldenCase], before: int = 0) -> Steps[tuple[Run, list[FinishedCase]]]:
        """Ask every case of *run* once more, after so many looks *before*.

        Return the run of these answers, and the answers as they ended.
        """
        asked = _asked(run)
        todo = [case for case in cases if case.id in asked]
        self.budget.take(len(todo), (run.path, run.variant, ""))
        asks = [self._ask(case, SECOND_LOOK + before) for case in todo]
        answered = self.begin(len(asks), "look")
        looked: list[FinishedCase] = []
        for start in range(0, len(todo), BATCH_SIZE):
            batch = todo[start : start + BATCH_SIZE]
            calls = yield from self.several(asks, range(start, start + len(batch)), answered)
            case_calls = [CaseCalls(case, [call], self.corpus) for case, call in zip(batch, calls, strict=True)]
            looked += self.flow.finish_all(case_calls, self.system)
        for one in looked:
            first = run.cases[one.result.case_id]
            first.looks = one.result.looks = before + 1
            sum_usage(first, [first, one.result])
        again = {one.result.case_id: one.result for one in looked}
        return replace(run, cases={i: again.get(i, result) for i, result in run.cases.items()}), looked

    def several(self, asks: Sequence[Ask], places: range, answered: Callable[[], object]) -> Steps[list[CallResult]]:
        """Make those of *asks* at *places*, each with all behind it, which are started early; return their results."""
        results: list[CallResult] = []
        for i in places:
            behind = ((ask.key, ask.fn, ask.timeout) for ask in islice(asks, i + 1, None))
            results.append((yield from self._call(asks[i]._replace(upcoming=behind))))
            answered()
        return results

    def aside(self, system: System, case: GoldenCase, number: int) -> Ask:
        """Return the call that asks *system* in the place of its own, with the random numbers of answer *number*."""
        return self._ask(case, number)._replace(
            key=(self.owner, case.id, system, number), fn=ask_case(system, case, number, seed=self.seed)
        )

    def _ask(self, case: GoldenCase, number: int) -> Ask:
        fn = ask_case(self.system, case, number, seed=self.seed)
        return Ask(self.caller, (self.owner, case.id, number), fn, timeout=case.timeout)

    def _call(self, ask: Ask) -> Steps[CallResult]:
        """Make one call; raise what ends the whole run, as ``pytest.exit`` does: nobody asks how the answer ended."""
        self.before()
        call = yield ask
        if call.error is not None and self.flow.ended_by is not None:
            self.flow.ended_by(call.error)
        return call

    def _name(self, case: GoldenCase) -> tuple[str, str, str]:
        return self.flow.run.path, self.flow.run.variant, case.id


def _asked(run: Run) -> set[str]:
    return {case_id for case_id, result in run.cases.items() if result.state != "skipped"}
