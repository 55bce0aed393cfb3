"""Work done ahead of the item that pytest is at: calls of cases whose fixtures are set up, and LLM judges on answers.

pytest runs items one after the other, but calls of a RAG system and of an LLM judge mostly wait.  Calls may overlap in
a group of golden items that get the very same values, with nothing between them that sets up, tears down or measures
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System
from ..base.progress import Progress
from ..calls.call import Call, CallResult, running_trio
from ..calls.caller import Caller, Upcoming
from ..core.metrics_base import Metric
from ..evaluation.measure import JudgedAnswer
from .compat import fixture_definitions, is_worker, process_count
from .keys import CASE, SYSTEM
from .options import Options

if TYPE_CHECKING:
    import asyncio

    from ..calls.executor import OwnLoop

ASYNC_CONCURRENCY = 8
"""Calls in flight for async systems unless the user says otherwise: their clients are made for it."""

_POLL = 0.2  # seconds between two looks: keeps Ctrl-C responsive
_GRACE = 1.0  # seconds that judges have to end when nobody waits for them any more
_SKIPPED = ("skip", "skipif")
_HARMLESS = frozenset({"request", "record_property", "record_testsuite_property"})


class Queue:
    """The selected items in run order; groups of golden ones are found on first use."""

    def __init__(self, items: Sequence[pytest.Item]) -> None:
        self._items = items

    @cached_property
    def _group_of(self) -> dict[pytest.Item, tuple[list[pytest.Item], int]]:
        """For each item: its group, and the position in it after the item.

        A group: consecutive cases with the same fixture values, without skipped ones.  A test `suite` between them ends
        no group.
        """
        groups: dict[pytest.Item, tuple[list[pytest.Item], int]] = {}
        group: list[pytest.Item] = []
        key: Hashable = None
        for item in self._items:
            before, key = key, _share_key(item)
            if key != before:
                group = []
            if key is not None:
                if CASE in item.stash and _surely_runs(item):
                    group.append(item)
                groups[item] = group, len(group)
        return groups

    def upcoming(self, item: pytest.Item) -> Iterator[pytest.Item]:
        """Yield the items after *item* whose fixtures are set up while it runs."""
        if (position := self._group_of.get(item)) is not None:
            group, after = position
            for i in range(after, len(group)):
                yield group[i]

    def group_ends(self, item: pytest.Item, following: pytest.Item | None) -> bool:
        """Whether fixtures of *item* may be torn down before *following* runs."""
        if (position := self._group_of.get(item)) is None:
            return False
        return following is None or self._group_of.get(following, (None, 0))[0] is not position[0]


def _share_key(item: pytest.Item) -> Hashable | None:
    """Return a key equal for golden items, one behind the other, that get the same values of all their fixtures.

    None where the call must not start early: it is no golden item's, it is timed, or one of the fixtures is set up for
    that item alone, which has not happened yet.  Of a package or the session there is one value for all that see the
    definition.
    """
    case = item.stash.get(CASE, None)
    if SYSTEM not in item.stash or (case is not None and case.benchmark is not None):
        return None
    system, by_name = item.stash[SYSTEM], fixture_definitions(item)
    names = [name for name in getattr(item, "fixturenames", ()) if name not in _HARMLESS]
    if system not in names or not all(map(by_name.get, names)):  # a hook may have added names that nobody looked up
        return None
    definitions = tuple(by_name[name][-1] for name in names)
    if any(definition.scope in ("function", "class") for definition in definitions):  # a case is its own class
        return None
    scope_node = item.parent if any(definition.scope == "module" for definition in definitions) else None
    callspec = getattr(item, "callspec", None)
    # by identity: hooks may give each file values of its own, and not all can be compared
    params = tuple((name, id(value)) for name, value in sorted(callspec.params.items())) if callspec is not None else ()
    return system, definitions, scope_node, params


def _surely_runs(item: pytest.Item) -> bool:
    """Whether no mark of *item* may keep it from being run."""
    return not any(
        mark.name in _SKIPPED or (mark.name == "xfail" and not mark.kwargs.get("run", True))
        for mark in item.iter_markers()
    )


class JudgeLookahead:
    """Asks LLM judges about answers that come early, while pytest is still at an earlier item.

    An early answer is scored in a thread; its item gets it with the scores.  One per process.
    Keys are those of the calls: item and repeat.
    """

    def __init__(self, concurrency: int | None, progress: Progress) -> None:
        self._concurrency, self._progress = concurrency, progress
        self._expected: dict[Hashable, Callable[[CallResult], JudgedAnswer | None]] = {}  # what judges it
        self._jobs: dict[Hashable, Call] = {}
        self._executor: OwnLoop | None = None
        self._size = 0

    def expect(
        self, key: Hashable, metrics: Sequence[Metric], judge: Callable[[CallResult], JudgedAnswer | None]
    ) -> None:
        """Prepare to *judge* an answer by *metrics*, at least one, as soon as it comes."""
        if self._executor is None:
            from ..calls.executor import OwnLoop  # it brings asyncio

            self._size = self._concurrency or max(metric.concurrency for metric in metrics)
            self._executor = OwnLoop(self._size, _GRACE, blocks=True)
        self._expected.setdefault(key, judge)

    def judge(self, key: Hashable, result: CallResult) -> None:
        """Judge the answer *result*, unless that has begun, or nobody expects it; called in any thread."""
        executor, judge = self._executor, self._expected.get(key)
        if executor is not None and judge is not None and result.error is None and key not in self._jobs:
            self._jobs[key] = job = Call(partial(judge, result))
            job.detach()
            executor.submit([job])

    def preload(self, item: pytest.Item, calls: Sequence[CallResult], caller: Caller, following: Upcoming) -> None:
        """While the answers to *item* are judged, let *caller* make the calls *following* one by one in this thread."""
        for i, call in enumerate(calls):
            self.judge((item, i), call)
        if caller.timeout is not None or item.config.getoption("maxfail", 0):
            return
        own_jobs = [self._jobs[item, i] for i in range(len(calls)) if (item, i) in self._jobs]
        for key, fn, *limit in following:
            running = sum(job.state != "over" for job in list(self._jobs.values()))
            if limit != [None] or running >= self._size or all(job.state == "over" for job in own_jobs):
                return
            caller.prepare(key, fn)

    def wait(self, key: Hashable) -> JudgedAnswer | None:
        """Return the answer *key* with its scores, once they have come; None where judges were not asked early."""
        if (job := self._jobs.get(key)) is not None and self._executor is not None:
            self._executor.expect(job)
            while not job.wait(_POLL):
                self._progress.draw()
        return self._pop(key)

    async def await_judged(self, key: Hashable) -> JudgedAnswer | None:
        """Do the same without holding up the running loop; under trio it does."""
        if (job := self._jobs.get(key)) is None or running_trio() is not None:
            return self.wait(key)
        import asyncio

        while not job.wait(0.0):
            self._progress.draw()
            await asyncio.sleep(0.005)
        return self._pop(key)

    def _pop(self, key: Hashable) -> JudgedAnswer | None:
        self._expected.pop(key, None)
        if (job := self._jobs.pop(key, None)) is None:
            return None
        judged = job.deliver(None)
        if isinstance(judged.error, KeyboardInterrupt | SystemExit):
            raise judged.error
        return None if judged.error is not None else judged.value

    def forget(self, item: pytest.Item | None = None) -> None:
        """Give up what was started for *item*, by default for all."""
        for key in [key for key in [*self._jobs, *self._expected] if item is None or key[0] is item]:  # type: ignore[index]
            self._expected.pop(key, None)
            if (job := self._jobs.pop(key, None)) is not None and not job.take_back():
                job.abandon()

    def close(self) -> None:
        """Give up everything; threads that wait for a judge are left behind."""
        self.forget()
        if self._executor is not None:
            self._executor.close(wait=False)
            self._executor = None


class Callers:
    """One caller for functions, one for coroutines: made when first needed, closed at the end.

    ``judging`` gets what they call early, and gives up what they give up.
    """

    def __init__(self, config: pytest.Config, options: Options, judging: JudgeLookahead) -> None:
        self._config, self._options, self.judging = config, options, judging
        self._callers: dict[bool, Caller] = {}
        self._test_task: tuple[pytest.Item, asyncio.Task[Any]] | None = None

    def caller_for(self, system: System) -> Caller:
        """Return the caller for *system*."""
        if (caller := self._callers.get(system.is_async)) is None:
            concurrency = self._concurrency(is_async=system.is_async)
            stops_early = self._config.getoption("maxfail", 0)
            caller = self._callers[system.is_async] = Caller(
                concurrency, processes=process_count(self._config),
                lookahead=concurrency if stops_early and concurrency > 1 else None,
                timeout=self._options.timeout, retry=self._options.retry, coroutines=system.is_async,
                after=self.judging.judge,
            )  # fmt: skip
        return caller

    def _concurrency(self, *, is_async: bool) -> int:
        if is_worker(self._config):
            return 1  # a worker's items are everybody's list, not its own share, so it cannot look ahead
        if self._options.seed is not None:
            return 1  # calls side by side draw from the same global generators in whatever order they get there
        return self._options.concurrency or (ASYNC_CONCURRENCY if is_async else 1)

    @property
    def ahead(self) -> bool:
        """Whether calls were started that nobody has asked for."""
        return any(caller.ahead for caller in self._callers.values())

    def remember_task(self, item: pytest.Item) -> None:
        """Remember the asyncio task of this test, so that `forget` can cancel it after a timeout.

        Only pytest-asyncio makes a task for each test.
        """
        if item.get_closest_marker("asyncio") is not None:
            import asyncio

            task = asyncio.current_task()
            self._test_task = (item, task) if task is not None else None

    def forget(self, item: pytest.Item) -> None:
        """Give up the calls of *item*, which was ended from outside, and cancel its task.

        What ends a loop from outside, as pytest-timeout does, leaves the task there, for later cases to run.
        """
        if self._test_task is not None and self._test_task[0] is item:
            (_, task), self._test_task = self._test_task, None
            if not task.done() and not task.get_loop().is_closed():
                task.cancel()
        for caller in self._callers.values():
            caller.forget(lambda key: isinstance(key, tuple) and key[0] is item)
        self.judging.forget(item)

    def drop(self) -> None:
        """Forget calls started early: the systems they use are about to go."""
        for caller in self._callers.values():
            caller.drop()
        self.judging.forget()

    def close(self) -> None:
        """Cancel what still runs."""
        for caller in self._callers.values():
            caller.close()
        self._callers.clear()
        self.judging.close()
