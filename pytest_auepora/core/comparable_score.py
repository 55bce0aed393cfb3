"""A metric of a run or of a case, as tests compare it with numbers."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from ..errors import NotMeasuredError
from .run import CaseResult, MetricInfo, Run
from .scoring import Aggregate


@dataclass(frozen=True, slots=True, eq=False)
class ComparableScore:
    """One metric of a run (``run["recall@5"]``) or of a case (``auepora_case["token_f1"]``).

    It is used as a number.  ``value`` is None where nothing was measured; using it then raises `NotMeasuredError`
    with ``reason``, so a missing score can never pass for a good or a bad one.  Over a run, errored cases count as the
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
            raise self._not_measured()
        return self.value

    def __bool__(self) -> bool:
        """Return whether the value is not 0; what was not measured is neither true nor false."""
        if self.aggregate is not None and self.aggregate.value is None:  # else the worst value of errors might be true
            raise self._not_measured()
        return bool(float(self))

    def _not_measured(self) -> NotMeasuredError:
        return NotMeasuredError(f"{self.name} has no value: {self.reason or 'nothing was measured'}")

    def __lt__(self, other: float | ComparableScore) -> bool:
        return float(self) < other

    def __le__(self, other: float | ComparableScore) -> bool:
        return float(self) <= other

    def __gt__(self, other: float | ComparableScore) -> bool:
        return float(self) > other

    def __ge__(self, other: float | ComparableScore) -> bool:
        return float(self) >= other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float, ComparableScore)):
            return float(self) == float(other)
        return NotImplemented

    def __add__(self, other: float | ComparableScore) -> float:
        return float(self) + other

    def __sub__(self, other: float | ComparableScore) -> float:
        return float(self) - other

    def __mul__(self, other: float | ComparableScore) -> float:
        return float(self) * other

    def __truediv__(self, other: float | ComparableScore) -> float:
        return float(self) / other

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: float | ComparableScore) -> float:
        return other - float(self)

    def __rtruediv__(self, other: float | ComparableScore) -> float:
        return other / float(self)

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __round__(self, ndigits: int | None = None) -> float:
        return round(float(self), ndigits)

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __hash__(self) -> int:
        return hash((self.name, self.value))

    def __repr__(self) -> str:
        if self.value is None:
            return f"<{self.name}: no value, {self.reason}>"
        return f"<{self.name} {self.value:.4f}>"


Real.register(ComparableScore)  # for `pytest.approx`
