"""A score that compares like a float, refuses to where there is no number, and remembers where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import NotMeasuredError

if TYPE_CHECKING:
    from .run import CaseResult, MetricInfo, Run
    from .scoring import Aggregate

__all__ = ["ComparableScore"]


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
