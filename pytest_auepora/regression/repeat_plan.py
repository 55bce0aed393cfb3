"""How often each case is asked: once, a fixed number of times, or a few times and more only if something looks bad."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .guards.gates import GateOutcome

from ..core.by_fields import Fixed

__all__ = ["ONCE", "RepeatPlan"]


@dataclass(eq=False, repr=False, slots=True)
class RepeatPlan(Fixed):
    """How often a stochastic system is asked the same question.

    The candidate answers ``first`` times; if any metric then looks bad, all cases are repeated until there
    are ``total`` answers each.  Repeating only the suspicious cases would bias them towards the mean.

    Attributes:
        baseline: answers of each case where they are about to be accepted.
        first, total: answers in the first stage, and in both.
        trigger: the raw p below which a metric looks bad.

    Raises:
        ValueError: no repeats, a second stage smaller than the first, or a trigger that anything would set off.
    """

    baseline: int = 5
    first: int = 3
    total: int = 5
    trigger: float = 0.2

    def __post_init__(self) -> None:
        if self.baseline < 1 or not 1 <= self.first <= self.total:
            raise ValueError(f"needs baseline >= 1 and 1 <= first <= total, not {self}")
        if not 0.0 < self.trigger < 0.5:
            raise ValueError(f"trigger must lie between 0 and 0.5, where nothing differs, not {self.trigger}")

    @classmethod
    def times(cls, n: int) -> RepeatPlan:
        """Return the plan of *n* answers each, whatever they show."""
        return cls(n, n, n)

    @classmethod
    def read(cls, text: str) -> RepeatPlan:
        """Read ``5``, or ``3-5``: three answers each, five where something looks bad.

        Raises:
            ValueError: the text is neither.
        """
        first, dash, total = text.partition("-")
        if not first.strip().isdecimal() or (dash and not total.strip().isdecimal()):
            raise ValueError(f"expected a number of repeats, as 5, or two, as 3-5, got {text!r}")
        if not 1 <= int(first) <= int(total or first):
            raise ValueError(f"expected 1 repeat or more, and the larger number last, got {text!r}")
        return cls(int(total or first), int(first), int(total or first))

    @property
    def two_stage(self) -> bool:
        """Whether there may be a second stage."""
        return self.total > self.first

    def wants_second_stage(self, first: Iterable[GateOutcome]) -> bool:
        """Whether any metric looks bad enough to ask again."""
        return any(self.looks_bad(gate) for gate in first)

    def looks_bad(self, gate: GateOutcome) -> bool:
        """Whether a metric, taken alone, dropped more clearly than chance would in a share ``trigger`` of runs.

        Where the drop is held to a tolerance, whether it exceeds it.
        """
        if gate.kind != "regression":
            return False
        return gate.state == "failed" if gate.p is None else gate.p < self.trigger


ONCE = RepeatPlan.times(1)
