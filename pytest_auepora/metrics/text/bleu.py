"""BLEU and chrF, of the whole set or of each case: BLEU counted by sacrebleu, chrF held to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from ...core.metrics_base import CaseScore, Measurement
from ...core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ..options import DoesNotApply, choice, limited
from .comparands import AgainstTexts, answer_text
from .tokens import common_count, is_mostly_unspaced


class _BleuMetric(AgainstTexts):
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
    smooth_method: str = choice("exp", "floor", "add-k", "none")
    smooth_value: float | None = field(default=None, kw_only=True)
    tokenizer: str = choice("13a", "intl", "char", "zh", "none")
    lowercase: bool = field(default=False, kw_only=True)

    target = TargetCategory.GENERATION_CORRECTNESS
    required = ("reference_answer",)
    effective_order = False
    formula = "brevity penalty · geometric mean of the clipped n-gram precisions, in [0, 1]"
    source = "Papineni et al. 2002; Post 2018 (arXiv:1804.08771)"
    oracle = "sacrebleu, exact"

    def __post_init__(self) -> None:
        # "none" in a name reads as None
        self.smooth_method, self.tokenizer = self.smooth_method or "none", self.tokenizer or "none"
        super().__post_init__()

    def read_case(self, sample: EvaluationSample) -> list[str]:
        texts: list[str] = super().read_case(sample)
        if self.tokenizer in ("13a", "intl") and any(map(is_mostly_unspaced, texts)):
            raise DoesNotApply(
                f"tokenizer {self.tokenizer} cuts at spaces, which this script does not use; add the option "
                "tokenizer=zh or tokenizer=char"
            )
        return texts

    @cached_property
    def _counter(self) -> Any:
        from sacrebleu.metrics.bleu import BLEU

        # without smoothing: sacrebleu adds the constant of add-k to the counts themselves
        return BLEU(self.lowercase, tokenize=self.tokenizer, smooth_method="none", max_ngram_order=self.max_order)

    def statistics(self, prediction: str, references: Sequence[str]) -> list[int]:
        """Return [length, nearest reference length, matches of order 1…, n-grams of order 1…]."""
        counted = self._counter.corpus_score([prediction], [[reference] for reference in references])
        return [counted.sys_len, counted.ref_len, *counted.counts, *counted.totals]

    def score(self, statistics: Sequence[int]) -> Any:
        """Return sacrebleu's ``BLEUScore`` (0 to 100) for summed statistics."""
        middle = 2 + self.max_order
        return self._counter.compute_bleu(
            correct=list(statistics[2:middle]),
            total=list(statistics[middle:]),
            sys_len=statistics[0],
            ref_len=statistics[1],
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            effective_order=self.effective_order,
            max_ngram_order=self.max_order,
        )

    def signature(self) -> str:
        """Return what has to be equal for two BLEU values to compare, in sacrebleu's way of writing it."""
        import sacrebleu

        smooth = self.smooth_method if self.smooth_value is None else f"{self.smooth_method}[{self.smooth_value:g}]"
        return (
            f"case:{'lc' if self.lowercase else 'mixed'}|eff:{'yes' if self.effective_order else 'no'}"
            f"|tok:{self.tokenizer}|smooth:{smooth}|order:{self.max_order}|version:{sacrebleu.__version__}"
        )


class BleuScore(_BleuMetric):
    """Corpus BLEU: the counts of all cases are added up before anything is divided.

    A single case has no value of its own here; its counts are kept.  Gate `SentenceBleu` instead where
    cases are judged one by one.
    """

    stem = "bleu"
    additive = True

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, texts: list[str]) -> CaseScore:
        return Measurement(None, data=self.statistics(answer_text(outputs), texts))

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Return the corpus score of the summed counts, in [0, 1]; the details have the value of 0 to 100."""
        if not measurements:
            return MetricResult(self.name, self.target, 0.0, {"num_samples": 0})
        score = self.score([sum(column) for column in zip(*(m.data for m in measurements), strict=True)])
        details: dict[str, Any] = {
            "num_samples": len(measurements),
            "bleu": score.score,
            "precisions": score.precisions,
            "brevity_penalty": score.bp,
            "answer_words": score.sys_len,
            "reference_words": score.ref_len,
            "signature": self.signature(),
        }
        return MetricResult(self.name, self.target, _unit(score.score), details)


class SentenceBleu(_BleuMetric):
    """BLEU of one case, over the orders its answer is long enough for; the aggregate is the mean."""

    stem = "sentence_bleu"
    effective_order = True
    formula = "BLEU of the case over orders 1 to min(max_order, words of the answer), in [0, 1]"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, texts: list[str]) -> CaseScore:
        statistics = self.statistics(answer_text(outputs), texts)
        score = self.score(statistics).score
        details = {"bleu": score} if statistics[0] else {"note": "the answer is empty"}
        return Measurement(_unit(score), details=details)


def _unit(score: float) -> float:
    return min(score / 100, 1.0)  # exp(log(100)) is a hair above 100


class Chrf(AgainstTexts):
    """F-score of the character n-grams of answer and reference, white space left out; best over the references.

    The aggregate is the mean over the cases; ``details["corpus"]`` is the score of all counts added up.

    Args:
        char_order: longest n-gram, in characters.
        beta: how many times recall weighs more than precision.
        lowercase: compare without regard to case.
    """

    char_order: int = 6
    beta: float = limited(2, lambda beta: 0 < beta < float("inf"), "must be a number above 0")
    lowercase: bool = False

    stem = "chrf"
    interval = ""  # the mean, with a detail added
    target = TargetCategory.GENERATION_CORRECTNESS
    required = ("reference_answer",)
    formula = "(1 + β²)·P·R / (β²·P + R), P and R averaged over the orders 1 to char_order that both have"
    source = "Popović 2015, chrF"
    oracle = "sacrebleu (chrF2), 1e-9"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, texts: list[str]) -> CaseScore:
        answer = self._letters(answer_text(outputs))
        counts = [_count_ngrams(answer, self._letters(text), self.char_order) for text in texts]
        best = max(counts, key=self._score)
        details = {} if answer else {"note": "the answer is empty"}
        return Measurement(self._score(best), data=best, details=details)

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
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
        for n_answer, n_reference, n_common in zip(counts[::3], counts[1::3], counts[2::3], strict=True):
            if n_answer and n_reference:
                precision += n_common / n_answer
                recall += n_common / n_reference
                orders += 1
        if not precision + recall:
            return 0.0
        precision, recall, weight = precision / orders, recall / orders, self.beta**2
        return min((1 + weight) * precision * recall / (weight * precision + recall), 1.0)


def _windows(text: str, n: int) -> Iterator[str]:
    return (text[i : i + n] for i in range(len(text) - n + 1))


def _count_ngrams(answer: str, reference: str, char_order: int) -> list[int]:
    """Return, for each order, the n-grams of the answer (if the reference has any), of the reference, and in common."""
    statistics: list[int] = []
    for n in range(1, char_order + 1):
        n_answer, n_reference = max(len(answer) - n + 1, 0), max(len(reference) - n + 1, 0)
        common = common_count(_windows(answer, n), _windows(reference, n))
        statistics += (n_answer if n_reference else 0, n_reference, common)
    return statistics
