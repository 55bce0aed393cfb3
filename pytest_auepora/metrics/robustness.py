"""How a system behaves where it should not answer, when its input is disturbed, and when its context is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import InitVar
from typing import Any, ClassVar

from ..core.metrics_base import CaseScore, Measurement, Metric, NotApplicable, mean_of
from ..core.types import EvaluationSample, MetricResult, Response, SystemOutputs, TargetCategory
from ..errors import MetricError
from .annotation.labelled import Labelled
from .annotation.labels import LabelSource
from .options import Configured, DoesNotApply, applicable, choice, needed, where_applicable
from .pairs import OverMetric, OverPairs, as_metric, inherit, pairs_by_case
from .refusal import REFUSAL_PATTERNS, is_refusal
from .text.assertions import phrase_finder, wordings
from .text.comparands import answer_text, given_answer
from .values import Behaviour, expected_behaviour, read_flag

Similarity = Callable[[str, str], float]

_NO_REFUSAL_NOTE = (
    "no refusal was found: not in the label refused, in metadata['refused'], or by the phrases that refusals begin "
    "with; the option refusal_patterns names those of this system"
)


class Refusals(Labelled):
    """Base of the metrics that count refusals among the cases of one expected behaviour.

    The label ``refused`` of this very answer decides; without one what the system says of itself
    (``response.metadata["refused"]``), then phrases in the answer.

    Options:
        refusal_patterns: the phrases; separated by ``|`` in a name.
    """

    refusal_patterns: Sequence[str] = REFUSAL_PATTERNS
    labels: str | LabelSource = "golden"

    version = 3
    interval = ""  # the mean of the cases, with a note
    expected: ClassVar[Behaviour] = "refuse"
    target = TargetCategory.NEGATIVE_REJECTION
    oracle = "counted on labelled answers"

    def read_case(self, sample: EvaluationSample) -> None:
        reason = "not a refusal case" if self.expected == "refuse" else "not a case to be answered"
        needed(expected_behaviour(sample) == self.expected, reason)

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        answer_labels = where_applicable(self._source.answer_labels, sample, outputs, ("refused",))
        label = None if isinstance(answer_labels, NotApplicable) else answer_labels.get("refused")
        refused = is_refusal(outputs, self.refusal_patterns) if label is None else label
        if refused is None:
            raise DoesNotApply("no answer")
        without_label = self.expected == "refuse" and not refused and label is None
        return Measurement(float(refused), details={"note": _NO_REFUSAL_NOTE} if without_label else {})

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``note``, what was looked for, where no answer is a refusal."""
        result = super().aggregate(measurements)
        if self.expected == "refuse" and measurements and not any(m.value for m in measurements):
            result.details["note"] = _NO_REFUSAL_NOTE
        return result


class RefusalCorrectness(Refusals):
    """Of the cases that call for a refusal, the share that was refused."""

    stem = "refusal_correctness"
    formula = "refused / cases that call for a refusal and have an answer"
    source = "expected documents given as an empty list"


class NegativeRejectionRate(Refusals):
    """Of the unanswerable cases, the share that was rejected."""

    stem = "negative_rejection"
    formula = "rejected / unanswerable cases that have an answer"
    source = "RGB (arXiv:2309.01431), negative rejection"


class OverRefusal(Refusals):
    """Of the cases that can be answered, the share that was refused; lower is better."""

    stem = "over_refusal"
    expected = "answer"
    direction = "lower"
    formula = "refused / cases to be answered that have an answer"
    source = "the price of refusing: XSTest (arXiv:2308.01263)"


