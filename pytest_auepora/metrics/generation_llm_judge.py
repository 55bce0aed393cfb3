"""Answers scored by a judge: how faithful they are to the evidence, how good they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core.metrics_base import CaseScore, Measurement, NotApplicable
from ..core.types import EvaluationSample, SystemOutputs, TargetCategory
from ..errors import MetricError
from .judge.critic import Judgement, JudgeReplyError, LLMCritic, Question
from .judge.measures import Judged, rationales_detail
from .judge.prompts import number_texts
from .options import choice, read_words
from .refusal import is_refusal
from .text.comparands import AgainstEvidence, answer_text, evidence_texts

__all__ = [
    "JudgeReplyError",
    "Judged",
    "Judgement",
    "LLMAnswerQuality",
    "LLMCritic",
    "LLMFaithfulnessScore",
    "LLMGroundedness",
]  # fmt: skip


DIMENSIONS = {
    "relevance": "does it address what the question asks for",
    "helpfulness": "could the person who asked go on with their task",
    "clarity": "is it easy to understand",
    "completeness": "does it cover every part of the question",
    "conciseness": "is it free of what nobody asked for",
    "coherence": "does it hang together without contradicting itself",
}
"""What is asked in each respect that has a name of its own; other names are asked about as they are."""


@dataclass(eq=False, repr=False)
class LLMFaithfulnessScore(Judged, AgainstEvidence):  # type: ignore[override]  # concurrency is that of the critic
    """How well the evidence supports the answer, in a judge's eyes; n/a for refusals, which state nothing.

    Args:
        critic: who judges.
        evidence_source: the ``retrieved`` documents, or the ``relevant`` ones of the golden case.
        scale: what the judge is asked for: ``0-1``, ``1-5``, or verdicts with scores, ``no:0|partly:0.5|yes:1``; the
            score is in [0, 1] either way.
    """

    evidence_source: str = choice("retrieved", "relevant")
    scale: str = "0-1"

    stem = "llm_faithfulness"
    prompt = "faithfulness"
    formula = "(judge's score - lowest) / (highest - lowest)"
    source = "Auepora (arXiv:2405.07437), LLM-judged faithfulness"
    oracle = "a loopback server with known replies"

    def _questions(self, sample: EvaluationSample, outputs: SystemOutputs) -> list[Question] | CaseScore:
        if not answer_text(outputs).strip():
            return NotApplicable("the answer is empty")
        if is_refusal(outputs):
            return NotApplicable("the answer is a refusal")
        evidence = evidence_texts(sample, outputs, self.evidence_source)
        if isinstance(evidence, NotApplicable):
            return evidence
        texts = {"question": sample.query, "evidence": number_texts(evidence), "answer": answer_text(outputs)}
        return [self._question(sample, self._fill_prompt(**texts))]


class LLMGroundedness(LLMFaithfulnessScore):
    """`LLMFaithfulnessScore` called ``llm_groundedness``."""

    stem = "llm_groundedness"


@dataclass(eq=False, repr=False)
class LLMAnswerQuality(Judged):
    """How well the answer serves the question, in a judge's eyes.

    Args:
        critic: who judges.
        dimensions: the respects that count; separated by ``|`` in a name.
        per_dimension: ask about each respect by itself and combine; otherwise one score for all is asked for.
        aggregation: how the respects are combined: ``mean`` (weighted), or ``min``.
        weights: how much each respect counts, 1 where it is not named; ``relevance:2|clarity:1`` in a name.
        scale: as that of `LLMFaithfulnessScore`.
    """

    dimensions: Sequence[str] = ("relevance", "helpfulness", "clarity")
    per_dimension: bool = False
    aggregation: str = choice("mean", "min")
    weights: Mapping[str, float] | str = ""
    scale: str = "0-1"

    stem = "llm_answer_quality"
    prompt = "quality"
    target = TargetCategory.GENERATION_RELEVANCE
    formula = "(judge's score - lowest) / (highest - lowest); per dimension: weighted mean, or least"
    source = "Auepora (arXiv:2405.07437), LLM-judged answer quality"
    oracle = "a loopback server with known replies"

    def __post_init__(self) -> None:
        self.dimensions = read_words(self.dimensions, "dimensions")
        self._weights = _read_weights(self.weights, self.dimensions)
        self.weights = "|".join(f"{d}:{w:g}" for d, w in self._weights.items() if w != 1)
        if self.weights and not (self.per_dimension and self.aggregation == "mean"):
            raise MetricError("weights need per_dimension=true and aggregation=mean")
        super().__post_init__()

    def _questions(self, sample: EvaluationSample, outputs: SystemOutputs) -> list[Question] | CaseScore:
        if not answer_text(outputs).strip():
            return Measurement(0.0, details={"note": "the answer is empty"})
        groups = [(d,) for d in self.dimensions] if self.per_dimension else [self.dimensions]
        texts = {"question": sample.query, "answer": answer_text(outputs)}
        return [
            self._question(sample, self._fill_prompt({"criteria": _task(group)}, **texts), dimension="|".join(group))
            for group in groups
        ]

    def _combine(self, judgements: Sequence[Judgement], questions: Sequence[Question]) -> CaseScore:
        if not self.per_dimension:
            return super()._combine(judgements, questions)
        scores = {d: self._unit(j) for d, j in zip(self.dimensions, judgements, strict=True)}
        details = {"dimensions": scores, "scale": self.scale, **rationales_detail(self.dimensions, judgements)}
        if self.aggregation == "min":
            return Measurement(min(scores.values()), details=details)
        total = sum(self._weights.values())
        return Measurement(sum(scores[d] * w for d, w in self._weights.items()) / total, details=details)


def _task(dimensions: Sequence[str]) -> str:
    """Ask for one score over *dimensions*; with a single one, about that respect alone."""
    criteria = [f"{d} ({DIMENSIONS[d]})" if d in DIMENSIONS else d for d in dimensions]
    if len(criteria) == 1:
        return f"Judge the answer to the question in one respect only. How good is its {criteria[0]}?"
    return f"How good is the answer to the question, all in all? Consider: {'; '.join(criteria)}."


def _read_weights(raw: Mapping[str, float] | str, dimensions: Sequence[str]) -> dict[str, float]:
    """Return the weight of every dimension: a positive number, 1 where none is given."""
    try:
        if isinstance(raw, str):
            raw = {name: float(weight) for name, _, weight in (p.partition(":") for p in raw.split("|") if p)}
        weights = {str(name): float(weight) for name, weight in raw.items()}
    except (TypeError, ValueError):
        raise MetricError(f"weights must be dimension:number, got {raw!r}") from None
    if others := sorted(weights.keys() - set(dimensions)):
        raise MetricError(f"weights of {others} which are not dimensions")
    if not all(0 < w < float("inf") for w in weights.values()):
        raise MetricError(f"weights must be above 0, got {raw!r}")
    return {d: weights.get(d, 1.0) for d in dimensions}
