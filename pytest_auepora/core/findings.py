"""What was found about a case: values, never sentences.  `reporting.wording` has the sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..base.records import Count, Number, Record

CheckKind = Literal["assertion", "threshold", "fell", "no number", "metric raised", "raised", "timed out"]
"""What can fail a case: an assertion; a threshold of the case; a score further below its centre than allowed; a score
that is n/a and was a number in an accepted answer; a metric that raised; a system that raised, or took too long."""

FindingStatus = Literal["failed", "not asked again", "varies", "suspect", "still failing", "excused", "advisory"]
"""``failed`` and ``not asked again`` fail the case, the others are listed: ``varies``, chance is not ruled out;
``suspect``, no answer could rule it out; ``still failing``, it failed in all accepted answers; ``excused``, the case is
about to be accepted, or in quarantine; ``advisory``, an LLM judge that is not calibrated says so."""

FAILING: tuple[FindingStatus, ...] = ("failed", "not asked again")
"""The statuses that fail a case."""

SuspectReason = Literal["", "cached", "no further answer", "too much varies"]
"""Why a failed check could not be confirmed: the answers of today are byte for byte equal where accepted ones differ;
no further answer was to be had; so many checks varied when accepted that ten failures in a row prove nothing."""

Rank = Count
"""A rank, from 1 on."""

Value = Number | None | Literal["error"]
"""A score of one answer: a number, None for n/a, or ``error``."""


@dataclass(slots=True)
class Finding(Record):
    """One check of a case that failed in today's first answer."""

    kind: CheckKind
    """What failed."""
    metric: str = ""
    """The metric; of an assertion its key in the golden file (must_contain, …); empty for the system."""
    status: FindingStatus = "failed"
    """What became of it."""
    before: float | None = None
    """The centre of the accepted answers, where the score is compared with it."""
    after: float | None = None
    """The score of today's first answer."""
    op: Literal["", "min", "max"] = ""
    """Which side of a threshold is bounded."""
    limit: float | None = None
    """The threshold; of a fall the largest that is allowed."""
    reason: str = ""
    """In other people's words: what was raised, or why there is no number."""
    details: dict[str, Any] = field(default_factory=dict)
    """What an assertion found, as `regression.checks.ASSERTIONS` names it."""
    held: int = 0
    """Accepted answers in which the check held."""
    accepted: int = 0
    """Accepted answers; 0 without a comparable baseline."""
    passed: int = 0
    """Answers of today in which it held."""
    asked: int = 1
    """Answers of today."""
    needed: int = 1
    """Answers in a row that must fail before the case does; 0 where the check cannot fail it alone."""
    varied: int = 0
    """Checks of the whole baseline that held in some accepted answers and not in others."""
    suspect: SuspectReason = ""
    """Why it is suspect."""

    @property
    def fails(self) -> bool:
        """Whether it fails its case."""
        return self.status in FAILING

    @property
    def is_worse(self) -> bool:
        """Whether it fails its case, and held in all accepted answers: the case is worse than its baseline."""
        return self.fails and 0 < self.held == self.accepted


class OneAnswer(NamedTuple):
    """One answer to a case, as far as checks look at it."""

    values: Mapping[str, Value]
    assertions: Mapping[str, bool]
    answered: bool = True
    timed_out: bool = False


@dataclass(slots=True)
class Answers(Record):
    """Several answers to one case, in order, as far as checks and comparisons need them."""

    values: dict[str, list[Value]] = field(default_factory=dict)
    """By metric, the score of each answer."""
    assertions: dict[str, list[bool]] = field(default_factory=dict)
    """By key of the golden file (must_contain, …), whether it held in each answer."""
    answered: list[bool] = field(default_factory=list)
    """Whether the system answered, or raised."""

    @classmethod
    def of(cls, singles: Sequence[OneAnswer]) -> Answers:
        """Put *singles* into columns."""
        names = dict.fromkeys(name for one in singles for name in one.values)
        keys = dict.fromkeys(key for one in singles for key in one.assertions)
        return cls(
            {name: [one.values.get(name, None if one.answered else "error") for one in singles] for name in names},
            {key: [one.assertions.get(key, False) for one in singles] for key in keys},
            [one.answered for one in singles],
        )

    def each(self) -> list[OneAnswer]:
        """Return the answers one by one."""
        return [
            OneAnswer(
                {name: column[i] for name, column in self.values.items()},
                {key: column[i] for key, column in self.assertions.items()} if answered else {}, answered,
            )
            for i, answered in enumerate(self.answered)
        ]  # fmt: skip

    def __len__(self) -> int:
        return len(self.answered)


@dataclass(slots=True)
class WorstRepeat(Record):
    """Of a case that was repeated, the worst answer: failures show it."""

    repeat: int
    """Its number, counted from 1."""
    of: int
    """How often the case was asked."""
    failing: int
    """How many of these answers fail a check."""
    outputs: dict[str, Any] | None = None
    """What it gave; null where it is the first, which the case has."""
    ranks: dict[str, int | None] = field(default_factory=dict)
    """The ranks of its relevant labels."""
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The details of its scores, by metric."""
