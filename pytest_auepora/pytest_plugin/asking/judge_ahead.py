"""LLM judges asked about answers as soon as they are there, while pytest is still at an earlier item.

A system's call that ends early is read and judged in a thread; the item that asks for the answer finds it judged.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ...adapters.systems import System
from ...calls.call import Call, CallResult, running_trio
from ..compat import variant_of
from ..session import CASE, CORPUS, SUITE

if TYPE_CHECKING:
    from ...calls.caller import Caller, Upcoming
    from ...calls.executor import OwnLoop
    from ...core.metrics_base import Metric
    from ...evaluation.case_flow import CaseFlow
    from ...evaluation.judging import JudgedAnswer
    from ...io.golden.model import GoldenCase
    from ..hooks import ProjectHooks
    from ..options import Options
    from ..suites import Suites

_POLL = 0.2  # seconds between two looks: keeps Ctrl-C responsive
_GRACE = 1.0


class _Expected(NamedTuple):
    case: GoldenCase
    system: System
    metrics: list[Metric]
    repeat: int
    flow: CaseFlow


class JudgeAhead:
    """One per process.  Keys are those of the calls: item and repeat."""

    def __init__(self, options: Options, project: ProjectHooks, suites: Suites) -> None:
        self._options, self._project, self._suites = options, project, suites
        self._expected: dict[Hashable, _Expected] = {}
        self._jobs: dict[Hashable, Call] = {}
        self._executor: OwnLoop | None = None
        self._size = 0

    def expect(self, item: pytest.Item, repeat: int, system: System) -> bool:
        """Prepare to judge an answer that may come early; whether its suite has anything to judge side by side.

        Not where labels are matched by a corpus: they are settled when the item runs.
        """
        if not (judged := self._suites.judged(suite := item.stash[SUITE])):
            return False
        if (item, repeat) in self._expected:
            return True
        if self._project.has_corpus or CORPUS in getattr(item, "fixturenames", ()):
            return False
        from ...evaluation.judging import side_by_side

        if not (metrics := side_by_side(judged)):
            return False
        if repeat >= self._options.repeats(suite.repeat):  # asked again, by an update
            metrics = [metric for metric in metrics if metric.name not in self._suites.judged_once(suite)]
            if not metrics:
                return True
        if self._executor is None:
            from ...calls.executor import OwnLoop

            self._size = self._options.concurrency or max(metric.concurrency for metric in metrics)
            self._executor = OwnLoop(self._size, _GRACE, blocks=True)
        self._expected[item, repeat] = _Expected(
            item.stash[CASE], system, metrics, repeat, self._suites.flow(suite, variant_of(item, suite.fixture))
        )
        return True

    def start(self, key: Hashable, call: Call) -> None:
        """Judge what *call* gave; called in whichever thread ended it."""
        if not call.lost:
            self.judge(key, call.result)

    def judge(self, key: Hashable, result: CallResult) -> None:
        """Judge the answer *result*, unless that has begun, or nobody expects it."""
        executor, expected = self._executor, self._expected.get(key)
        if executor is not None and expected is not None and result.error is None and key not in self._jobs:
            self._jobs[key] = job = Call(partial(self._judge, expected, result))
            job.detach()
            executor.submit([job])

    def call_meanwhile(
        self, caller: Caller, item: pytest.Item, system: System, calls: Sequence[CallResult], following: Upcoming
    ) -> None:
        """While the answers of *system* to *item* are judged, make the calls *following*, one by one in this thread."""
        if hasattr(item.config, "workerinput") or not all(self.expect(item, i, system) for i in range(len(calls))):
            return
        keys: list[Hashable] = [(item, i) for i in range(len(calls))]
        for key, call in zip(keys, calls, strict=True):
            self.judge(key, call)
        if caller.timeout is not None or item.config.getoption("maxfail", 0):
            return
        for key, fn, *limit in following:
            if limit != [None] or not self._has_room or all(map(self._is_over, keys)):
                return
            caller.prepare(key, fn)

    def _judge(self, expected: _Expected, result: CallResult) -> JudgedAnswer | None:
        from ...evaluation.judging import JudgedAnswer, judge_answers
        from ...evaluation.measure import answer_of, to_judge

        case, system, metrics, repeat, flow = expected
        called = flow.called(case, result)
        answer = answer_of(called, system, self._project.convert, timed=True)
        if isinstance(answer, BaseException):
            return None
        work = [to_judge(called, answer, metrics, repeat)]
        return JudgedAnswer(answer, judge_answers(work, progress=flow.progress)[0])

    @property
    def _has_room(self) -> bool:
        """Whether more answers could be judged at once than are."""
        return sum(job.state != "over" for job in list(self._jobs.values())) < self._size

    def _is_over(self, key: Hashable) -> bool:
        """Whether nobody has to wait for the scores of the answer called *key*."""
        return (job := self._jobs.get(key)) is None or job.state == "over"

    def take(self, key: Hashable, result: CallResult) -> CallResult:
        """Return *result* with its scores, if it is judged early; waits for them."""
        if (job := self._jobs.get(key)) is not None and self._executor is not None:
            self._executor.expect(job)
            while not job.wait(_POLL):
                self._suites.progress.draw()
        return self._taken(key, result)

    async def atake(self, key: Hashable, result: CallResult) -> CallResult:
        """Do the same without holding up the running loop; under trio it does."""
        if (job := self._jobs.get(key)) is None or running_trio() is not None:
            return self.take(key, result)
        import asyncio

        while not job.wait(0.0):
            self._suites.progress.draw()
            await asyncio.sleep(0.005)
        return self._taken(key, result)

    def _taken(self, key: Hashable, result: CallResult) -> CallResult:
        self._expected.pop(key, None)
        if (job := self._jobs.pop(key, None)) is None:
            return result
        done = job.take(None)
        if isinstance(done.error, KeyboardInterrupt | SystemExit):
            raise done.error
        return result if done.error is not None or done.value is None else replace(result, value=done.value)

    def forget(self, item: pytest.Item | None = None) -> None:
        """Give up what was started for *item*, by default for all."""
        for key in [key for key in [*self._jobs, *self._expected] if item is None or key[0] is item]:  # type: ignore[index]
            self._expected.pop(key, None)
            if (job := self._jobs.pop(key, None)) is not None and not job.take_back():
                job.lose()

    def close(self) -> None:
        """Give up everything; threads that wait for a judge are left behind."""
        self.forget()
        if self._executor is not None:
            self._executor.close(wait=False)
            self._executor = None
