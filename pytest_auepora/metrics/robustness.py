"""How a system behaves where it should not answer, and when its input is disturbed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..core.metrics_base import Measurement, NotApplicable
from ..core.types import EvaluationSample, SystemOutputs, TargetCategory
from ..errors import MetricError
from .options import Configured
from .refusal import REFUSAL_PATTERNS, Behaviour, expected_behaviour, is_refusal

__all__ = ["NegativeRejectionRate", "RefusalCorrectness"]


@dataclass(eq=False, repr=False)
class Refusals(Configured):
    """Base of the metrics that count refusals among the cases of one expected behaviour.

    Options:
        refusal_patterns: phrases that make an answer a refusal where neither a person nor the system said so;
            separated by ``|`` in a name.
    """

    refusal_patterns: Sequence[str] = REFUSAL_PATTERNS

    expected: ClassVar[Behaviour] = "refuse"
    target = TargetCategory.NEGATIVE_REJECTION

    def __post_init__(self) -> None:
        given = self.refusal_patterns
        self.refusal_patterns = tuple(given.split("|") if isinstance(given, str) else given)
        if not self.refusal_patterns or not all(p.strip() for p in self.refusal_patterns):
            raise MetricError(f"refusal_patterns must be phrases, got {self.refusal_patterns!r}")
        super().__post_init__()

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """1 for a refusal, 0 for an answer; n/a for cases of another kind and where nothing was answered."""
        if expected_behaviour(sample) != self.expected:
            return NotApplicable("not a refusal case" if self.expected == "refuse" else "not a case to be answered")
        refused = is_refusal(outputs, self.refusal_patterns)
        return NotApplicable("no answer") if refused is None else Measurement(float(refused))


@dataclass(eq=False, repr=False)
class RefusalCorrectness(Refusals):
    """Of the cases that call for a refusal, the share that was refused."""

    stem = "refusal_correctness"
    formula = "refused / cases that call for a refusal and have an answer"
    source = "expected documents given as an empty list"
    oracle = "counted on labelled answers"


@dataclass(eq=False, repr=False)
class NegativeRejectionRate(Refusals):
    """Of the unanswerable cases, the share that was rejected."""

    stem = "negative_rejection"
    formula = "rejected / unanswerable cases that have an answer"
    source = "RGB (arXiv:2309.01431), negative rejection"
    oracle = "counted on labelled answers"
