"""What travels from the process that ran a case to the one that judges the run, and what of a worker that dies.

A worker puts one JSON string on the report: pytest-xdist carries builtins only, and a numpy float would end
the session.  Within one process the results themselves are handed over.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest

from ..core.files import shown_path
from .options import OVERRIDE
from .session import SUFFIXES

if TYPE_CHECKING:
    from ..core.run import CaseResult
    from ..evaluation.recording import Recording
    from ..io.golden.model import GoldenCase, GoldenSuite

ATTRIBUTE = "auepora"
"""Where a report has the text of its case reports."""


@dataclass(eq=False, repr=False, slots=True)
class CaseReport:
    """One case result, and which run it belongs to.

    ``path`` is the golden file, relative to the rootdir; ``recordings`` what is kept of the answers, repeats in order.
    """

    path: str
    variant: str
    result: CaseResult
    provenance: dict[str, Any] = field(default_factory=dict)
    recordings: list[Recording] = field(default_factory=list)


_here: WeakKeyDictionary[pytest.TestReport, list[CaseReport]] = WeakKeyDictionary()
"""By report, so that a report stays as serialisable as pytest made it."""


def attach(report: pytest.TestReport, case_reports: list[CaseReport], *, leaves_process: bool) -> None:
    """Put *case_reports* on *report*."""
    if leaves_process:
        setattr(report, ATTRIBUTE, "\n".join(chain.from_iterable(map(_lines, case_reports))))
    else:
        _here[report] = case_reports


def unpack(report: pytest.TestReport) -> list[CaseReport]:
    """Return what *report* carries; nothing where it is not ours."""
    if (found := _here.get(report)) is not None:
        return found
    text = getattr(report, ATTRIBUTE, None)
    if text is None:
        return []
    lines = iter(text.split("\n"))
    case_reports = [_case_report(*three) for three in zip(lines, lines, lines, strict=True)]
    _here[report] = case_reports  # several plugins ask
    delattr(report, ATTRIBUTE)  # pytest holds reports to the end, and answers are large
    return case_reports


def _lines(one: CaseReport) -> tuple[str, str, str]:
    """Return *one* as three lines: the result, as the history will have it; what many cases share; the answers."""
    from ..core.json import dumps
    from ..history.codec import CaseJson

    shared = dumps([one.path, one.variant, one.provenance])
    case = CaseJson.of(one.result, one.recordings)
    return case.result.decode(), shared, case.answers.decode() or "[]"


def _case_report(result: str, shared: str, recordings: str) -> CaseReport:
    from ..core.run import CaseResult

    path, variant, provenance = _of_run(shared)
    read = CaseResult.from_dict(json.loads(result))
    return CaseReport(path, variant, read, provenance, json.loads(recordings))


@lru_cache(maxsize=64)
def _of_run(shared: str) -> tuple[str, str, dict[str, Any]]:
    """Return path, variant and provenance: as within a process, cases of which it is equal have the same."""
    path, variant, provenance = json.loads(shared)
    return path, variant, provenance


def run_provenance(said: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return the provenance of a run, and a sentence on what differs between its cases, or an empty one.

    *said* is that of each case.  A value that differs is the text of all there are, so that it is equal to none of
    them: what was asked under two conditions compares with neither.
    """
    different: list[Mapping[str, Any]] = []
    for one in said:
        if not any(one is known or one == known for known in different):
            different.append(one)
    if len(different) <= 1:
        return dict(different[0]) if different else {}, ""
    out: dict[str, Any] = {}
    differing: list[str] = []
    for key in dict.fromkeys(key for one in different for key in one):
        values = [one.get(key, "not said") for one in different]
        if all(value == values[0] for value in values):
            out[key] = values[0]
        else:
            out[key] = " and ".join(sorted({str(value) for value in values}))
            differing.append(f"{key} {out[key]}")
    return out, f"not all cases were asked under the same conditions: {', '.join(differing)}"


_Unit = dict[str, bool]
"""Node ids that one worker gets, and whether they have run."""


