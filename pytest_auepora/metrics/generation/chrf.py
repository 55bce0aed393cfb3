"""chrF: agreement of character n-grams, for short answers and for languages where words are hard to cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..options import Configured
from ..text.comparands import answer_text, targets

__all__ = ["Chrf"]


@dataclass(eq=False, repr=False)
class Chrf(Configured):
    """F-score of the character n-grams of answer and reference, white space left out; best over the references.

    The aggregate is the mean over the cases; ``details["corpus"]`` is the score of all counts added up.

    Args:
        char_order: longest n-gram, in characters.
        beta: how many times recall weighs more than precision.
        lowercase: compare without regard to case.
    """

    char_order: int = 6
    beta: float = 2
    lowercase: bool = False

    stem: ClassVar[str] = "chrf"
    interval: ClassVar[str] = ""  # the mean, with a detail added
    target = TargetCategory.GENERATION_CORRECTNESS
    required: ClassVar[tuple[str, ...]] = ("reference_answer",)
    formula: ClassVar[str] = (
        "(1 + β²)·P·R / (β²·P + R), P and R averaged over the orders 1 to char_order that both have"
    )
    source: ClassVar[str] = "Popović 2015, chrF"
    oracle: ClassVar[str] = "sacrebleu (chrF2), 1e-9"

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.char_order) is not int or self.char_order < 1:
            raise MetricError(f"char_order must be a whole number of at least 1, got {self.char_order!r}")
        if not 0 < self.beta < float("inf"):
            raise MetricError(f"beta must be a number above 0, got {self.beta!r}")

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Score against the best reference; n/a without one."""
        texts = targets(sample)
        if isinstance(texts, NotApplicable):
            return texts
        given = self._letters(answer_text(outputs))
        counted = [_counts(given, self._letters(text), self.char_order) for text in texts]
        best = max(counted, key=self._score)
        note = {} if given else {"note": "the answer is empty"}
        return Measurement(self._score(best), data=best, details=note)

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Return the mean, with the corpus score in the details."""
        result = super().aggregate(measurements)
        if measurements:
            columns = zip(*(m.data for m in measurements), strict=True)
            result.details["corpus"] = self._score([sum(column) for column in columns])
        return result

    def _letters(self, text: str) -> str:
        return "".join((text.lower() if self.lowercase else text).split())

    def _score(self, counts: Sequence[int]) -> float:
        precision = recall = 0.0
        orders = 0
        for i in range(0, len(counts), 3):
            n_given, n_wanted, n_common = counts[i : i + 3]
            if n_given and n_wanted:
                precision += n_common / n_given
                recall += n_common / n_wanted
                orders += 1
        if not precision + recall:
            return 0.0
        precision, recall, weight = precision / orders, recall / orders, self.beta**2
        return min((1 + weight) * precision * recall / (weight * precision + recall), 1.0)


def _windows(text: str, n: int) -> Iterator[str]:
    return (text[i : i + n] for i in range(len(text) - n + 1))


def _counts(given: str, wanted: str, char_order: int) -> list[int]:
    """Return n-grams of the answer (where the reference has any), of the reference, and in common, order by order."""
    out: list[int] = []
    for n in range(1, char_order + 1):
        most = Counter(_windows(wanted, n))
        counts = Counter(filter(most.__contains__, _windows(given, n)))
        common = sum(min(count, most[gram]) for gram, count in counts.items())
        out += (max(len(given) - n + 1, 0) if most else 0, max(len(wanted) - n + 1, 0), common)
    return out
