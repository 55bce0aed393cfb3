"""What the verdict on a run found, in numbers and words of closed sets.  `reporting.wording` makes sentences of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ..base.records import Place, Record
from .compare import Change, Incomparable
from .thresholds import Bound, part_title

GateKind = Literal["threshold", "regression", "coverage", "baseline", "calibration", "anchor", "hook"]
GateState = Literal["passed", "failed", "inconclusive", "not judged", "advisory"]
Outcome = Literal["worse", "better", "same", "inconclusive"]
Method = Literal["", "statistical", "tolerance", "interval"]
Look = Literal["", "first", "second", "only"]
"""Which answers decided: ``first``, today's; ``second``, those and a further answer to every case; ``only``, today's
where a second look was due and could not be had."""

PASS_RATE = "pass rate"
"""Used in place of a metric: the share of answers that hold all checks of their case."""

HAS_NUMBER = "has a number"
"""The statistic of a metric that is n/a in some answers: the share of its answers with a number."""

GateReason = Literal[
    "",
    # thresholds
    "all skipped", "no case ran", "nothing measured", "no worst value",
    # coverage
    "aggregate failed", "must_pass skipped", "cases vanished", "metrics vanished", "scores lost", "labels moved",
    # baseline and anchor
    "no baseline", "unreadable", "not written", "nothing compares", "damaged data", "suspects",
    # judges
    "calibration unusable", "judge gone", "judge silent",
    # any
    "hook raised", "partial run", "suite not selected", "not finished", "alpha too small", "too few clusters",
    "no spread",
]  # fmt: skip
"""Why there is no number to hold against a limit, or what is missing."""


@dataclass(slots=True)
class Test(Record):
    """The test of one member of the family: a metric, a slice, the pass rate."""

    __test__: ClassVar[bool] = False  # no test of pytest's

    alpha: float
    """The level of the family."""
    p: float
    """One-sided p-value of a drop, the member taken alone."""
    p_adjusted: float
    """The same, corrected for the family."""
    p_gain: float
    """p-value of a gain, corrected for the family."""
    drop: float
    """Mean loss, in the metric's own unit; negative for a gain."""
    min_effect: float
    """A smaller drop is no regression."""
    margin: float
    """The drop that `same` rules out."""
    clusters: int
    """Independent groups of cases."""
    members: int = 1
    """How many members the family has."""
    has_slices: bool = False
    """Whether some of these are slices."""
    n_worse: int = 0
    """Clusters whose scores fell."""
    n_better: int = 0
    """Clusters whose scores rose."""
    hall_agrees: bool = True
    """Whether Hall's t, corrected for skewness, confirms a small p-value."""
    lower: float | None = None
    """Lower bound of the mean gain at 1 - alpha; null below two clusters."""
    detectable: float | None = None
    """Minimum detectable drop (80 % power) if every answer gets a little worse; what one case costs a steady metric."""
    detectable_answers: int | None = None
    """The same in lost answers; null for a steady metric."""
    cases_needed: int | None = None
    """Cases that would decide an inconclusive member; null if no number would."""
    second_p: float | None = None
    """The corrected p-value of the second answers alone; null without further looks."""


@dataclass(slots=True)
class Interval(Record):
    """The test of a metric with an interval of its own: quantiles, ratios, times, costs."""

    effect: Literal["difference", "ratio"]
    """What is bounded: after - before, or after / before."""
    min_effect: float
    """A smaller loss is no regression; of a ratio a share."""
    margin: float
    """The loss that `same` rules out."""
    clusters: int
    """Independent groups of cases."""
    alpha: float = 0.0
    """One minus the level of the interval; 0 where none was computed."""
    value: float | None = None
    """The effect; null where it cannot be told."""
    low: float | None = None
    """Lower end of the interval."""
    high: float | None = None
    """Upper end of the interval."""
    unchanged: bool = False
    """Whether no case differs."""


@dataclass(slots=True)
class GateOutcome(Record):
    """One judgement on a whole suite."""

    kind: GateKind
    """What is judged: a threshold, a metric against baseline or anchor, what is missing."""
    state: GateState
    """What became of it; that of a judge that is not calibrated is `advisory`."""
    metric: str = ""
    """The metric; `pass rate`, `error_rate` or `pass_rate`; empty where it is about none."""
    stat: str = "aggregate"
    """The statistic of it: aggregate, mean, p10, …; `has a number`."""
    slice: Mapping[str, str] = field(default_factory=dict)
    """Labels of the cases it is about, with their values; empty for all."""
    reason: GateReason = ""
    """Why there is no number to judge, or what is missing."""
    value: float | None = None
    """The value of this run."""
    before: float | None = None
    """The value of the baseline or anchor; null without one."""
    op: Literal["", "min", "max"] = ""
    """Which side a threshold bounds."""
    limit: float | None = None
    """The limit of a threshold; of a tolerance the largest drop."""
    n: Place = 0
    """Cases that were measured, or that compare."""
    total: Place = 0
    """Cases that ran."""
    n_error: Place = 0
    """Errored cases that the value counts as worst."""
    owner: str = ""
    """Who answers for it."""
    line: Place = 0
    """Line of the golden file, or 0."""
    method: Method = ""
    """How it is compared with the baseline."""
    word: Literal["", "worse", "better", "same", "inconclusive"] = ""
    """Against a baseline: worse, better, same or inconclusive; else empty."""
    steady: bool = False
    """Whether accepted answers never differed in it."""
    test: Test | None = None
    """The test of a family's member; null for others."""
    interval: Interval | None = None
    """The test of a metric with an interval of its own; null for others."""
    look: Look = ""
    """Which answers decided."""
    would_be: Literal["", "passed", "failed", "inconclusive"] = ""
    """The state that an advisory gate would have if it counted."""
    worst_cases: tuple[str, ...] = ()
    """Cases that cost most, worst first, at most five."""
    names: tuple[str, ...] = ()
    """What is missing: cases, metrics, labels; what does not compare."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Vanished cases that seem to have another id now."""
    incomparable: Mapping[str, Incomparable] = field(default_factory=dict)
    """Where nothing compares, or a baseline is damaged: why, by metric."""
    unpaired: Mapping[str, int] = field(default_factory=dict)
    """Where nothing compares: how many cases are new, changed or skipped."""
    detail: str = ""
    """In other people's words: an exception, why scores are n/a, the path of a file."""

    @property
    def title(self) -> str:
        """``recall@5``, ``p10(recall@5)``, ``ndcg@10{scenario=typo}``, ``pass rate``; without a metric its kind."""
        return self.part if self.metric else self.kind

    @property
    def part(self) -> str:
        """The metric with its statistic and slice."""
        return part_title(self.metric, self.stat, self.slice)

    @property
    def key(self) -> str:
        """What identifies it among the gates of its suite, in every run."""
        return f"{self.kind}: {self.part or self.reason}"

    @property
    def bound(self) -> Bound | None:
        """The limit of a threshold."""
        return Bound(self.op, self.limit) if self.op and self.limit is not None else None

    @property
    def is_of_whole(self) -> bool:
        """Whether it compares a metric over the whole suite with the baseline."""
        return self.kind == "regression" and bool(self.metric) and not self.slice

    @property
    def is_of_slice(self) -> bool:
        """Whether it compares a slice with the baseline."""
        return self.kind == "regression" and bool(self.slice)

    @property
    def costliest(self) -> tuple[str, ...]:
        """The worst cases, except those of coverage, which cost nothing."""
        return () if self.kind == "coverage" else self.worst_cases


