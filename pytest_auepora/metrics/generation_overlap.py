"""Answers compared with references, queries and evidence by the words they share."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..core.metrics_base import CaseScore, Measurement, f1
from ..core.types import EvaluationSample, SystemOutputs, TargetCategory
from .options import needed
from .text.comparands import AgainstEvidence, AgainstTexts, answer_text, retrieved_texts, targets
from .text.rouge import Rouge1, Rouge2, RougeL
from .text.tokens import answer_words, common_count, is_mostly_ascii, ngrams, squad_words
from .values import nonempty

__all__ = [
    "AnswerRecall",
    "ContainsAnswer",
    "EvidenceOverlapFaithfulness",
    "ExactMatch",
    "KPrecision",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "TokenF1",
]

_ADLAKHA = "Adlakha et al. 2023 (arXiv:2307.16877)"


class SquadMetric(AgainstTexts):
    """Best agreement with any reference after SQuAD's normalisation.

    Args:
        ignore_case, ignore_punctuation, ignore_articles: the three steps of the normalisation.
        multilingual: where references are mostly of other letters than a-z, also drop CJK, Arabic and Indic
            punctuation, and compare scripts written without spaces character by character; False is SQuAD's
            evaluation to the letter for every text.
    """

    ignore_case: bool = True
    ignore_punctuation: bool = True
    ignore_articles: bool = True
    multilingual: bool = True

    target = TargetCategory.GENERATION_CORRECTNESS
    required = ("reference_answer",)
    source = "Rajpurkar et al. 2016, SQuAD (arXiv:1606.05250)"
    oracle = "the SQuAD v1.1 evaluation, exact"

    def _tokenize(self, text: str, foreign: bool) -> tuple[str, ...]:
        return squad_words(
            text,
            case=self.ignore_case,
            punctuation=self.ignore_punctuation,
            articles=self.ignore_articles,
            multilingual=foreign,
        )

    def read_case(self, sample: EvaluationSample) -> tuple[list[tuple[str, ...]], bool]:
        """Return the words of the references, and whether they are read as other letters than a-z."""
        texts = targets(sample)
        foreign = self.multilingual and not all(map(is_mostly_ascii, texts))
        references = [tokens for t in texts if (tokens := self._tokenize(t, foreign))]
        return needed(references, "nothing is left of reference_answer once punctuation and articles are gone"), foreign

    def _agreement(self, prediction: tuple[str, ...], reference: tuple[str, ...]) -> float:
        raise NotImplementedError

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, material: Any) -> CaseScore:
        references, foreign = material
        prediction = self._tokenize(answer_text(outputs), foreign)
        if not prediction:
            return Measurement(0.0, details={"note": "the answer is empty"})
        return Measurement(max([self._agreement(prediction, r) for r in references]))


class ExactMatch(SquadMetric):
    """1 where the normalised answer equals a normalised reference, else 0."""

    stem = "exact_match"
    formula = "max over references of [normalise(answer) = normalise(reference)]"

    def _agreement(self, prediction: tuple[str, ...], reference: tuple[str, ...]) -> float:
        return float(prediction == reference)


class TokenF1(SquadMetric):
    """Harmonic mean of the precision and recall of the answer's words, best over the references."""

    stem = "token_f1"
    formula = "max over references of 2PR/(P+R), P and R over the multiset of normalised words"

    def _agreement(self, prediction: tuple[str, ...], reference: tuple[str, ...]) -> float:
        common = common_count(prediction, reference)
        return f1(common / len(prediction), common / len(reference))


class AnswerRecall(SquadMetric):
    """Share of the reference's words that the answer has, best over the references; length costs nothing."""

    stem = "answer_recall"
    formula = "max over references of |answer ∩ reference| / |reference|, multisets of normalised words"
    source = _ADLAKHA
    oracle = "an independent count over SQuAD-normalised words, exact"

    def _agreement(self, prediction: tuple[str, ...], reference: tuple[str, ...]) -> float:
        return common_count(prediction, reference) / len(reference)


class ContainsAnswer(SquadMetric):
    """1 where a whole reference stands in the answer, word by word after normalisation, else 0."""

    stem = "contains_answer"
    formula = "max over references of [normalised reference is a run of words of the normalised answer]"
    source = _ADLAKHA
    oracle = "an independent search in the padded text, exact"

    def _agreement(self, prediction: tuple[str, ...], reference: tuple[str, ...]) -> float:
        n = len(reference)
        return float(any(prediction[at : at + n] == reference for at in range(len(prediction) - n + 1)))


class KPrecision(AgainstEvidence):
    """Share of the answer's words that the evidence has, each at most as often as the evidence has it.

    With nothing retrieved the score is 0.
    """

    stem = "k_precision"
    formula = "|answer ∩ evidence| / |answer|, multisets of normalised words"
    source = _ADLAKHA
    oracle = "an independent count over SQuAD-normalised words, exact"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, relevant: list[str]) -> CaseScore:
        """Details: ``unsupported``, words of the answer that no document has.  An empty answer scores 0."""
        evidence = relevant or retrieved_texts(outputs)
        foreign = not is_mostly_ascii(answer_text(outputs))
        answer_counts = Counter(squad_words(answer_text(outputs), multilingual=foreign))
        if not answer_counts:
            return Measurement(0.0, details={"note": "the answer is empty"})
        unsupported = Counter(answer_counts)
        for text in evidence:
            unsupported -= Counter(squad_words(text, multilingual=foreign))
        n = answer_counts.total()
        details = nonempty(unsupported=list(unsupported)[:10], note=None if evidence else "nothing was retrieved")
        return Measurement((n - unsupported.total()) / n, details=details)


class EvidenceOverlapFaithfulness(AgainstEvidence):
    """Share of the answer's n-grams that occur in the evidence; a cheap proxy of faithfulness.

    Occurrences are not clipped: a word said twice counts twice, even if the evidence has it once
    (`KPrecision` clips).  With nothing retrieved the score is 0.

    Args:
        evidence_source: see `AgainstEvidence`.
        n: length of the n-grams in words.
        top_k: how many of the retrieved documents are evidence; all by default.
        joined: whether an n-gram may reach from one document into the next, as in one text.
    """

    n: int = 1
    top_k: int | None = None
    joined: bool = False

    stem = "evidence_overlap"
    formula = "|n-grams of the answer that occur in the evidence| / |n-grams of the answer|"
    source = "Auepora (arXiv:2405.07437), lexical proxy of faithfulness"
    oracle = "an independent count with a regular expression and sets, exact"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, relevant: list[str]) -> CaseScore:
        evidence = relevant or retrieved_texts(outputs, self.top_k)
        if self.joined and evidence:
            evidence = ["\n".join(evidence)]
        answer = answer_words(answer_text(outputs))
        if not answer:
            return Measurement(0.0, details={"note": "the answer has no word"})
        grams = needed(list(ngrams(answer, self.n)), f"the answer is shorter than {self.n} words")
        evidence_grams = set().union(*(ngrams(answer_words(text), self.n) for text in evidence))
        missing = [gram for gram in grams if gram not in evidence_grams]
        unsupported = [gram if self.n == 1 else " ".join(gram) for gram in dict.fromkeys(missing)]
        details = nonempty(unsupported=unsupported[:10], note=None if evidence else "nothing was retrieved")
        return Measurement((len(grams) - len(missing)) / len(grams), details=details)
