"""What every report says of a run, as data for formats: programs, and formats of other people."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..base.records import Record
from ..core.run import Run
from ..regression.verdict import Verdict
from .wording.cases import case_diagnosis
from .wording.cause import cause_lines
from .wording.checks import advisory_lines, problem_lines, still_failing_lines
from .wording.gates import gate_sentence
from .wording.notes import baseline_text, notes_of
from .wording.steps import next_steps
from .wording.verdict import first_line


@dataclass(slots=True)
class CaseSentences(Record):
    """What reports say of one case."""

    diagnosis: str = ""
    """What went wrong."""
    failures: list[str] = field(default_factory=list)
    """The checks that fail it, and how often."""
    still_failing: list[str] = field(default_factory=list)
    """The assertions that failed in every accepted answer as well."""
    advisory: list[str] = field(default_factory=list)
    """What judges say that are not calibrated."""


@dataclass(slots=True)
class Sentences(Record):
    """What reports say of one run, in words; made of the data beside it."""

    first_line: str = ""
    """The outcome and its cause."""
    baseline: str = ""
    """Why there is no baseline."""
    gates: list[str] = field(default_factory=list)
    """One for each gate of the verdict, in its order."""
    notes: list[str] = field(default_factory=list)
    """What is worth knowing and fails nothing."""
    cause: list[str] = field(default_factory=list)
    """By which part it is worse, where that was asked."""
    next_steps: list[str] = field(default_factory=list)
    """What to do next."""
    cases: dict[str, CaseSentences] = field(default_factory=dict)
    """By id, the cases of which there is something to say."""


def sentences_of(run: Run, verdict: Verdict) -> Sentences:
    """Return what reports say of a run."""
    out = Sentences(
        first_line(run, verdict), baseline_text(verdict.baseline_note),
        [gate_sentence(gate, run, verdict.notes) for gate in verdict.gates], notes_of(run, verdict),
        cause_lines(verdict.cause, run), [*next_steps(run, verdict, html="")],
    )  # fmt: skip
    for case_id, case in run.cases.items():
        said = CaseSentences(
            case_diagnosis(case, verdict.case_comparisons.get(case_id), run.metrics), problem_lines(case, run.metrics),
            still_failing_lines(case, run.metrics), advisory_lines(case, run.metrics),
        )  # fmt: skip
        if said != CaseSentences():
            out.cases[case_id] = said
    return out