AdvisoryReason = Literal["policy", "no calibration", "another judge", "not good enough", "unusable", "judge gone"]
"""Why a judge cannot fail the run: the golden file says so; there is no calibration; there is one of another judge; it
says that the judge does not agree well enough with people; its file cannot be used, or its judge is not there any more,
both of which a gate reports."""


@dataclass(slots=True)
class Advisory(Record):
    """Why the scores of an LLM judge cannot fail the run."""

    reason: AdvisoryReason
    """What is the matter."""
    place: str = ""
    """The calibration file that is wanted, as people would look for it."""
    changes: tuple[Change, ...] = ()
    """How the calibrated judge differs from this one."""
    detail: str = ""
    """What the calibration found, or what is wrong with its file."""


NoteKind = Literal[
    # about the comparison
    "slices too small", "not comparable with the anchor", "anchor not compared", "accepted once", "falls add up",
    "reused",
    # about labels
    "no label met",
    # about an update
    "stopped", "not pruned", "anchor not written", "accepted answers not kept",
    # about the run
    "provenance differs", "replayed", "resumed", "nothing recorded", "recorded otherwise", "recorded at another commit",
    "history not written", "history not read", "answers cut", "call limit", "looked once", "no output",
]  # fmt: skip
"""What no other datum of a verdict or run says.  What the findings, gates, moved labels and quarantines of cases, the
looks taken, or metrics that vary now say for themselves needs no note.  With ``names`` and ``data`` of each:

- ``slices too small``: slices, as ``scenario=typo``; ``clusters``, the clusters of each.
- ``not comparable with the anchor``: metrics of one reason, which ``why`` has.
- ``anchor not compared``: nothing in the run compares with it.
- ``accepted once``: ``cases`` of the baseline with one accepted answer.
- ``reused``: ``cases`` that were asked, ``reused``, for how many of them the accepted answers serve.
- ``falls add up``: one metric; ``falls`` in a row that were accepted, ``before`` and ``after``.
- ``no label met``: labels that were wanted; ``cases``; ``returned``, what came instead; ``source``, a label that is the
  name of a source document.
- ``provenance differs``: between the cases of the run: ``why`` has each key.
- ``accepted answers not kept``, ``history not written``, ``history not read``: the reason in ``detail``.
- ``replayed``, ``resumed``, ``nothing recorded``: the run that answers are from in ``detail``; ``taken`` of ``cases``.
- ``recorded otherwise``, ``recorded at another commit``: the run in ``detail``; ``why`` has what differs.
- ``no output``: cases without a recorded output.
- ``answers cut``: cases whose recorded texts were too large.
- ``looked once``: why there was no second look, in ``detail``: workers, scope (of the fixture in ``names``), replay,
  limit (of calls), budget.
- ``call limit``: ``limit``, the most calls of the run, null for a budget; cases that were not asked again for it.
"""


@dataclass(slots=True)
class Note(Record):
    """Something worth knowing about a run that fails nothing."""

    kind: NoteKind
    """What it is about."""
    names: tuple[str, ...] = ()
    """The metrics, cases, slices or labels concerned."""
    detail: str = ""
    """In other people's words, or a name."""
    why: Incomparable | None = None
    """What differs, where something does."""
    data: dict[str, Any] = field(default_factory=dict)
    """Further numbers and names, by kind."""


BaselineState = Literal["", "none", "other variant", "unreadable", "replaced", "unnamed", "not compared"]


@dataclass(slots=True)
class BaselineNote(Record):
    """Why a run has no baseline."""

    state: BaselineState = ""
    """`none`, there is no file; `other variant`, there is one of no variant; `unreadable`; `replaced`, it was, and an
    update wrote a new one; `unnamed`, the configuration has no name of its own; `not compared`, the run ended before;
    empty where the run has a baseline."""
    place: str = ""
    """The file, as people would look for it."""
    detail: str = ""
    """What is wrong with the file; the name of the other one."""
