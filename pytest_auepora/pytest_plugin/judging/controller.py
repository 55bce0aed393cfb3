"""The controller process: gathers results from reports, judges each run, writes baselines; publishes what has no item.

Files are written here alone.  Under xdist it sees no item and no system, only reports and golden files.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pytest

from ...base.complaints import Problem
from ...base.text import names_words
from ...core.run import Run
from ...errors import HistoryError
from ...io.golden.names import SUITE_ITEM
from ...regression.baseline import GIT_COMMIT
from ...regression.cause import Cause, Refusal
from ...regression.outcomes import GateOutcome, Note
from ...regression.verdict import judge
from ...reporting.text import harmless, printable
from ...reporting.wording.gates import gate_title
from ..case_reports import run_provenance, unpack
from ..collect import Collecting
from ..keys import SUFFIXES
from ..options import is_asked_for, runs_tests, words_of
from ..output import SuiteOutcome, outcome_of, wrapped
from ..session import AueporaSession, SuiteVariant
from .gathered import GatheredResults
from .judged_run import JudgedRun
from .published import failed, publish, test_reports
from .unused_baselines import unused_baselines

if TYPE_CHECKING:
    from ...cause.why import Question
    from ...reporting.side_by_side import SideBySide

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
        session.suite_judge = self
        self.gathered = GatheredResults(session)
        self.unused: list[Problem] = []  # baselines that no run used
        self.none_selected = False  # golden cases were asked for, and the selection has none
        self.finished_runs: list[JudgedRun] = []
        self.crashed: list[str] = []
        self.unmeasured = False  # a golden file or case failed without a result, as for a wrong corpus
        self.complete = False
        self.published: dict[str, None] = {}  # node ids of tests that no item ran
        self._judged: dict[tuple[str, str], JudgedRun] = {}  # by tests `suite`
        self._reported_suites: set[str] = set()  # node ids of tests `suite`

    @pytest.hookimpl(tryfirst=True)  # a report that passed without a result is failed before others read it
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what an item measured to its run; a rerun replaces the earlier result."""
        case_reports = unpack(report)
        if not case_reports and report.passed and report.when == "call":
            self._fail_unmeasured(report)
        for case_report in case_reports:
            self.gathered.add(case_report, report.nodeid)
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
        from ...reporting.side_by_side import side_by_sides

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
        for key in sorted(self.gathered.runs, key=lambda key: (key[0], key[1] != reference, key[1])):
            self.finished_runs.append(self._finish(key))
        for judged in self.finished_runs:
            if raised := self.session.project.tell_finished(judged.run, judged.verdict):
                gate = GateOutcome("hook", "failed", reason="hook raised", detail=raised, owner=judged.run.owner)
                judged.verdict.gates.append(gate)
                if (recorder := self.config.pluginmanager.get_plugin("auepora-recorder")) is not None:  # comes last
                    recorder.pytest_auepora_run_finished(judged.run, judged.verdict)

    def told(self, variant: SuiteVariant) -> SuiteOutcome | None:
        """Return what the test of a suite told: however often it is run, the suite is judged once."""
        judged = self._judged.get((variant.suite.path, variant.name))
        return outcome_of(judged.run, judged.told, judged.verdict.notes) if judged is not None else None

    def full_run(self, variant: SuiteVariant) -> Run | None:
        """Return the run of *variant*, None as long as a case has no result."""
        run = self.gathered.runs.get((variant.suite.path, variant.name))
        return run if run is not None and run.is_full else None

    def judge_suite(
        self, variant: SuiteVariant, looks: Sequence[Run] = (), *, can_look: bool = False
    ) -> SuiteOutcome | None:
        """Judge a suite for its test; None where every case is to be asked once more before."""
        key = variant.suite.path, variant.name
        accepting = self.session.options.accepting
        judged = self._judge(self.gathered.runs[key], accepting=accepting, looks=looks, can_look=can_look)
        if judged.verdict.wants_look:
            return None
        judged.told, judged.looks = tuple(judged.verdict.gates), looks
        self._judged[key] = judged
        return self.told(variant)

    def question(self, variant: SuiteVariant) -> Question | None:
        """Return what is to be asked of a suite that was judged, to show why it is worse."""
        from ...cause.why import Question

        key = variant.suite.path, variant.name
        if (judged := self._judged.get(key)) is None or judged.accepting:
            return None
        try:
            accepted = variant.accepted.texts()
        except HistoryError as exc:
            judged.verdict.notes.append(Note("history not read", detail=str(exc)))
            accepted = None
        cases = variant.suite.golden.cases
        return Question(
            judged.run, judged.verdict, cases, accepted, digests=self.gathered.digests[key], looks=judged.looks
        )

    def _finish(self, key: tuple[str, str]) -> JudgedRun:
        """Return the run as its test `suite` judged it, else judge it now, and accept what is to be accepted."""
        options = self.session.options
        accepting = options.accepting and self.complete
        judged = self._judged.get(key)
        if judged is None or not judged.stands or judged.accepting != accepting:
            judged = self._judge(self.gathered.runs[key], accepting=accepting, looks=self.gathered.looks_at(key))
            if key in self.session.unselected:
                judged.verdict.leave_unjudged("suite not selected")
        self._note_limits(judged)
        if options.why and judged.verdict.cause is None and not accepting:
            judged.verdict.cause = Cause(refusal=self._why_not_asked(judged))
        if options.updating:
            judged.accept(self.gathered.full_answers[key], complete=self.complete)
        if options.anchoring:
            judged.write_anchor(complete=self.complete)
        return judged

    def _why_not_asked(self, judged: JudgedRun) -> Refusal:
        """Return why the test `suite` did not ask what a run got worse by."""
        from ...cause.why import not_worse

        why = not_worse(judged.run, judged.verdict)
        if why == "no baseline" or (why and judged.run.is_full):
            return why
        if self.config.getoption("dist", "no") != "no":
            return "workers"
        key = judged.run.path, judged.run.variant
        if not judged.run.is_full or key in self.session.unselected:
            return "partial run"
        return "scope" if key in self.session.suite_items else "evaluate"

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

    def _judge(self, run: Run, *, accepting: bool, looks: Sequence[Run] = (), can_look: bool = False) -> JudgedRun:
        variant, options = self.session.load(run.path).variant(run.variant), self.session.options
        suite, golden = variant.suite, variant.suite.golden
        run.cases = {i: run.cases[i] for i in run.expected_ids if i in run.cases}
        run.provenance, differing = run_provenance(self.gathered.provenance[run.path, run.variant].values())
        if self.session.commit and not self.session.asks_nothing:  # a replay is of another commit
            run.provenance = {**run.provenance, GIT_COMMIT: self.session.commit}
        baseline, note = variant.baseline
        verdict = judge(
            run, golden.gates, golden.policy, suite.metrics,
            baseline=baseline, baseline_note=note, accepting=accepting, pruning=options.prune,
            require_baseline=self.config.getoption("auepora_require_baseline"),
            calibrations=suite.calibrations, anchor=variant.anchor, further=looks, can_look=can_look,
        )  # fmt: skip
        verdict.notes += [differing] if differing is not None else []
        return JudgedRun(run, variant, verdict, accepting, dict(run.cases))

    def _fail_unmeasured(self, report: pytest.TestReport) -> None:
        """Fail the report of a golden case that passed without a result, and count the case as errored."""
        if self.session.find_case(report.nodeid) is not None:
            report.outcome, report.longrepr = "failed", wrapped(self.config, _UNMEASURED)
            self._end_lost(report.nodeid, _UNMEASURED)

    def _end_lost(self, nodeid: str, why: str) -> None:
        """Count a case that has no result as errored, unless it has one by now."""
        if (found := self.session.find_case(nodeid)) is None:
            return  # a test of the user's own
        from ..workers import lost_variant

        suite, case = found
        variant = suite.variant(
            lost_variant(nodeid, {variant for path, variant in self.gathered.runs if path == suite.path})
        )
        run = self.gathered.run(suite.path, variant.name)
        if case.id not in run.cases:
            run.add([variant.flow.end(case, RuntimeError(why)).result])

    def _publish(self, session: pytest.Session) -> None:
        """Publish each judgement that no item tells."""
        tests = [reports for judged in self.finished_runs for reports in self._untold(judged)]
        tests += [*self._left_out(), *self._nothing_measured(), *self._unused_baselines()]
        publish(session, tests, self.published)

    def _left_out(self) -> Iterator[list[pytest.TestReport]]:
        """Yield a failure for each run of which cases that were to run, or that nobody deselected, have no result."""
        if not self.complete:
            return
        for path, selected in self._collecting.selected.items():
            variants: Mapping[str, Iterable[str]] = selected
            if not self._collecting.is_narrowed:
                variants = dict.fromkeys(selected or [""], self.session.load(path).cases)
            for variant, case_ids in variants.items():
                run = self.gathered.runs.get((path, variant))
                if missing := [case_id for case_id in case_ids if run is None or case_id not in run.cases]:
                    name = f"gate: cases without a result{f'[{variant}]' if variant else ''}"
                    message = f"{path}: {names_words(missing)}: {_LEFT_OUT}"
                    yield test_reports(self.config, (path, 0, name), failed(harmless(message)))

    def _untold(self, judged: JudgedRun) -> Iterator[list[pytest.TestReport]]:
        """Yield the test `suite` of a full run that has no item, or whose item another plugin ended, if gates failed.

        Else the failed gates that the item does not tell.
        """
        run, golden = judged.run, judged.variant.suite.golden
        variant = f"[{run.variant}]" if run.variant else ""
        key = run.path, run.variant
        if run.is_full and not judged.told and key not in self.session.unselected:
            outcome = outcome_of(run, judged.verdict.gates, judged.verdict.notes)
            if outcome.state == "failed" or self.session.suite_items.get(key) not in self._reported_suites:
                place = run.path, golden.line - 1, printable(f"{SUITE_ITEM}{variant}")
                self.session.suite_items[key] = f"{place[0]}::{place[2]}"
                yield test_reports(self.config, place, outcome)
            return
        told = set(map(id, judged.told))
        for gate in judged.verdict.gates:
            if gate.state == "failed" and id(gate) not in told:
                place = run.path, 0, printable(f"gate: {gate_title(gate)}{variant}")
                yield test_reports(self.config, place, outcome_of(run, [gate], judged.verdict.notes))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Have ``--lf`` run the cases of a suite that failed: without them there is nothing to judge."""
        if (cache := getattr(self.config, "cache", None)) is None:
            return
        failed = cache.get("cache/lastfailed", {})
        suites = [key for key, nodeid in self.session.suite_items.items() if nodeid in failed]
        if suites:
            cache.set(
                "cache/lastfailed", failed | {nodeid: True for key in suites for nodeid in self.gathered.nodeids[key]}
            )

    def _nothing_measured(self) -> list[list[pytest.TestReport]]:
        """Return a failure where golden cases were asked for and none ran, unless the user selected others."""
        if self.gathered.runs or not is_asked_for(self.config) or self.crashed or self.unmeasured or not self.complete:
            return []
        if self._collecting.selected or not self._collecting.is_everything:
            self.none_selected = True
            return []
        globs = " ".join(words_of(self.config, "auepora_files"))
        message = (
            f"no golden case was run: no file matches auepora_files = {globs}; "
            "rename yours, name it on the command line, or set auepora_files"
        )
        return [test_reports(self.config, ("auepora", 0, "golden files"), failed(message))]

    @property
    def required_unused(self) -> list[Problem]:
        """The baselines that no run used, where baselines are required."""
        return self.unused if self.config.getoption("auepora_require_baseline") else []

    def _unused_baselines(self) -> list[list[pytest.TestReport]]:
        """Find baselines that no run used, where everything ran; return failures if baselines are required."""
        is_full = (
            self.complete
            and not (self.crashed or self.unmeasured)
            and all(r.is_full for r in self.gathered.runs.values())
        )
        if not is_full or not is_asked_for(self.config) or not self._collecting.is_everything:
            return []
        used = [self.session.load(path).variant(variant).baseline_path for path, variant in self.gathered.runs]
        self.unused = list(unused_baselines(self.config, used, self.session.options.override))
        gate = "gate: unused baseline"
        return [test_reports(self.config, (p.path, 0, gate), failed(str(p))) for p in self.required_unused]