class NoiseRobustness(OverMetric, OverPairs):
    """Which share of its score a system keeps when queries are disturbed.

    Each disturbed case is paired with the case it stems from, so a base with three variants weighs three times
    on both sides.  Of a base metric where lower is better the ratio is turned round.  N/a where no pair was
    measured and where the divisor is 0.

    Options:
        base: the metric, or its name.
        pairing: ``"paired"``, or ``"all"``: every base case against every disturbed one.
        scenarios: values of ``labels["scenario"]`` that are noise; separated by ``|`` in a name.  Also called
            ``noise_scenarios``.
    """

    pairing: str = choice("paired", "all")
    scenarios: Sequence[str] = ("paraphrase", "typo", "casing", "punctuation", "noise")
    noise_scenarios: InitVar[Sequence[str] | None] = None

    stem = "noise_robustness"
    interval = "pairs"
    range = (0.0, math.inf)
    target = TargetCategory.NOISE_ROBUSTNESS
    formula = "score over the disturbed cases / score over the cases they stem from"
    source = "RGB (arXiv:2309.01431), noise robustness, as a ratio"
    oracle = "computed from the two halves of a data set"

    def __post_init__(self, noise_scenarios: Sequence[str] | None) -> None:
        self.scenarios = self.scenarios if noise_scenarios is None else noise_scenarios
        super().__post_init__()
        self.required = tuple(self.metric.required_fields())

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        score = applicable(self.metric.measure(sample, outputs))
        return self.note_case(sample, [score.value, score.data])

    def by_case(self, measurements: Sequence[Measurement]) -> dict[str, float]:
        """How far each disturbed case falls behind its base; what the ratio rests on, where a mean can be tested."""
        sign = 1 if self.metric.direction == "higher" else -1
        pairs = {i: (pair.base[0], pair.variant[0]) for i, pair in pairs_by_case(measurements).items()}
        return {i: sign * (noisy - clean) for i, (clean, noisy) in pairs.items() if None not in (clean, noisy)}

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``base_score``, ``noisy_score``, ``drop``, ``num_base``, ``num_noisy``, ``num_unpaired``."""
        notes = [m.data for m in measurements]
        bases, noisy = ([n["seen"] for n in notes if (n["variant_of"] is None) is base] for base in (True, False))
        pairs = pairs_by_case(measurements).values()
        unpaired = len(noisy) - len(pairs)
        if self.pairing == "paired":
            bases, noisy = [pair.base for pair in pairs], [pair.variant for pair in pairs]
        details: dict[str, Any] = {"num_samples": 0, "num_base": len(bases), "num_noisy": len(noisy)}
        details["num_unpaired"] = unpaired
        if not bases or not noisy:
            return MetricResult(self.name, self.target, 0.0, {**details, "reason": "no pair was measured"})
        halves = ([Measurement(value, data) for value, data in half] for half in (bases, noisy))
        clean, disturbed = (self.metric.aggregate(half).value for half in halves)
        details.update(base_score=clean, noisy_score=disturbed, drop=clean - disturbed)
        above, below = (disturbed, clean) if self.metric.direction == "higher" else (clean, disturbed)
        if below <= 0:
            whose = "the base cases" if self.metric.direction == "higher" else "the disturbed cases"
            reason = f"{self.metric.name} of {whose} is 0: there is nothing to divide by"
            return MetricResult(self.name, self.target, 0.0, {**details, "reason": reason})
        return MetricResult(self.name, self.target, above / below, {**details, "num_samples": len(noisy)})


class CounterfactualConsistency(OverPairs):
    """How alike the answers to a case and to its counterfactual variants are.

    A variant with ``labels["expect_change"]`` scores 1 - similarity: there the answer should differ.

    Options:
        base: how alike two answers are: a metric that compares with a reference (or its name), which then gets
            the base's answer as reference, or a function of two texts.
        scenarios: values of ``labels["scenario"]`` that are counterfactual; separated by ``|`` in a name.
    """

    base: Metric | str | Similarity = "token_f1"
    scenarios: Sequence[str] = ("counterfactual",)

    stem = "counterfactual_consistency"
    interval = ""  # it is computed from whole answers, which no baseline holds: `by_case` scores the variants
    positional = "base"
    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    formula = "mean similarity of the answers of base and variant; 1 - similarity where a change is expected"
    source = "consistency under counterfactual variants of the query"
    oracle = "computed pair by pair with the base metric"

    def __post_init__(self) -> None:
        if isinstance(self.base, (Metric, str)):
            self.base = base = as_metric(self.base)
            inherit(self, base, "deterministic", "baselined")
            low, high = base.range
            self.range = (min(low, 1 - high), max(high, 1 - low))
        super().__post_init__()

    def params(self) -> dict[str, Any]:
        base = self.base
        base_params = [base.name, base.version, base.params()] if isinstance(base, Metric) else self.name
        return {**super().params(), "base": base_params}

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        is_changed = read_flag(sample.labels.get("expect_change") or False, "labels['expect_change']")
        return self.note_case(sample, [given_answer(outputs).strip(), is_changed])

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``num_samples``, how many pairs were compared."""
        return mean_of(self, self.by_case(measurements).values())

    def by_case(self, measurements: Sequence[Measurement]) -> dict[str, float]:
        """How alike the answers to each variant and to its base are; or unlike, where a change is expected."""
        pairs = pairs_by_case(measurements)
        scores = self._similarities([(pair.base[0], pair.variant[0]) for pair in pairs.values()])
        scored = [(i, pair.variant[1], score) for (i, pair), score in zip(pairs.items(), scores, strict=True)]
        return {i: 1 - score if expects_change else score for i, expects_change, score in scored if score is not None}

    def _similarities(self, answers: Sequence[tuple[str, str]]) -> list[float | None]:
        if not isinstance(self.base, Metric):
            assert not isinstance(self.base, str)
            return [float(self.base(*pair)) for pair in answers]
        scores = self.base.measure_many(
            [EvaluationSample("pair", answer, reference_answer=Response(answer)) for answer, _ in answers],
            [SystemOutputs([], Response(answer)) for _, answer in answers],
        )
        return [None if isinstance(s, NotApplicable) else s.value for s in scores]