class Crashes:
    """A worker that dies with a case loses that case, and a host that is gone no more than that.

    With ``--dist loadfile`` (and ``loadscope``, ``loadgroup``) pytest-xdist hands the whole rest of a dead worker's
    file to the next one, the case that killed it included, and so one worker after the other dies of it.  And where it
    cannot start a worker in place of a dead one, as on a host that is gone, it breaks off with an internal error: here
    the others take over, and if none of them can any more, the run stops like one that was interrupted, and says what
    was not run.  In the process that hands out the work.

    Args:
        override: the baseline that is to be used instead of those beside the golden files.
        verbose: whether results are shown again at the end.
    """

    def __init__(self, override: Path | None = None, *, verbose: bool = False) -> None:
        self._override, self._verbose = override, verbose
        self._scheduler: Any = None
        self._gone: Any = None
        self._crashed: set[str] = set()  # with which a worker died; they are not handed out again

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell workers which baseline is to be used instead, where it is in another host's copy."""
        if self._override is not None:
            node.workerinput[OVERRIDE] = shown_path(self._override, node.config.rootpath)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Let go of what a worker sent, once everybody has unpacked it: pytest holds reports to the end."""
        yield
        if not self._verbose:
            _here.pop(report, None)

    @pytest.hookimpl(wrapper=True, optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config) -> Generator[None, Any, Any]:
        """Look after who replaces dead workers."""
        scheduler = self._scheduler = yield
        distribution = config.pluginmanager.getplugin("dsession")
        if hasattr(getattr(distribution, "nodemanager", None), "setup_node"):
            self._do_without(distribution)
        return scheduler

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Remember the worker that is gone, which pytest-xdist is about to replace, and the case that it died with."""
        self._gone = node
        units = getattr(self._scheduler, "workqueue", None)
        if not isinstance(units, OrderedDict):  # single tests are handed out, not units of work
            return
        assigned = self._scheduler.assigned_work.get(node, {}).values()
        running = next((i for unit in assigned for i, has_run in unit.items() if not has_run), None)
        if running is not None and running.partition("::")[0].endswith(SUFFIXES):
            self._crashed.add(running)
            self._scheduler.workqueue = _Spared(units, self._crashed)

    def _do_without(self, distribution: Any) -> None:
        """Catch what starting a worker raises: pytest-xdist calls no hook there before the host has answered."""
        replace = distribution.nodemanager.setup_node

        def replace_or_do_without(*args: Any) -> Any:
            try:
                return replace(*args)
            except Exception as exc:  # what it is depends on the way to the host: refused, not found, timed out
                self._go_on(distribution, exc)
                return self._gone  # which pytest-xdist takes off its list next

        distribution.nodemanager.setup_node = replace_or_do_without

    def _go_on(self, distribution: Any, exc: Exception) -> None:
        """Say that the worker is lost; stop the run if nobody can take over."""
        gateway = self._gone.gateway
        name = f"{gateway.id} ({str(gateway.spec).rpartition('main_thread_only//')[2]})"
        gone = f"worker {name} is lost and cannot be replaced ({type(exc).__name__}: {exc})"
        able = [node for node in self._scheduler.nodes if not node.shutting_down]
        if not self._scheduler.collection_is_completed:
            distribution.shouldstop = f"{gone}, before any case was run"
        elif not able and (left := self._left()):
            tests = f"{left} tests were" if left != 1 else "1 test was"
            distribution.shouldstop = f"{gone}; {tests} left that nobody could take over"
        else:
            distribution.report_line(gone)

    def _left(self) -> int:
        """Return how many tests no worker has."""
        units: OrderedDict[str, _Unit] | None = getattr(self._scheduler, "workqueue", None)
        if units is None:
            return len(getattr(self._scheduler, "pending", ()))
        to_run = (nodeid for unit in units.values() for nodeid, has_run in unit.items() if not has_run)
        return sum(nodeid not in self._crashed for nodeid in to_run)


class _Spared(OrderedDict[str, _Unit]):
    """Units of work; those that are *crashed* count as run when their unit is handed out."""

    def __init__(self, units: OrderedDict[str, _Unit], crashed: set[str]) -> None:
        super().__init__(units)
        self.crashed = crashed

    def popitem(self, last: bool = True) -> tuple[str, _Unit]:
        """Take a unit out; one with nothing left to run only where there is no other, or its worker would idle."""
        while True:
            scope, unit = super().popitem(last)
            unit.update(dict.fromkeys(self.crashed & unit.keys(), True))
            if not self or not all(unit.values()):
                return scope, unit


def lost_case(nodeid: str, suite: GoldenSuite, variants: Collection[str]) -> Iterator[tuple[GoldenCase, str]]:
    """Yield the case of *suite* that a worker died with, by what its node id says, and its configuration.

    Some of the parameters in its id may be no part of the configuration: one of the known *variants* is the largest
    that they hold.
    """
    name = nodeid.partition("::")[2]
    for case in suite.cases:
        rest = name.removeprefix(case.id)
        if rest and (rest == name or rest[0] != "["):
            continue
        parameters = rest[1:-1]
        parts = set(parameters.split("-"))
        fits = [one for one in variants if set(filter(None, one.split("-"))) <= parts]
        yield case, parameters if parameters in variants or not fits else max(fits, key=len)
