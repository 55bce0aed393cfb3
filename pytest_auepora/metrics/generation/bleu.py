"""BLEU as metrics: one score for the whole set, and one for each case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...core.garbage import garbage_collection_paused
from ...core.metrics_base import Measurement, NotApplicable
from ...core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..options import Configured, choice
from ..text.bleu import SMOOTHING, TOKENIZERS, Bleu
from ..text.comparands import answer_text, targets
from ..text.tokens import is_mostly_unspaced

__all__ = ["BleuScore", "SentenceBleu"]


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
        texts = self._texts(sample, outputs)
        return texts if isinstance(texts, NotApplicable) else self._measured(self._bleu.statistics(*texts))

    def measure_many(
        self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]
    ) -> list[Measurement | NotApplicable]:
        """Score many texts; n-grams leave no garbage in cycles, and looking for it takes a quarter of the time."""
        with garbage_collection_paused():
            texts = [self._texts(s, o) for s, o in zip(samples, outputs, strict=True)]
            seen = iter(self._bleu.statistics_of_many(t for t in texts if not isinstance(t, NotApplicable)))
            return [t if isinstance(t, NotApplicable) else self._measured(next(seen)) for t in texts]

    def _texts(self, sample: EvaluationSample, outputs: SystemOutputs) -> tuple[str, list[str]] | NotApplicable:
        """Return the answer and what it is compared with."""
        texts = targets(sample)
        if isinstance(texts, NotApplicable):
            return texts
        if self.tokenizer in ("13a", "intl") and any(map(is_mostly_unspaced, texts)):
            return NotApplicable(
                f"tokenizer {self.tokenizer} cuts at spaces, which this script does not use; add the option "
                "tokenizer=zh or tokenizer=char"
            )
        return answer_text(outputs), texts

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
