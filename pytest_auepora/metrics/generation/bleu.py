"""BLEU as metrics: one score for the whole set, and one for each case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..options import Configured, choice
from ..text.bleu import SMOOTHING, TOKENIZERS, Bleu
from ..text.comparands import answer_text, targets
from ..text.tokens import is_mostly_unspaced


@dataclass(eq=False, repr=False)
class _BleuMetric(Configured):
    """BLEU with all references of a case at once.

    Args:
        max_order: longest n-gram, in words.
        smooth_method: what an order without a match counts as: ``exp``, ``floor``, ``add-k``, ``none``.
        smooth_value: the constant of ``floor`` and ``add-k``; None is sacrebleu's own.
        tokenizer: ``13a``, ``intl``, ``zh`` (Chinese), ``char``, ``none``.  The first two cut at spaces, so
            references in a script without them are n/a there.
        lowercase: compare without regard to case.
    """

    max_order: int = 4
    smooth_method: str = choice(*SMOOTHING)
    smooth_value: float | None = field(default=None, kw_only=True)
    tokenizer: str = choice(*TOKENIZERS)
    lowercase: bool = field(default=False, kw_only=True)

    target = TargetCategory.GENERATION_CORRECTNESS
    required: ClassVar[tuple[str, ...]] = ("reference_answer",)
    effective_order: ClassVar[bool] = False
    formula: ClassVar[str] = "brevity penalty · geometric mean of the clipped n-gram precisions, in [0, 1]"
    source: ClassVar[str] = "Papineni et al. 2002; Post 2018 (arXiv:1804.08771)"
    oracle: ClassVar[str] = "sacrebleu, exact"

    def __post_init__(self) -> None:
        # "none" in a name reads as None
        self.smooth_method, self.tokenizer = self.smooth_method or "none", self.tokenizer or "none"
        super().__post_init__()
        if type(self.max_order) is not int or self.max_order < 1:
            raise MetricError(f"max_order must be a whole number of at least 1, got {self.max_order!r}")
        self._bleu = Bleu(
            self.max_order,
            self.smooth_method,
            self.smooth_value,
            self.tokenizer,
            self.lowercase,
            self.effective_order,
        )

    def measure(self, sample: EvaluationSample, outputs: SystemOutputs) -> Measurement | NotApplicable:
        texts = targets(sample)
        if isinstance(texts, NotApplicable):
            return texts
        if self.tokenizer in ("13a", "intl") and any(map(is_mostly_unspaced, texts)):
            return NotApplicable(
                f"tokenizer {self.tokenizer} cuts at spaces, which this script does not use; add the option "
                "tokenizer=zh or tokenizer=char"
            )
        return self._measured(self._bleu.statistics(answer_text(outputs), texts))

    def _measured(self, statistics: list[int]) -> Measurement:
        """Return what the counts of one case are worth."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class BleuScore(_BleuMetric):
    """Corpus BLEU: the counts of all cases are added up before anything is divided.

    A single case has no value of its own here; its counts are kept.  Gate `SentenceBleu` instead where
    cases are judged one by one.
    """

    stem: ClassVar[str] = "bleu"
    additive: ClassVar[bool] = True

    def _measured(self, statistics: list[int]) -> Measurement:
        return Measurement(None, data=statistics)

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Return the corpus score of the summed counts, in [0, 1]; the details have the value of 0 to 100."""
        if not measurements:
            return MetricResult(self.name, self.target, 0.0, {"num_samples": 0})
        score = self._bleu.score([sum(column) for column in zip(*(m.data for m in measurements), strict=True)])
        details: dict[str, Any] = {
            "num_samples": len(measurements),
            "bleu": score.score,
            "precisions": score.precisions,
            "brevity_penalty": score.bp,
            "answer_words": score.sys_len,
            "reference_words": score.ref_len,
            "signature": self._bleu.signature(),
        }
        return MetricResult(self.name, self.target, _unit(score.score), details)


@dataclass(eq=False, repr=False)
class SentenceBleu(_BleuMetric):
    """BLEU of one case, over the orders its answer is long enough for; the aggregate is the mean."""

    stem: ClassVar[str] = "sentence_bleu"
    effective_order: ClassVar[bool] = True
    formula: ClassVar[str] = "BLEU of the case over orders 1 to min(max_order, words of the answer), in [0, 1]"

    def _measured(self, statistics: list[int]) -> Measurement:
        score = self._bleu.score(statistics).score
        note = {"bleu": score} if statistics[0] else {"note": "the answer is empty"}
        return Measurement(_unit(score), details=note)


def _unit(score: float) -> float:
    return min(score / 100, 1.0)  # exp(log(100)) is a hair above 100


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
