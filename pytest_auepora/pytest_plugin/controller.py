"""The controller process: gathers results from reports, judges each run, writes baselines; publishes what has no item.

Files are written here alone.  Under xdist it sees no item and no system, only reports and golden files.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Literal

import pytest

from ..base.complaints import Problem
from ..base.files import shown_path
from ..base.text import names_words
from ..core.run import Run, run_title
from ..errors import BaselineError, HistoryError
from ..io.golden.names import SUITE_ITEM
from ..regression.accept import Acceptance, Accepted, accept
from ..regression.baseline import GIT_COMMIT
from ..regression.baseline_file import anchor_path, read_baseline
from ..regression.cause import Cause, Refusal
from ..regression.outcomes import BaselineNote, GateKind, GateOutcome, Note
from ..regression.verdict import Verdict, judge
from ..reporting.text import harmless, printable
from ..reporting.wording.gates import gate_title
from .case_reports import CaseReport, run_provenance, unpack
from .collect import Collecting
from .keys import SUFFIXES
from .options import is_asked_for, runs_tests, words_of
from .output import SuiteOutcome, outcome_of, wrapped
from .session import AueporaSession, SuiteVariant

if TYPE_CHECKING:
    from ..cause.why import Question
    from ..core.run import CaseResult
    from ..evaluation.answer_codec import RecordedOutputs
    from ..reporting.side_by_side import SideBySide

_Outcome = Literal["passed", "failed", "skipped"]
_PASSED: tuple[_Outcome, None] = "passed", None
_UNMEASURED = (
    "ran without being measured, so it has no result: another plugin ran it instead of pytest, or replaced its report"
)
_LEFT_OUT = (
    "no result, though nobody deselected them: another plugin or a conftest.py left them out or ran them by itself; "
    "whoever leaves tests out says so by the hook pytest_deselected"
)


@dataclass(eq=False, repr=False, slots=True)
class JudgedRun:
    """A run, its verdict, and what was accepted of it: into the baseline, and as the anchor.

    ``results`` are those that were judged; ``told`` are the gates that a test `suite` has told; ``looks`` has the
    further answers to every case.
    """

    run: Run
    variant: SuiteVariant
    verdict: Verdict
    accepting: bool
    results: Mapping[str, CaseResult]
    told: Sequence[GateOutcome] = ()
    accepted: Accepted | None = None
    anchored: Accepted | None = None
    looks: Sequence[Run] = ()

    @property
    def stands(self) -> bool:
        """Whether the results of the run are those that were judged: a test may have run cases once more since."""
        return len(self.results) == len(self.run.cases) and all(
            self.results.get(case_id) is result for case_id, result in self.run.cases.items()
        )


class RunController:
    """One per pytest run; *collecting* says which cases it covers."""

    def __init__(self, session: AueporaSession, collecting: Collecting) -> None:
        self.session, self.config, self._collecting = session, session.config, collecting
        session.suite_judge = self
        self._keeps_answers = session.options.keeps_answers
        self.unused: list[Problem] = []  # baselines that no run used
        self.none_selected = False  # golden cases were asked for, and the selection has none
        self.runs: dict[tuple[str, str], Run] = {}
        self._provenance: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)  # of each case
        self.finished_runs: list[JudgedRun] = []
        self.crashed: list[str] = []
        self.unmeasured = False  # a golden file or case failed without a result, as for a wrong corpus
        self.complete = False
        self.published: dict[str, None] = {}  # node ids of tests that no item ran
        self._judged: dict[tuple[str, str], JudgedRun] = {}  # by tests `suite`
        self._nodeids: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)  # of the cases
        self._looks: dict[tuple[str, str], list[dict[str, CaseResult]]] = defaultdict(list)  # the answers of each
        self._reported_suites: set[str] = set()  # node ids of tests `suite`
        self._digests: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # of what was retrieved
        self._full_answers: dict[tuple[str, str], dict[str, RecordedOutputs]] = defaultdict(dict)  # to be kept

    @pytest.hookimpl(tryfirst=True)  # a report that passed without a result is failed before others read it
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add what an item measured to its run; a rerun replaces the earlier result."""
        case_reports = unpack(report)
        if not case_reports and report.passed and report.when == "call":
            self._fail_unmeasured(report)
        for case_report in case_reports:
            path, variant, result = case_report.path, case_report.variant, case_report.result
            looks = self._looks[path, variant]
            if case_report.kind == "look":
                looks.extend({} for _ in range(len(looks), result.looks))
                looks[result.looks - 1][result.case_id] = result
                self._run(path, variant).cases[result.case_id].looks = result.looks
                continue
            self._run(path, variant).add([result])
            if case_report.kind:
                continue
            for look in looks:
                look.pop(result.case_id, None)
            if self.session.options.why:
                self._note_documents(case_report)
            if self._keeps_answers:
                outputs = next((r.outputs for r in case_report.recordings if r.outputs is not None), None)
                self._full_answers[path, variant] |= {result.case_id: outputs} if outputs is not None else {}
            self._nodeids[path, variant][report.nodeid] = None
            if case_report.provenance:  # a skipped case has none
                self._provenance[path, variant][result.case_id] = case_report.provenance
        if not case_reports and report.failed and report.when not in ("setup", "call", "teardown"):
            self.crashed.append(report.nodeid)  # a worker died with it
        path, _, name = report.nodeid.partition("::")
        if not path.endswith(SUFFIXES):
            return
        if name.partition("[")[0] == SUITE_ITEM:
            self._reported_suites.add(report.nodeid)
        else:
            self.unmeasured |= report.failed

    def _note_documents(self, case_report: CaseReport) -> None:
        """Note what was retrieved, where all answers to the case had the same documents."""
        from ..history.accepted import documents_digest

        found = [one.outputs.retrieved if one.outputs is not None else [] for one in case_report.recordings]
        digests = {documents_digest((doc.id, doc.text, doc.metadata) for doc in documents) for documents in found}
        if len(digests) == 1:
            self._digests[case_report.path, case_report.variant][case_report.result.case_id] = digests.pop()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that a golden file could not be read, which fails by itself."""
        self.unmeasured |= report.failed and report.nodeid.endswith(SUFFIXES)

    def _run(self, path: str, variant: str) -> Run:
        if (run := self.runs.get((path, variant))) is None:
            run = self.runs[path, variant] = self.session.load(path).variant(variant).blank_run()
        return run

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
        for key in sorted(self.runs, key=lambda key: (key[0], key[1] != reference, key[1])):
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
        run = self.runs.get((variant.suite.path, variant.name))
        return run if run is not None and run.is_full else None

    def judge_suite(
        self, variant: SuiteVariant, looks: Sequence[Run] = (), *, can_look: bool = False
    ) -> SuiteOutcome | None:
        """Judge a suite for its test; None where every case is to be asked once more before."""
        key = variant.suite.path, variant.name
        accepting = self.session.options.accepting
        judged = self._judge(self.runs[key], accepting=accepting, looks=looks, can_look=can_look)
        if judged.verdict.wants_look:
            return None
        judged.told, judged.looks = tuple(judged.verdict.gates), looks
        self._judged[key] = judged
        return self.told(variant)

    def question(self, variant: SuiteVariant) -> Question | None:
        """Return what is to be asked of a suite that was judged, to show why it is worse."""
        from ..cause.why import Question

        key = variant.suite.path, variant.name
        if (judged := self._judged.get(key)) is None or judged.accepting:
            return None
        try:
            accepted = variant.accepted_texts
        except HistoryError as exc:
            judged.verdict.notes.append(Note("history not read", detail=str(exc)))
            accepted = None
        cases = variant.suite.golden.cases
        return Question(judged.run, judged.verdict, cases, accepted, digests=self._digests[key], looks=judged.looks)

    def _finish(self, key: tuple[str, str]) -> JudgedRun:
        """Return the run as its test `suite` judged it, else judge it now, and accept what is to be accepted."""
        options = self.session.options
        accepting = options.accepting and self.complete
        judged = self._judged.get(key)
        if judged is None or not judged.stands or judged.accepting != accepting:
            judged = self._judge(self.runs[key], accepting=accepting, looks=self._looks_at(key))
            if key in self.session.unselected:
                _leave_unjudged(judged.verdict)
        self._note_limits(judged)
        if options.why and judged.verdict.cause is None and not accepting:
            judged.verdict.cause = Cause(refusal=self._why_not_asked(judged))
        if options.updating:
            self._accept(judged)
        if options.anchoring:
            self._write_anchor(judged)
        return judged

    def _why_not_asked(self, judged: JudgedRun) -> Refusal:
        """Return why the test `suite` did not ask what a run got worse by."""
        from ..cause.why import not_worse

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

    def _looks_at(self, key: tuple[str, str]) -> list[Run]:
        """Return the further answers to all cases, where a test asked for them."""
        cases = self.runs[key].cases
        asked = {i for i, result in cases.items() if result.state != "skipped"}
        looks = takewhile(lambda look: look and asked <= look.keys(), self._looks[key])
        return [replace(self.runs[key], cases={**cases, **look}) for look in looks]

    def _judge(self, run: Run, *, accepting: bool, looks: Sequence[Run] = (), can_look: bool = False) -> JudgedRun:
        variant, options = self.session.load(run.path).variant(run.variant), self.session.options
        suite, golden = variant.suite, variant.suite.golden
        run.cases = {i: run.cases[i] for i in run.expected_ids if i in run.cases}
        run.provenance, differing = run_provenance(self._provenance[run.path, run.variant].values())
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

    def _accept(self, judged: JudgedRun) -> None:
        run, notes, options = judged.run, judged.verdict.notes, self.session.options
        if not self.complete:
            notes.append(Note("stopped"))
            return
        if options.prune and not run.is_full:
            notes.append(Note("not pruned"))
        path = judged.variant.baseline_path
        judged.accepted = accepted = _write_accepted(judged, "baseline", path, options.intents, prune=options.prune)
        if accepted is None or options.preview:
            return
        for name, falls in accepted.falls.items():
            data = {"falls": falls.times, "before": falls.before, "after": falls.after}
            notes.append(Note("falls add up", (name,), data=data))
        if accepted.written and judged.verdict.baseline_note.state == "unreadable":
            judged.verdict.baseline_note = BaselineNote("replaced", judged.verdict.baseline_note.place)
        changed = {*accepted.added, *accepted.changed}
        notes += judged.variant.keep_answers(run, changed, self._full_answers[run.path, run.variant])

    def _write_anchor(self, judged: JudgedRun) -> None:
        if not (self.complete and judged.run.is_full):
            judged.verdict.notes.append(Note("anchor not written"))
            return
        path = anchor_path(judged.variant.baseline_path)
        judged.anchored = _write_accepted(judged, "anchor", path, ["anew"], prune=True)

    def _fail_unmeasured(self, report: pytest.TestReport) -> None:
        """Fail the report of a golden case that passed without a result, and count the case as errored."""
        if self.session.find_case(report.nodeid) is not None:
            report.outcome, report.longrepr = "failed", wrapped(self.config, _UNMEASURED)
            self._end_lost(report.nodeid, _UNMEASURED)

    def _end_lost(self, nodeid: str, why: str) -> None:
        """Count a case that has no result as errored, unless it has one by now."""
        if (found := self.session.find_case(nodeid)) is None:
            return  # a test of the user's own
        from .workers import lost_variant

        suite, case = found
        variant = suite.variant(lost_variant(nodeid, {variant for path, variant in self.runs if path == suite.path}))
        run = self._run(suite.path, variant.name)
        if case.id not in run.cases:
            run.add([variant.flow.end(case, RuntimeError(why)).result])

    def _publish(self, session: pytest.Session) -> None:
        """Send each judgement that no item tells through pytest's own reporting, as if it were a test.

        The terminal, the counts, junit, ``--lf`` and the exit code then all know it.
        """
        tests = [reports for judged in self.finished_runs for reports in self._untold(judged)]
        tests += [*self._left_out(), *self._nothing_measured(), *self._unused_baselines()]
        each_line = self.config.get_verbosity() > 0  # each shows the progress, which is not to run backwards
        session.testscollected += 0 if each_line else len(tests)
        hook = self.config.hook
        for reports in tests:
            session.testscollected += each_line
            self.published[reports[0].nodeid] = None
            place = {"nodeid": reports[0].nodeid, "location": reports[0].location}
            hook.pytest_runtest_logstart(**place)
            for report in reports:
                hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(**place)

    def _left_out(self) -> Iterator[list[pytest.TestReport]]:
        """Yield a failure for each run of which cases that were to run, or that nobody deselected, have no result."""
        if not self.complete:
            return
        for path, selected in self._collecting.selected.items():
            variants: Mapping[str, Iterable[str]] = selected
            if not self._collecting.is_narrowed:
                variants = dict.fromkeys(selected or [""], self.session.load(path).cases)
            for variant, case_ids in variants.items():
                run = self.runs.get((path, variant))
                if missing := [case_id for case_id in case_ids if run is None or case_id not in run.cases]:
                    name = f"gate: cases without a result{f'[{variant}]' if variant else ''}"
                    message = f"{path}: {names_words(missing)}: {_LEFT_OUT}"
                    yield _test_reports(self.config, (path, 0, name), _failed(harmless(message)))

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
                yield _test_reports(self.config, place, outcome)
            return
        told = set(map(id, judged.told))
        for gate in judged.verdict.gates:
            if gate.state == "failed" and id(gate) not in told:
                place = run.path, 0, printable(f"gate: {gate_title(gate)}{variant}")
                yield _test_reports(self.config, place, outcome_of(run, [gate], judged.verdict.notes))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Have ``--lf`` run the cases of a suite that failed: without them there is nothing to judge."""
        if (cache := getattr(self.config, "cache", None)) is None:
            return
        failed = cache.get("cache/lastfailed", {})
        suites = [key for key, nodeid in self.session.suite_items.items() if nodeid in failed]
        if suites:
            cache.set("cache/lastfailed", failed | {nodeid: True for key in suites for nodeid in self._nodeids[key]})

    def _nothing_measured(self) -> list[list[pytest.TestReport]]:
        """Return a failure where golden cases were asked for and none ran, unless the user selected others."""
        if self.runs or not is_asked_for(self.config) or self.crashed or self.unmeasured or not self.complete:
            return []
        if self._collecting.selected or not self._collecting.is_everything:
            self.none_selected = True
            return []
        globs = " ".join(words_of(self.config, "auepora_files"))
        message = (
            f"no golden case was run: no file matches auepora_files = {globs}; "
            "rename yours, name it on the command line, or set auepora_files"
        )
        return [_test_reports(self.config, ("auepora", 0, "golden files"), _failed(message))]

    @property
    def required_unused(self) -> list[Problem]:
        """The baselines that no run used, where baselines are required."""
        return self.unused if self.config.getoption("auepora_require_baseline") else []

    def _unused_baselines(self) -> list[list[pytest.TestReport]]:
        """Find baselines that no run used, where everything ran; return failures if baselines are required."""
        is_full = self.complete and not (self.crashed or self.unmeasured) and all(r.is_full for r in self.runs.values())
        if not is_full or not is_asked_for(self.config) or not self._collecting.is_everything:
            return []
        used = [self.session.load(path).variant(variant).baseline_path for path, variant in self.runs]
        self.unused = list(_unused_baselines(self.config, used, self.session.options.override))
        gate = "gate: unused baseline"
        return [_test_reports(self.config, (p.path, 0, gate), _failed(str(p))) for p in self.required_unused]


