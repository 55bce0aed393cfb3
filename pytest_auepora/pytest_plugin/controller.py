"""The controller process: gathers results from reports, judges each run, writes baselines; publishes what has no item.

Files are written here alone.  Under xdist it sees no item and no system, only reports and golden files.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Literal

import pytest

from ..base.complaints import Problem
from ..base.files import shown_path
from ..base.text import names_words
from ..core.run import run_title
from ..errors import BaselineError
from ..io.golden.names import SUITE_ITEM
from ..regression.baseline_file import anchor_path, read_baseline
from ..regression.cause import Cause, Refusal
from ..regression.outcomes import GateOutcome, Note
from ..reporting.text import harmless, printable
from ..reporting.wording.gates import gate_title
from .case_reports import unpack
from .collect import Collecting
from .keys import SUFFIXES
from .options import is_asked_for, runs_tests, words_of
from .output import SuiteOutcome, outcome_of, wrapped
from .session import AueporaSession
from .suite_judge import JUDGE, JudgedRun, Key, SuiteJudge

if TYPE_CHECKING:
    from ..reporting.side_by_side import SideBySide

_Test = tuple[tuple[str, int, str], SuiteOutcome]
"""Path, line and name of what is published as a test, and how it ended."""

_TOOLS = (".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".eggs", ".*cache*", "__pycache__", "node_modules")
"""Folders of other programs, which may be large."""
_UNMEASURED = (
    "ran without being measured, so it has no result: another plugin ran it instead of pytest, or replaced its report"
)
_LEFT_OUT = (
    "no result, though nobody deselected them: another plugin or a conftest.py left them out or ran them by itself; "
    "whoever leaves tests out says so by the hook pytest_deselected"
)


class RunController:
    """One per pytest run; *collecting* says which cases it covers."""

    def __init__(self, session: AueporaSession, collecting: Collecting) -> None:
        self.session, self.config, self._collecting = session, session.config, collecting
        self.judge = session.config.stash[JUDGE] = SuiteJudge(session)
        self.unused: list[Problem] = []  # baselines that no run used
        self.none_selected = False  # golden cases were asked for, and the selection has none
        self.finished_runs: list[JudgedRun] = []
        self.crashed: list[str] = []
        self.unmeasured = False  # a golden file or case failed without a result, as for a wrong corpus
        self.complete = False
        self.published: dict[str, None] = {}  # node ids of tests that no item ran
        self._reported_suites: set[str] = set()  # node ids of tests `suite`

    @pytest.hookimpl(tryfirst=True)  # a report that passed without a result is failed before others read it
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what an item measured to its run; a rerun replaces the earlier result."""
        case_reports = unpack(report)
        if not case_reports and report.passed and report.when == "call":
            self._fail_unmeasured(report)
        for case_report in case_reports:
            self.judge.add(case_report, report.nodeid)
        if not case_reports and report.failed and report.when not in ("setup", "call", "teardown"):
            self.crashed.append(report.nodeid)  # a worker died with it
        path, _, name = report.nodeid.partition("::")
        if not path.endswith(SUFFIXES):
            return
        if name.partition("[")[0] == SUITE_ITEM:
            self._reported_suites.add(report.nodeid)
        else:
            self.unmeasured |= report.failed

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a golden file could not be read, which fails by itself."""
        self.unmeasured |= report.failed and report.nodeid.endswith(SUFFIXES)

    @cached_property
    def compared(self) -> list[SideBySide]:
        """The suites that several configurations ran, side by side, once everything has been judged."""
        runs = [judged.run for judged in self.finished_runs]
        if len({run.path for run in runs}) == len(runs):
            return []
        from ..reporting.side_by_side import side_by_sides

        return side_by_sides(runs, registry=self.session.project.registry)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Judge after all items have run; ``-x`` and Ctrl-C raise through here, and nothing is written."""
        try:
            outcome = yield
        except BaseException:
            self._judge_all()
            raise
        if runs_tests(self.config):
            self.complete = not session.shouldstop and not session.shouldfail
            self._judge_all()
            self._publish(session)
        return outcome

    def _judge_all(self) -> None:
        for nodeid in self.crashed:
            self._end_lost(nodeid, "the worker process running this case died")
        reference = self.config.getini("auepora_reference")  # comes first; the order of execution differs under xdist
        for key in sorted(self.judge.runs, key=lambda key: (key[0], key[1] != reference, key[1])):
            self.finished_runs.append(self._finish(key))
        for judged in self.finished_runs:
            if raised := self.session.project.tell_finished(judged.run, judged.verdict):
                gate = GateOutcome("hook", "failed", reason="hook raised", detail=raised, owner=judged.run.owner)
                judged.verdict.gates.append(gate)
                if (recorder := self.config.pluginmanager.get_plugin("auepora-recorder")) is not None:  # comes last
                    recorder.pytest_auepora_run_finished(judged.run, judged.verdict)

    def _finish(self, key: Key) -> JudgedRun:
        """Return the run, judged, and accept what is to be accepted."""
        options = self.session.options
        judged = self.judge.finish(key, complete=self.complete)
        self._note_limits(judged)
        if options.why and judged.verdict.cause is None and not judged.accepting:
            judged.verdict.cause = Cause(refusal=self._why_not_asked(judged))
        if options.updating:
            judged.accept(self.judge.full_answers[key], complete=self.complete)
        if options.anchoring:
            judged.write_anchor(complete=self.complete)
        return judged

    def _why_not_asked(self, judged: JudgedRun) -> Refusal:
        """Return why the test `suite` did not ask what a run got worse by."""
        from ..cause.why import not_worse

        why = not_worse(judged.run, judged.verdict)
        if why == "no baseline" or (why and judged.run.is_full):
            return why
        if self.config.getoption("dist", "no") != "no":
            return "workers"
        if not judged.run.is_full or judged.variant.key in self.session.unselected:
            return "partial run"
        return "scope" if judged.variant.key in self.session.suite_items else "evaluate"

    def _note_limits(self, judged: JudgedRun) -> None:
        """Note what was not asked again for want of calls, and why there was no second look where one was due."""
        run, session, verdict = judged.run, self.session, judged.verdict
        refused = [i for path, variant, i in session.budget.refused if (path, variant) == (run.path, run.variant)]
        if names := tuple(sorted(filter(None, refused))):
            verdict.notes.append(Note("call limit", names, data={"limit": session.options.max_calls}))
        if verdict.look != "only":
            return
        fixture = judged.variant.suite.golden.fixture
        if session.asks_nothing:
            verdict.notes.append(Note("looked once", detail="replay"))
        elif "" in refused:
            limit = "limit" if session.options.max_calls is not None else "budget"
            verdict.notes.append(Note("looked once", detail=limit))
        elif self.config.getoption("dist", "no") != "no":
            verdict.notes.append(Note("looked once", detail="workers"))
        elif not judged.variant.can_return:
            verdict.notes.append(Note("looked once", (fixture,), detail="scope"))

    def _fail_unmeasured(self, report: pytest.TestReport) -> None:
        """Fail the report of a golden case that passed without a result, and count the case as errored."""
        if self.session.find_case(report.nodeid) is not None:
            report.outcome, report.longrepr = "failed", wrapped(self.config, _UNMEASURED)
            self._end_lost(report.nodeid, _UNMEASURED)

    def _end_lost(self, nodeid: str, why: str) -> None:
        """Count a case that has no result as errored, unless it has one by now."""
        path, _, _ = nodeid.partition("::")
        known = [variant for known_path, variant in self.judge.runs if known_path == path]
        if (found := self.session.find_asked(nodeid, known)) is None:
            return  # a test of the user's own
        variant, case = found
        run = self.judge.run(*variant.key)
        if case.id not in run.cases:
            run.add([variant.flow.end(case, RuntimeError(why)).result])

    def _publish(self, session: pytest.Session) -> None:
        """Send each judgement that no item tells through pytest's own reporting, as if a test had run.

        The terminal, the counts, junit, ``--lf`` and the exit code then all know it.
        """
        tests = [*chain.from_iterable(map(self._untold, self.finished_runs)), *self._left_out()]
        tests += [*self._nothing_measured(), *self._unused_baselines()]
        each_line = self.config.get_verbosity() > 0  # each shows the progress, which is not to run backwards
        session.testscollected += 0 if each_line else len(tests)
        for location, outcome in tests:
            session.testscollected += each_line
            place: dict[str, Any] = {"nodeid": f"{location[0]}::{location[2]}", "location": location}
            self.published[place["nodeid"]] = None
            self.config.hook.pytest_runtest_logstart(**place)
            for report in self._reports(place, outcome):
                self.config.hook.pytest_runtest_logreport(report=report)
            self.config.hook.pytest_runtest_logfinish(**place)

    def _reports(self, place: dict[str, Any], outcome: SuiteOutcome) -> Iterator[pytest.TestReport]:
        """Yield the reports of all three phases: plugins that write reports wait for the last, or look up the first."""
        path, line, name = place["location"]
        longrepr: Any = None
        if outcome.state == "failed":
            longrepr = wrapped(self.config, outcome.text)
        elif outcome.state == "skipped":
            longrepr = path, line + 1, f"Skipped: {outcome.text}"
        now = time()
        phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
        for when in phases:
            judged: dict[str, Any] = {"outcome": "passed", "longrepr": None}
            if when == "call":
                judged = {"outcome": outcome.state, "longrepr": longrepr}
            yield pytest.TestReport(
                **place, **judged, keywords={name: 1}, when=when, duration=0.0, start=now, stop=now,
                user_properties=outcome.properties,
            )  # fmt: skip

    def _left_out(self) -> Iterator[_Test]:
        """Yield a failure for each run of which cases that were to run, or that nobody deselected, have no result."""
        if not self.complete:
            return
        for path, selected in self._collecting.selected.items():
            variants: Mapping[str, Iterable[str]] = selected
            if not self._collecting.is_narrowed:
                variants = dict.fromkeys(selected or [""], self.session.load(path).cases)
            for variant, case_ids in variants.items():
                run = self.judge.runs.get((path, variant))
                if missing := [case_id for case_id in case_ids if run is None or case_id not in run.cases]:
                    name = f"gate: cases without a result{f'[{variant}]' if variant else ''}"
                    message = f"{path}: {names_words(missing)}: {_LEFT_OUT}"
                    yield (path, 0, name), _failed(harmless(message))

    def _untold(self, judged: JudgedRun) -> Iterator[_Test]:
        """Yield the test `suite` of a full run that has no item, or whose item another plugin ended, if gates failed.

        Else the failed gates that the item does not tell.
        """
        run, golden = judged.run, judged.variant.suite.golden
        variant = f"[{run.variant}]" if run.variant else ""
        key = judged.variant.key
        if run.is_full and not judged.told and key not in self.session.unselected:
            outcome = outcome_of(run, judged.verdict.gates, judged.verdict.notes)
            if outcome.state == "failed" or self.session.suite_items.get(key) not in self._reported_suites:
                place = run.path, golden.line - 1, printable(f"{SUITE_ITEM}{variant}")
                self.session.suite_items[key] = f"{place[0]}::{place[2]}"
                yield place, outcome
            return
        told = set(map(id, judged.told))
        for gate in judged.verdict.gates:
            if gate.state == "failed" and id(gate) not in told:
                place = run.path, 0, printable(f"gate: {gate_title(gate)}{variant}")
                yield place, outcome_of(run, [gate], judged.verdict.notes)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Have ``--lf`` run the cases of a suite that failed: without them there is nothing to judge."""
        if (cache := getattr(self.config, "cache", None)) is None:
            return
        failed = cache.get("cache/lastfailed", {})
        suites = [key for key, nodeid in self.session.suite_items.items() if nodeid in failed]
        if suites:
            cache.set(
                "cache/lastfailed", failed | {nodeid: True for key in suites for nodeid in self.judge.nodeids[key]}
            )

    def _nothing_measured(self) -> list[_Test]:
        """Return a failure where golden cases were asked for and none ran, unless the user selected others."""
        if self.judge.runs or not is_asked_for(self.config) or self.crashed or self.unmeasured or not self.complete:
            return []
        if self._collecting.selected or not self._collecting.is_everything:
            self.none_selected = True
            return []
        globs = " ".join(words_of(self.config, "auepora_files"))
        message = (
            f"no golden case was run: no file matches auepora_files = {globs}; "
            "rename yours, name it on the command line, or set auepora_files"
        )
        return [(("auepora", 0, "golden files"), _failed(message))]

    @property
    def required_unused(self) -> list[Problem]:
        """The baselines that no run used, where baselines are required."""
        return self.unused if self.config.getoption("auepora_require_baseline") else []

    def _unused_baselines(self) -> list[_Test]:
        """Find baselines that no run used, where everything ran; return failures if baselines are required."""
        is_full = (
            self.complete and not (self.crashed or self.unmeasured) and all(r.is_full for r in self.judge.runs.values())
        )
        if not is_full or not is_asked_for(self.config) or not self._collecting.is_everything:
            return []
        used = [self.session.load(path).variant(variant).baseline_path for path, variant in self.judge.runs]
        self.unused = list(_unused_baselines(self.config, used, self.session.options.override))
        return [((p.path, 0, "gate: unused baseline"), _failed(str(p))) for p in self.required_unused]


def _failed(message: str) -> SuiteOutcome:
    return SuiteOutcome("failed", [message], [])


def _unused_baselines(config: pytest.Config, used: Iterable[Path], override: Path | None) -> Iterator[Problem]:
    """Yield the baselines below the collected folders, or in *override*, that are none of those *used*.

    An anchor goes with its baseline.
    """
    used_paths = {path.resolve() for path in used}
    used_paths |= {anchor_path(path) for path in used_paths}
    for path in _baseline_files(config, override):
        baseline_path = path.with_name(path.name.replace(".anchor.json", ".json"))
        if path.resolve() in used_paths or (baseline_path != path and baseline_path.exists()):
            continue
        try:
            baseline = read_baseline(path)
        except BaselineError:
            continue  # nobody knows that it is one
        if baseline is not None:  # it was not deleted meanwhile
            message = (
                f"no run used this baseline of {run_title(baseline.suite, baseline.variant)}, so nothing was compared "
                "with it; bring back its golden file or configuration, or delete the baseline"
            )
            yield Problem(shown_path(path, config.rootpath), 0, 0, message)


def _baseline_files(config: pytest.Config, override: Path | None) -> list[Path]:
    if override is not None:
        return sorted(override.glob("*.json")) if override.is_dir() else []
    # suites may lie in hidden folders
    skipped = [*(pattern for pattern in config.getini("norecursedirs") if pattern != ".*"), *_TOOLS]
    start, files = config.invocation_params.dir, set[Path]()
    for top in config.args:
        for folder, folders, names in os.walk(start / top):
            folders[:] = [name for name in folders if not any(fnmatch(name, pattern) for pattern in skipped)]
            if Path(folder).name == "__baselines__":
                files.update(Path(folder, name) for name in names if name.endswith(".json"))
    return sorted(files)
