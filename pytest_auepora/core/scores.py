"""Scores: one metric on one case, in many cases, and as a value that tests compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..errors import NotMeasuredError
from .metrics_base import Measurement, NotApplicable

if TYPE_CHECKING:
    from .run import CaseResult, MetricInfo, Run
    from .scoring import Aggregate

__all__ = ["ComparableScore", "Score", "ScoreList", "ScoreState"]

ScoreState = Literal["number", "n/a", "error", "aggregate"]


@dataclass(slots=True)
class Score:
    """One metric on one case: a number, or why there is none.

    ``state`` is ``"number"``; ``"n/a"`` with a ``reason``; ``"error"`` with a ``reason``; or
    ``"aggregate"`` where the case has no value of its own and counts in the aggregate only.
    """

    state: ScoreState
    value: float | None = None
    reason: str = ""
    data: Any = None
    details: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, seen: Measurement | NotApplicable) -> Score:
        """Wrap what a metric returned."""
        if isinstance(seen, NotApplicable):
            return cls("n/a", reason=seen.reason)
        if seen.value is None:
            return cls("aggregate", data=seen.data, details=seen.details)
        value = float(seen.value)
        if math.isnan(value):
            return cls("error", reason="the metric returned NaN")
        return cls("number", value, "", seen.data, seen.details)

    @classmethod
    def failed(cls, reason: str) -> Score:
        """Make the score of a case that could not be measured."""
        return cls("error", reason=reason)

    def said(self) -> dict[str, Any]:
        """Return it as plain data, without what is as it is by default."""
        out: dict[str, Any] = {"state": self.state, "value": self.value}
        if self.reason:
            out["reason"] = self.reason
        if self.data is not None:
            out["data"] = self.data
        if self.details:
            out["details"] = self.details
        return out

    @property
    def measurement(self) -> Measurement | None:
        """What `Metric.aggregate` takes, or None for n/a and errors."""
        if self.state in ("n/a", "error"):
            return None
        return Measurement(self.value, self.data, self.details)


class ScoreList(list[Score]):
    """The scores of one metric in some cases, in order, with the *ids* of these cases."""

    def __init__(self, scores: Iterable[Score], ids: Sequence[str] = ()) -> None:
        super().__init__(scores)
        self.ids = ids

    @property
    def measured(self) -> list[Score]:
        """Those with something to aggregate."""
        return [s for s in self if s.state not in ("n/a", "error")]

    @property
    def values(self) -> list[float | None]:
        """Their values: all that a mean is made of."""
        return [s.value for s in self.measured]

    def details(self, key: str) -> Iterable[Any]:
        """Return what those with something to aggregate have under *key* in their details, where they have it."""
        return (s.details[key] for s in self if key in s.details and s.state not in ("n/a", "error"))

    @property
    def measurements(self) -> list[Measurement]:
        """The same as their metric gave it."""
        return [seen for s in self if (seen := s.measurement) is not None]


@dataclass(frozen=True, slots=True, eq=False)
class ComparableScore:
    """One metric of a run (``run["recall@5"]``) or of a case (``auepora_case["token_f1"]``).

    ``value`` is None where nothing was measured; comparing then raises `NotMeasuredError` with ``reason``,
    so a missing score can never pass for a good or a bad one.  Over a run, errored cases count as the
    metric's worst value.
    """

    name: str
    value: float | None
    reason: str = ""
    run: Run | None = None
    case: CaseResult | None = None
    info: MetricInfo | None = None
    aggregate: Aggregate | None = None

    def __float__(self) -> float:
        if self.value is None:
            raise NotMeasuredError(f"{self.name} has no value: {self.reason or 'nothing was measured'}")
        return self.value

    def __lt__(self, other: float) -> bool:
        return float(self) < float(other)

    def __le__(self, other: float) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: float) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: float) -> bool:
        return float(self) >= float(other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float, ComparableScore)):
            return float(self) == float(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.value))

    def __repr__(self) -> str:
        if self.value is None:
            return f"<{self.name}: no value, {self.reason}>"
        return f"<{self.name} {self.value:.4f}>"
