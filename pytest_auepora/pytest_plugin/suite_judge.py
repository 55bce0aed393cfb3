"""The results of cases as their reports arrive, by run; and the verdict on each run, with what is accepted of it.

One in the process that has the results of all cases: the test `suite` of a suite asks it, else the controller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..core.run import CaseResult, Run
from ..errors import AueporaError, BaselineError, HistoryError
from ..evaluation.answer_codec import RecordedOutputs
from ..evaluation.reuse import documents_digest
from ..regression.accept import Acceptance, Accepted, accept
from ..regression.baseline import GIT_COMMIT
from ..regression.baseline_file import anchor_path, read_baseline
from ..regression.outcomes import BaselineNote, GateKind, GateOutcome, Note
from ..regression.verdict import Verdict, judge
from .case_reports import CaseReport, run_provenance
from .output import SuiteOutcome, outcome_of
from .session import AueporaSession, SuiteVariant

if TYPE_CHECKING:
    from ..cause.why import Question

Key = tuple[str, str]
"""A golden file, as node ids write it, and a configuration."""


@dataclass(eq=False, repr=False)
class SuiteJudge:
    """What the reports of cases say, by golden file and configuration, and what was judged of it.

    ``runs`` have the results; ``provenance``, that of each case; ``nodeids``, those of the cases; ``digests``, of what
    was retrieved, where ``--auepora-why`` asks; ``full_answers``, those that are to be kept beside the baseline;
    ``judged``, the runs that a test `suite` had judged.
    """

    session: AueporaSession
    runs: dict[Key, Run] = field(default_factory=dict)
    provenance: dict[Key, dict[str, Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    nodeids: dict[Key, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    digests: dict[Key, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    full_answers: dict[Key, dict[str, RecordedOutputs]] = field(default_factory=lambda: defaultdict(dict))
    judged: dict[Key, JudgedRun] = field(default_factory=dict)
    _looks: dict[Key, list[dict[str, CaseResult]]] = field(default_factory=lambda: defaultdict(list))  # answers of each

    def add(self, case_report: CaseReport, nodeid: str) -> None:
        """Add what an item measured to its run; a rerun replaces the earlier result."""
        key, result = (case_report.path, case_report.variant), case_report.result
        looks = self._looks[key]
        if case_report.kind == "look":
            looks.extend({} for _ in range(len(looks), result.looks))
            looks[result.looks - 1][result.case_id] = result
            self.run(*key).cases[result.case_id].looks = result.looks
            return
        self.run(*key).add([result])
        if case_report.kind:
            return
        for look in looks:
            look.pop(result.case_id, None)
        if self.session.options.why:
            self._note_documents(key, case_report)
        if self.session.options.keeps_answers:
            outputs = next((r.outputs for r in case_report.recordings if r.outputs is not None), None)
            self.full_answers[key] |= {result.case_id: outputs} if outputs is not None else {}
        self.nodeids[key][nodeid] = None
        if case_report.provenance:  # a skipped case has none
            self.provenance[key][result.case_id] = case_report.provenance

    def _note_documents(self, key: Key, case_report: CaseReport) -> None:
        """Note what was retrieved, where all answers to the case had the same documents."""
        found = [one.outputs.retrieved if one.outputs is not None else [] for one in case_report.recordings]
        digests = {documents_digest((doc.id, doc.text, doc.metadata) for doc in documents) for documents in found}
        if len(digests) == 1:
            self.digests[key][case_report.result.case_id] = digests.pop()

    def run(self, path: str, variant: str) -> Run:
        """Return the run of a golden file under a configuration."""
        if (run := self.runs.get((path, variant))) is None:
            run = self.runs[path, variant] = self.session.load(path).variant(variant).blank_run()
        return run

    def full_run(self, variant: SuiteVariant) -> Run | None:
        """Return the run of *variant*, None as long as a case has no result."""
        run = self.runs.get(variant.key)
        return run if run is not None and run.is_full else None

    def told(self, variant: SuiteVariant) -> SuiteOutcome | None:
        """Return what the test of a suite told: however often it is run, the suite is judged once."""
        judged = self.judged.get(variant.key)
        return outcome_of(judged.run, judged.told, judged.verdict.notes) if judged is not None else None

    def judge_suite(
        self, variant: SuiteVariant, looks: Sequence[Run] = (), *, can_look: bool = False
    ) -> SuiteOutcome | None:
        """Judge a full run for its test; None where every case is to be asked once more before.

        *looks* have the answers to those who were asked so before; *can_look* says whether they can be.
        """
        accepting = self.session.options.accepting
        judged = self._judge(self.runs[variant.key], accepting=accepting, looks=looks, can_look=can_look)
        if judged.verdict.wants_look:
            return None
        judged.told = tuple(judged.verdict.gates)
        self.judged[variant.key] = judged
        return self.told(variant)

    def question(self, variant: SuiteVariant) -> Question | None:
        """Return what is to be asked of a suite that was judged, to show why it is worse; None where it is accepted."""
        from ..cause.why import Question

        if (judged := self.judged.get(variant.key)) is None or judged.accepting:
            return None
        try:
            accepted = variant.accepted_texts()
        except HistoryError as exc:
            judged.verdict.notes.append(Note("history not read", detail=str(exc)))
            accepted = None
        cases, digests = variant.suite.golden.cases, self.digests[variant.key]
        return Question(judged.run, judged.verdict, cases, accepted, digests=digests, looks=judged.looks)

    def finish(self, key: Key, *, complete: bool) -> JudgedRun:
        """Return the run as its test `suite` judged it, else judge it now; an incomplete one is not accepted."""
        accepting = self.session.options.accepting and complete
        judged = self.judged.get(key)
        if judged is None or not judged.stands or judged.accepting != accepting:
            judged = self._judge(self.runs[key], accepting=accepting, looks=self.looks_at(key))
            if key in self.session.unselected:
                judged.verdict.leave_unjudged("suite not selected")
        return judged

    def looks_at(self, key: Key) -> list[Run]:
        """Return the further answers to all cases, where a test asked for them."""
        cases = self.runs[key].cases
        asked = {i for i, result in cases.items() if result.state != "skipped"}
        looks = takewhile(lambda look: look and asked <= look.keys(), self._looks[key])
        return [replace(self.runs[key], cases={**cases, **look}) for look in looks]

    def _judge(self, run: Run, *, accepting: bool, looks: Sequence[Run], can_look: bool = False) -> JudgedRun:
        variant, options = self.session.load(run.path).variant(run.variant), self.session.options
        suite, golden = variant.suite, variant.suite.golden
        run.cases = {i: run.cases[i] for i in run.expected_ids if i in run.cases}
        run.provenance, differing = run_provenance(self.provenance[variant.key].values())
        if self.session.commit and not self.session.asks_nothing:  # a replay is of another commit
            run.provenance = {**run.provenance, GIT_COMMIT: self.session.commit}
        baseline, note = variant.baseline
        verdict = judge(
            run, golden.gates, golden.policy, suite.metrics,
            baseline=baseline, baseline_note=note, accepting=accepting, pruning=options.prune,
            require_baseline=self.session.config.getoption("auepora_require_baseline"),
            calibrations=suite.calibrations, anchor=variant.anchor, further=looks, can_look=can_look,
        )  # fmt: skip
        verdict.notes += [differing] if differing is not None else []
        return JudgedRun(run, variant, verdict, accepting, dict(run.cases), looks)


JUDGE: pytest.StashKey[SuiteJudge] = pytest.StashKey()
"""On the config of the process that has the results of all cases."""


@dataclass(eq=False, repr=False, slots=True)
class JudgedRun:
    """A run, its verdict, and what was accepted of it: into the baseline, and as the anchor.

    ``results`` are those that were judged; ``looks`` has the further answers to every case; ``told`` are the gates that
    a test `suite` has told.
    """

    run: Run
    variant: SuiteVariant
    verdict: Verdict
    accepting: bool
    results: Mapping[str, CaseResult]
    looks: Sequence[Run]
    told: Sequence[GateOutcome] = ()
    accepted: Accepted | None = None
    anchored: Accepted | None = None

    @property
    def stands(self) -> bool:
        """Whether the results of the run are those that were judged: a test may have run cases once more since."""
        return len(self.results) == len(self.run.cases) and all(
            self.results.get(case_id) is result for case_id, result in self.run.cases.items()
        )

    def accept(self, full: Mapping[str, RecordedOutputs], *, complete: bool) -> None:
        """Accept the results into the baseline, where the whole run is *complete*; *full* are answers to be kept."""
        run, notes, options = self.run, self.verdict.notes, self.variant.suite.session.options
        if not complete:
            notes.append(Note("stopped"))
            return
        if options.prune and not run.is_full:
            notes.append(Note("not pruned"))
        path = self.variant.baseline_path
        self.accepted = accepted = self._write("baseline", path, options.intents, prune=options.prune)
        if accepted is None or options.preview:
            return
        for name, falls in accepted.falls.items():
            data = {"falls": falls.times, "before": falls.before, "after": falls.after}
            notes.append(Note("falls add up", (name,), data=data))
        if accepted.written and self.verdict.baseline_note.state == "unreadable":
            self.verdict.baseline_note = BaselineNote("replaced", self.verdict.baseline_note.place)
        try:
            self._keep_answers({*accepted.added, *accepted.changed}, full)
        except AueporaError as exc:
            notes.append(Note("accepted answers not kept", detail=str(exc)))

    def _keep_answers(self, changed: Collection[str], full: Mapping[str, RecordedOutputs]) -> None:
        """Keep the accepted answers, where anybody wants them: those to *changed* cases, and those not kept yet."""
        if (texts := self.variant.accepted_texts()) is None:
            return
        baseline = read_baseline(self.variant.baseline_path)
        cases = baseline.cases if baseline is not None else {}
        texts.save({
            i: (case, full.get(i))
            for i, case in self.run.cases.items()
            if case.state in ("passed", "failed") and i in cases
            and (i in changed or not texts.is_of(i, cases[i]) or texts[i].hash != case.content_hash)
        }, cases)  # fmt: skip

    def write_anchor(self, *, complete: bool) -> None:
        """Make the run the anchor, where it is *complete* and has all cases."""
        if not (complete and self.run.is_full):
            self.verdict.notes.append(Note("anchor not written"))
            return
        self.anchored = self._write("anchor", anchor_path(self.variant.baseline_path), ["anew"], prune=True)

    def _write(self, kind: GateKind, path: Path, words: Collection[str], *, prune: bool) -> Accepted | None:
        """Return what was written to *path*; a gate that failed says why nothing was."""
        suite = self.variant.suite
        preview = suite.session.options.preview
        how = Acceptance(words, prune, suite.golden.policy, suite.metrics, suite.advisory, preview)
        try:
            return accept(path, self.run, how)
        except BaselineError as exc:
            gate = GateOutcome(kind, "failed", reason="not written", detail=str(exc), owner=self.run.owner)
            self.verdict.gates.append(gate)
            return None