ERROR_PATTERNS = ("factual error", "documents contain errors", "documents are wrong", "incorrect information")
"""Phrases with which an answer says that its documents are wrong."""


class OverRightness(OverMetric):
    """Base of the metrics over answers that another metric calls right.

    Options:
        base: that metric, or its name.
        at_least: the score from which on an answer is right (at most, where lower is better).
    """

    base: Metric | str = "contains_answer"
    at_least: float = 1.0

    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    oracle = "counted"

    def is_right(self, sample: EvaluationSample, outputs: SystemOutputs) -> bool:
        """Whether the answer is; raises `MetricError` where the metric scores no single case."""
        score = applicable(self.metric.measure(sample, outputs))
        if score.value is None:
            raise MetricError(f"{self.metric.name} scores no single case, so it cannot say which answer is right")
        return score.value >= self.at_least if self.metric.direction == "higher" else score.value <= self.at_least


class MisleadingRate(OverRightness, OverPairs):
    """Of the questions answered rightly, the share answered wrongly once the context holds wrong facts.

    Every variant whose base was answered rightly counts once; lower is better, and n/a where there is none.

    Options, beside those of `OverRightness`:
        scenarios: values of ``labels["scenario"]`` that mean wrong facts in the context; separated by ``|``.
    """

    scenarios: Sequence[str] = ("misinformation",)

    stem = "misleading_rate"
    direction = "lower"
    formula = "variants answered wrongly / variants whose base was answered rightly"
    source = "RECALL (arXiv:2311.08147), M-rate"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        return self.note_case(sample, self.is_right(sample, outputs))

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``misled``, how many variants; ``num_samples``, out of how many."""
        outcomes = [not pair.variant for pair in pairs_by_case(measurements).values() if pair.base]
        result = mean_of(self, outcomes)
        result.details["misled"] = sum(outcomes)
        return result


class _OverMistakes(Configured):
    """Base of the metrics over mistakes planted in the context of a case."""

    def read_case(self, sample: EvaluationSample) -> list[list[str]]:
        return needed(wordings(sample, "mistakes"), "no mistakes are planted")


class MistakeReappearance(_OverMistakes):
    """Share of the mistakes planted in the context that the answer repeats; lower is better.

    ``labels["mistakes"]`` lists them, each with other wordings where there are any (see `wordings`).
    """

    stem = "mistake_reappearance"
    direction = "lower"
    target = TargetCategory.COUNTERFACTUAL_ROBUSTNESS
    formula = "planted mistakes found in the answer / planted mistakes"
    source = "RECALL (arXiv:2311.08147), R-rate"
    oracle = "counted"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, mistakes: list[list[str]]) -> CaseScore:
        """N/a where there is no answer.  Details: ``repeated``."""
        contains = phrase_finder(given_answer(outputs))
        repeated = [names[0] for names in mistakes if any(map(contains, names))]
        return Measurement(len(repeated) / len(mistakes), details={"repeated": repeated})


class ErrorDetection(_OverMistakes):
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

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: Any) -> CaseScore:
        detected = outputs.response.metadata.get("error_detected")
        if detected is None:
            detected = any(map(phrase_finder(answer_text(outputs), "substring"), self.error_patterns))
        return Measurement(float(read_flag(detected, "metadata['error_detected']")))


class ErrorCorrection(OverRightness):
    """Of the answers that point out an error, the share that is right all the same.

    Options, beside those of `OverRightness`:
        error_patterns: as in `ErrorDetection`.
    """

    error_patterns: Sequence[str] = ERROR_PATTERNS

    stem = "error_correction"
    formula = "right answers / answers that point out the error"
    source = "RGB (arXiv:2309.01431), error correction rate"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._detection = ErrorDetection(self.error_patterns)

    def read_case(self, sample: EvaluationSample) -> None:
        self._detection.read_case(sample)
        super().read_case(sample)

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        detection = applicable(self._detection.measure(sample, outputs))
        needed(detection.value, "no error was pointed out")
        return Measurement(float(self.is_right(sample, outputs)))
