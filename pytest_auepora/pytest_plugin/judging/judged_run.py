"""A run that was judged, and what is accepted of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.run import CaseResult, Run
from ...errors import BaselineError
from ...evaluation.answer_codec import RecordedOutputs
from ...regression.accept import Acceptance, Accepted, accept
from ...regression.baseline_file import anchor_path
from ...regression.outcomes import BaselineNote, GateKind, GateOutcome, Note
from ...regression.verdict import Verdict
from ..session import SuiteVariant


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
        notes += self.variant.accepted.keep(run, {*accepted.added, *accepted.changed}, full)

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