def _write_accepted(
    judged: JudgedRun, kind: GateKind, path: Path, words: Collection[str], *, prune: bool
) -> Accepted | None:
    """Return what was written to *path*; a gate that failed says why nothing was."""
    suite = judged.variant.suite
    preview = suite.session.options.preview
    how = Acceptance(words, prune, suite.golden.policy, suite.metrics, suite.advisory, preview)
    try:
        return accept(path, judged.run, how)
    except BaselineError as exc:
        gate = GateOutcome(kind, "failed", reason="not written", detail=str(exc), owner=judged.run.owner)
        judged.verdict.gates.append(gate)
        return None


def _leave_unjudged(verdict: Verdict) -> None:
    """Judge no gate of a suite whose cases were selected without its test `suite`."""
    for gate in verdict.gates:
        if gate.kind not in ("baseline", "calibration"):
            gate.state, gate.would_be, gate.reason = "not judged", "", "suite not selected"


def _failed(message: str) -> SuiteOutcome:
    return SuiteOutcome("failed", [message], [])


def _test_reports(
    config: pytest.Config, location: tuple[str, int, str], outcome: SuiteOutcome
) -> list[pytest.TestReport]:
    """Return the reports of all three phases: plugins that write reports wait for the last, or look up the first."""
    longrepr: Any = None
    if outcome.state == "failed":
        longrepr = wrapped(config, outcome.text)
    elif outcome.state == "skipped":
        longrepr = location[0], location[1] + 1, f"Skipped: {outcome.text}"
    phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
    now, reports = time(), []
    for when in phases:
        state, text = (outcome.state, longrepr) if when == "call" else _PASSED
        reports.append(
            pytest.TestReport(
                nodeid=f"{location[0]}::{location[2]}", location=location, keywords={location[2]: 1}, when=when,
                outcome=state, longrepr=text, duration=0.0, start=now, stop=now, user_properties=outcome.properties,
            )
        )  # fmt: skip
    return reports


_TOOLS = (".git", ".hg", ".svn", ".tox", ".nox", ".venv", ".eggs", ".*cache*", "__pycache__", "node_modules")
"""Folders of other programs, which may be large."""


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
