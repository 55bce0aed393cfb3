"""All cases of a suite, put to a system in one go and ended one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..adapters.systems import System
from ..calls.caller import Caller
from ..core.batches import in_batches
from ..core.progress import Progress
from ..core.run import CaseResult
from ..io.golden.load import GoldenCase
from .case_flow import Asked, CaseFlow, Finished
from .case_result import Ended
from .replay import ask_case

__all__ = ["run_suite"]

_TOGETHER = 32  # cases that are measured at once: enough for a model, not many to hold


def run_suite(
    flow: CaseFlow,
    cases: Sequence[GoldenCase],
    system: System,
    caller: Caller,
    *,
    repeat: int = 1,
    corpus: Any = None,
    seed: int | None = None,
    progress: bool | None = False,
    again: Mapping[str, int] | None = None,
    confirms: Callable[[GoldenCase, CaseResult], range] | None = None,
) -> Iterator[Finished]:
    """Put *cases* to *system*; yield each as *flow* ends it, those that are skipped first.

    Args:
        flow: ends the cases.
        cases: those of a suite.
        system: answers.
        caller: makes the calls.
        repeat: how often each case is asked.
        corpus: what labels that moved are looked up in, as the project gave it.
        seed: of random numbers, from which each call's own is derived.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.
        again: how many more answers to ask for, by case: they count for nothing but what varies.
        confirms: says which repeats, counted from 0, ask a failed case again before it fails; an empty range for most.
    """
    todo = [case for case in cases if case.skip is None]
    times = {case.id: repeat + (again or {}).get(case.id, 0) for case in todo}
    asks = (ask_case(system, case, i, seed=seed) for case in todo for i in range(times[case.id]))
    calls = caller.map(asks, (case.timeout for case in todo for _ in range(times[case.id])))
    for case in cases:
        if case.skip is not None:
            yield flow.leave_out(case, Ended("skip", case.skip))
    with Progress("cases", len(todo), show=progress) as bar:
        for batch in in_batches(todo, _TOGETHER):
            asked = [
                Asked(case, list(islice(calls, times[case.id])), corpus, times[case.id] - repeat) for case in batch
            ]
            for one, finished in zip(asked, flow.finish_all(asked, system), strict=True):
                case = one.case
                if numbers := confirms(case, finished.result) if confirms is not None else ():
                    fns = [ask_case(system, case, i, seed=seed) for i in numbers]
                    more = [
                        caller.call((case.id, i), fn, timeout=case.timeout) for i, fn in zip(numbers, fns, strict=True)
                    ]
                    flow.confirm(finished, Asked(case, more, corpus), system)
                yield finished
                bar.done()
