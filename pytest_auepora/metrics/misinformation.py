"""What becomes of wrong facts in the context: do they mislead, come back in the answer, get noticed and corrected?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.metrics_base import Measurement, Metric, NotApplicable
from ..core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ..errors import MetricError
from .options import Configured
from .pairs import OverMetric, OverPairs, pairs_of, words
from .refusal import fold
from .text.assertions import phrase_finder, wordings

ERROR_PATTERNS = ("factual error", "documents contain errors", "documents are wrong", "incorrect information")
"""Phrases with which an answer says that its documents are wrong."""


def _correct(metric: Metric, at_least: float, sample: EvaluationSample, outputs: SystemOutputs) -> bool | NotApplicable:
    seen = metric.measure(sample, outputs)
    if isinstance(seen, NotApplicable):
        return seen
    if seen.value is None:
        raise MetricError(f"{metric.name} scores no single case, so it cannot say which answer is right")
    return seen.value >= at_least if metric.direction == "higher" else seen.value <= at_least


@dataclass(eq=False, repr=False)
class MisleadingRate(OverMetric, OverPairs):
    """Of the questions answered rightly, the share answered wrongly once the context holds wrong facts.

    Every variant whose base was answered rightly counts once; lower is better, and n/a where there is none.

    Options:
        base: the metric, or its name, that says whether an answer is right.
        at_least: the score from which on it is (at most, where lower is better).
        scenarios: values of ``labels["scenario"]`` that mean wrong facts in the context; separated by ``|``.
    """

    base: Metric | str = "contains_answer"
    at_least: float = 1.0
    scenarios: Sequence[str] = ("misinformation",)

    stem = "misleading_rate"
    direction = "lower"
    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    formula = "variants answered wrongly / variants whose base was answered rightly"
    source = "RECALL (arXiv:2311.08147), M-rate"
    oracle = "counted"

    def __post_init__(self) -> None:
        self.scenarios = words(self.scenarios)
        super().__post_init__()

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """Note whether one case was answered rightly; it counts in the aggregate only."""
        right = _correct(self.metric, self.at_least, sample, outputs)
        return right if isinstance(right, NotApplicable) else self.noted(sample, right, self.scenarios)

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``misled``, how many variants; ``num_samples``, out of how many."""
        _, _, pairs = pairs_of(measurements)
        outcomes = [not pair.variant for pair in pairs if pair.base]
        value = sum(outcomes) / len(outcomes) if outcomes else 0.0
        details = {"num_samples": len(outcomes), "misled": sum(outcomes)}
        return MetricResult(self.name, self.target, value, details)


@dataclass(eq=False, repr=False)
class MistakeReappearance(Configured):
    """Share of the mistakes planted in the context that the answer repeats; lower is better.

    ``labels["mistakes"]`` lists them, each with other wordings where there are any (see `wordings`).
    """

    stem = "mistake_reappearance"
    direction = "lower"
    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    formula = "planted mistakes found in the answer / planted mistakes"
    source = "RECALL (arXiv:2311.08147), R-rate"
    oracle = "counted"

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """N/a where no mistake is planted, and where there is no answer.  Details: ``repeated``."""
        mistakes = wordings(sample.labels.get("mistakes"), "mistakes")
        if not mistakes:
            return NotApplicable("no mistakes are planted")
        if not (answer := (outputs.response.text or "").strip()):
            return NotApplicable("no answer")
        found = phrase_finder(answer)
        repeated = [names[0] for names in mistakes if any(map(found, names))]
        return Measurement(len(repeated) / len(mistakes), details={"repeated": repeated})


@dataclass(eq=False, repr=False)
class ErrorDetection(Configured):
    """1 where an answer says that its documents are wrong, over the cases in which they are.

    Those are the cases with ``labels["mistakes"]``.  ``response.metadata["error_detected"]`` decides; without it
    one of the patterns has to be in the answer.

    Options:
        error_patterns: the phrases; separated by ``|`` in a name.
    """

    error_patterns: Sequence[str] = ERROR_PATTERNS

    stem = "error_detection"
    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    formula = "answers that point out the error / cases with wrong facts in the context"
    source = "RGB (arXiv:2309.01431), error detection rate"
    oracle = "counted"

    def __post_init__(self) -> None:
        self.error_patterns = words(self.error_patterns)
        super().__post_init__()

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """N/a where no mistake is planted."""
        if not wordings(sample.labels.get("mistakes"), "mistakes"):
            return NotApplicable("no mistakes are planted")
        said = outputs.response.metadata.get("error_detected")
        if said is None:
            text = fold(outputs.response.text or "")
            said = any(fold(pattern) in text for pattern in self.error_patterns)
        return Measurement(float(bool(said)))


@dataclass(eq=False, repr=False)
class ErrorCorrection(OverMetric):
    """Of the answers that point out an error, the share that is right all the same.

    Options:
        base: the metric, or its name, that says whether an answer is right.
        at_least: the score from which on it is (at most, where lower is better).
        error_patterns: as in `ErrorDetection`.
    """

    base: Metric | str = "contains_answer"
    at_least: float = 1.0
    error_patterns: Sequence[str] = ERROR_PATTERNS

    stem = "error_correction"
    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    formula = "right answers / answers that point out the error"
    source = "RGB (arXiv:2309.01431), error correction rate"
    oracle = "counted"

    def __post_init__(self) -> None:
        self._detection = ErrorDetection(self.error_patterns)
        self.error_patterns = self._detection.error_patterns
        super().__post_init__()

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        """N/a where no mistake is planted, or none was pointed out."""
        pointed_out = self._detection.measure(sample, outputs)
        if isinstance(pointed_out, NotApplicable):
            return pointed_out
        if not pointed_out.value:
            return NotApplicable("no error was pointed out")
        right = _correct(self.metric, self.at_least, sample, outputs)
        return right if isinstance(right, NotApplicable) else Measurement(float(right))
