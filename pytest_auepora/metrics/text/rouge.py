"""ROUGE as metrics: rouge-score's numbers, its tokenizer's blind spot made visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from ...core.metrics_base import CaseScore, Measurement, f1
from ...core.types import EvaluationSample, SystemOutputs
from ...errors import MetricError
from ..options import choice, needed
from .comparands import Compared, answer_text
from .tokens import common_count, is_mostly_ascii, ngrams, words


class RougeScore(NamedTuple):
    """Precision, recall and their harmonic mean, each in [0, 1]."""

    precision: float
    recall: float
    fmeasure: float


def _score(common: int, n_prediction: int, n_target: int) -> RougeScore:
    precision, recall = common / max(n_prediction, 1), common / max(n_target, 1)
    return RougeScore(precision, recall, f1(precision, recall))


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two word lists."""
    places: dict[str, int] = {}
    place, bit = places.get, 1
    for word in a:
        places[word] = place(word, 0) | bit
        bit <<= 1
    full = row = bit - 1
    for word in b:
        if hit := row & place(word, 0):
            row = (row + hit | row - hit) & full
    return (full ^ row).bit_count()


def _rouge_n(target: Sequence[str], prediction: Sequence[str], n: int) -> RougeScore:
    common = common_count(ngrams(prediction, n), ngrams(target, n))
    return _score(common, max(len(prediction) - n + 1, 0), max(len(target) - n + 1, 0))


Tokenizer = Callable[[str], Sequence[str]]

_fmeasure = attrgetter("fmeasure")
_VARIANTS: dict[str, Callable[[Sequence[str], Sequence[str]], RougeScore]] = {
    "rouge1": partial(_rouge_n, n=1),
    "rouge2": partial(_rouge_n, n=2),
    "rougeL": lambda target, answer: _score(lcs_length(target, answer), len(answer), len(target)),
}


class _Rouge(Compared):
    """F-measure against the best of several references.

    Args:
        compare_to: ``reference`` (and its alternatives), or ``query``, which makes it a measure of relevance.
        use_stemmer: Porter's stemmer, on words of more than three letters.
        tokenizer: ``default`` is rouge-score's, which knows a-z and 0-9 only: a target that is mostly of other
            letters is n/a, rather than a score that says nothing.  ``unicode`` reads every script and equals
            the default on ASCII text.  In Python also a function from text to words.
    """

    compare_to: str = choice("reference", "query")
    use_stemmer: bool = True
    tokenizer: str | Tokenizer = "default"

    formula = "max over references of 2PR/(P+R), P and R over the words in common"
    source = "Lin 2004, ROUGE: a package for automatic evaluation of summaries"
    oracle = "rouge-score, bit for bit"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.tokenizer) and self.tokenizer not in ("default", "unicode"):
            raise MetricError(f"tokenizer must be default, unicode or a function, got {self.tokenizer!r}")
        self._averaged: tuple[str, ...] = (self.stem.partition("_")[0],)

    def spelled_options(self) -> dict[str, Any]:
        options = super().spelled_options()
        if callable(self.tokenizer):
            options["tokenizer"] = getattr(self.tokenizer, "__qualname__", type(self.tokenizer).__name__)
        return options

    def params(self) -> dict[str, Any]:
        return {**super().params(), "tokenizer": self.spelled_options().get("tokenizer", "default")}

    def _tokenize(self, text: str) -> Sequence[str]:
        if callable(self.tokenizer):
            return self.tokenizer(text)
        return words(text, "unicode" if self.tokenizer == "unicode" else "default", stem=self.use_stemmer)

    def read_case(self, sample: EvaluationSample) -> list[Sequence[str]]:
        """Return the words of the targets."""
        texts = super().read_case(sample)
        if self.tokenizer == "default":
            texts = [t for t in texts if is_mostly_ascii(t)]
            needed(texts, "ROUGE's default tokenizer knows a-z and 0-9 only; add the option tokenizer=unicode")
        return needed([tokens for t in texts if (tokens := self._tokenize(t))], f"the {self.compare_to} has no word")

    def score_answer(
        self, sample: EvaluationSample, outputs: SystemOutputs, references: list[Sequence[str]]
    ) -> CaseScore:
        prediction = self._tokenize(answer_text(outputs))
        scores = {
            kind: max([_VARIANTS[kind](reference, prediction) for reference in references], key=_fmeasure)
            for kind in self._averaged
        }
        value = sum([s.fmeasure for s in scores.values()]) / len(scores)
        return Measurement(value, details=_details(scores, references, prediction))


def _details(
    scores: dict[str, RougeScore], references: list[Sequence[str]], prediction: Sequence[str]
) -> dict[str, Any]:
    details: dict[str, Any]
    if len(scores) == 1:
        (only,) = scores.values()
        details = {"precision": only.precision, "recall": only.recall}
    else:
        details = {kind: score.fmeasure for kind, score in scores.items()}
    if not prediction:
        details["note"] = "the answer has no word that the tokenizer knows"
    elif "rouge2" in scores and all(len(w) < 2 for w in references):
        details["note"] = "a reference of one word has no bigram: rouge2 is 0 whatever the answer"
    return details


class Rouge1(_Rouge):
    """Words in common with the reference."""

    stem = "rouge1_answer"


class Rouge2(_Rouge):
    """Pairs of neighbouring words in common with the reference."""

    stem = "rouge2_answer"
    formula = "max over references of 2PR/(P+R), P and R over the word pairs in common"


class RougeL(_Rouge):
    """Longest sequence of words, in order but with gaps, in common with the reference."""

    stem = "rougeL_answer"
    formula = "max over references of 2PR/(P+R), P and R over the longest common subsequence"


class RougeScores(_Rouge):
    """Plain mean of several ROUGE variants, each against its best reference.

    Args:
        variants: among rouge1, rouge2, rougeL; in a name written ``rouge[variants=rouge1|rougeL]``.
    """

    variants: str | tuple[str, ...] = ("rouge1", "rouge2", "rougeL")

    stem = "rouge"
    formula = "mean over the variants of the best F-measure over the references"

    def __post_init__(self) -> None:
        if isinstance(self.variants, str):
            self.variants = tuple(v.strip() for v in self.variants.split("|"))
        self.variants = tuple(self.variants)
        if not self.variants or set(self.variants) - set(_VARIANTS):
            raise MetricError(f"variants must be among {', '.join(_VARIANTS)}, got {self.variants or 'none'}")
        super().__post_init__()
        self._averaged = self.variants


RougeLAnswer = RougeL
"""The name of the framework's engineering specification."""
