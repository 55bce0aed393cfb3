"""Answers scored by a judge: how faithful they are to the evidence, how good, whether better than the accepted ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from ..core.conversation import asked_text
from ..core.metrics_base import CaseScore, Measurement
from ..core.types import EvaluationSample, SystemOutputs, TargetCategory
from ..errors import MetricError
from .judge.critic import (
    Form,
    Judgement,
    LLMCritic,
    Question,
    Scale,
    object_form,
    object_schema,
    unwrap,
)
from .judge.prompts import fingerprint, load_prompt, number_texts
from .judge.settings import AsksCritic
from .options import UNSPELLED, Batched, choice, needed, read_words, where_applicable
from .text.comparands import AgainstEvidence, answer_text, claiming_answer, retrieved_texts
from .values import nonempty, read_list

__all__ = [
    "AnswerRelevancy",
    "LLMAnswerQuality",
    "LLMCritic",
    "LLMFaithfulnessScore",
    "LLMGroundedness",
    "Preference",
    "Rubric",
]

BASELINE_ANSWER = "baseline_answer"
"""Key of ``outputs.memo``: what the accepted run answered, where that is kept."""

_MAX_RATIONALE = 500


class Judged(AsksCritic, Batched):  # type: ignore[override]  # concurrency is that of the critic
    """Base of the metrics that ask a critic.  A case may take several questions; each reply has to be a score.

    Class attributes:
        prompt: the name of the prompt's file.
    """

    scale = "0-1"
    prompt: ClassVar[str]
    deterministic = False
    judged = True
    shares = False
    target = TargetCategory.GENERATION_RELEVANCE
    oracle = "a loopback server with known replies"

    def __post_init__(self) -> None:
        self._scale = Scale.read(self.scale)
        super().__post_init__()

    def params(self) -> dict[str, Any]:
        prompt = f"{load_prompt(self.prompt).version}:{fingerprint(self._fill_prompt())}"
        return {**super().params(), "judge": self.critic_params(), "prompt": prompt}

    def score_prepared(self, prepared: Sequence[list[Question]]) -> list[CaseScore]:
        """Ask about all cases at once.

        Raises:
            Exception: what the first failing question gave, after all were asked.
        """
        replies = iter(self.critic_in_use().ask_many([question for case in prepared for question in case]))
        return [where_applicable(self._combine, [unwrap(next(replies)) for _ in case], case) for case in prepared]

    def _combine(self, judgements: Sequence[Any], questions: Sequence[Question]) -> Measurement:
        """Make the replies to one case's questions its score."""
        (judgement,) = judgements
        rationale = nonempty(rationale=judgement.rationale[:_MAX_RATIONALE])
        details = {"score": judgement.score, "scale": self.scale, **rationale}
        return Measurement(self._unit(judgement), details=details)

    def _unit(self, judgement: Judgement) -> float:
        return self._scale.to_unit(judgement.score)

    def _question(self, sample: EvaluationSample, prompt: str, form: Form[Any] | None = None, **more: Any) -> Question:
        scale = self._scale
        pair = (scale.low, scale.high, scale.words) if scale.words else (scale.low, scale.high)
        return Question(prompt, {"metric": self.name, "sample_id": sample.sample_id, "scale": pair, **more}, form)

    def _fill_prompt(self, words: Mapping[str, str] | None = None, /, **material: str) -> str:
        words = {"scale": self._scale.instruction, "reply": self._scale.reply, **(words or {})}
        return load_prompt(self.prompt).fill(words, **material)


def _rationales(keys: Sequence[str], judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return the rationales of several judgements by *keys*, as a detail; nothing where there is none."""
    rationales = {key: j.rationale[:_MAX_RATIONALE] for key, j in zip(keys, judgements, strict=True)}
    return nonempty(rationale=nonempty(**rationales))


DIMENSIONS = {
    "relevance": "does it address what the question asks for",
    "helpfulness": "could the person who asked go on with their task",
    "clarity": "is it easy to understand",
    "completeness": "does it cover every part of the question",
    "conciseness": "is it free of what nobody asked for",
    "coherence": "does it hang together without contradicting itself",
}
"""What is asked in each respect that has a name of its own; other names are asked about as they are."""


class LLMFaithfulnessScore(AgainstEvidence, Judged):  # type: ignore[override]  # concurrency is that of the critic
    """How well the evidence supports the answer, in a judge's eyes; n/a for refusals, which state nothing.

    Args:
        evidence_source: see `AgainstEvidence`.
        scale: what the judge is asked for: ``0-1``, ``1-5``, or verdicts with scores, ``no:0|partly:0.5|yes:1``; the
            score is in [0, 1] either way.
    """

    scale: str = "0-1"

    stem = "llm_faithfulness"
    prompt = "faithfulness"
    formula = "(judge's score - lowest) / (highest - lowest)"
    source = "Auepora (arXiv:2405.07437), LLM-judged faithfulness"

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, relevant: list[str]) -> list[Question]:
        answer = claiming_answer(outputs)
        evidence = number_texts(relevant or retrieved_texts(outputs))
        texts = {"question": asked_text(sample), "evidence": evidence, "answer": answer}
        return [self._question(sample, self._fill_prompt(**texts))]


class LLMGroundedness(LLMFaithfulnessScore):
    """`LLMFaithfulnessScore` called ``llm_groundedness``."""

    stem = "llm_groundedness"


class LLMAnswerQuality(Judged):
    """How well the answer serves the question, in a judge's eyes.

    Args:
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
    formula = "(judge's score - lowest) / (highest - lowest); per dimension: weighted mean, or least"
    source = "Auepora (arXiv:2405.07437), LLM-judged answer quality"

    def __post_init__(self) -> None:
        self.dimensions = read_words(self.dimensions, "dimensions")
        self._weights = _read_weights(self.weights, self.dimensions)
        self.weights = "|".join(f"{d}:{w:g}" for d, w in self._weights.items() if w != 1)
        if self.weights and not (self.per_dimension and self.aggregation == "mean"):
            raise MetricError("weights need per_dimension=true and aggregation=mean")
        super().__post_init__()

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> list[Question] | Measurement:
        if not answer_text(outputs).strip():
            return Measurement(0.0, details={"note": "the answer is empty"})
        groups = [(d,) for d in self.dimensions] if self.per_dimension else [self.dimensions]
        texts = {"question": asked_text(sample), "answer": answer_text(outputs)}
        return [
            self._question(sample, self._fill_prompt({"criteria": _task(group)}, **texts), dimension="|".join(group))
            for group in groups
        ]

    def _combine(self, judgements: Sequence[Judgement], questions: Sequence[Question]) -> Measurement:
        if not self.per_dimension:
            return super()._combine(judgements, questions)
        scores = {d: self._unit(j) for d, j in zip(self.dimensions, judgements, strict=True)}
        details = {"dimensions": scores, "scale": self.scale, **_rationales(self.dimensions, judgements)}
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


class Rubric(Judged):
    """Share of the case's ``rubric`` that the answer meets; n/a without one.  One call for each requirement.

    Args:
        scale: the verdicts and their scores, or ``0-1``, ``1-5``.
    """

    scale: str = "no:0|partly:0.5|yes:1"

    stem = "rubric"
    prompt = "rubric"
    target = TargetCategory.GENERATION_CORRECTNESS
    formula = "mean over the requirements of the verdict's score (yes 1, partly 0.5, no 0)"
    source = "promptfoo's llm-rubric"

    def read_case(self, sample: EvaluationSample) -> list[str]:
        return [*map(str, read_list(needed(sample.labels.get("rubric"), "no rubric"), "labels['rubric']"))]

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, rubrics: list[str]) -> list[Question]:
        answer = answer_text(outputs).strip() or "(there is no answer)"
        texts = {"question": asked_text(sample), "answer": answer}
        return [self._question(sample, self._fill_prompt({"rubric": r}, **texts), rubric=r) for r in rubrics]

    def _combine(self, judgements: Sequence[Judgement], questions: Sequence[Question]) -> Measurement:
        scores = [self._unit(judgement) for judgement in judgements]
        details: dict[str, Any] = {"scores": scores} if len(scores) > 1 else {}
        details |= _rationales([q.metadata["rubric"] for q in questions], judgements)
        return Measurement(sum(scores) / len(scores), details=details)


_STATEMENT = object_schema({"statement": {"type": "string"}, "verdict": {"type": "string", "enum": ["yes", "no"]}})
_STATEMENTS: Form[list[tuple[str, bool]]] = object_form(
    "statements", {"statements": {"type": "array", "items": _STATEMENT}},
    lambda fields: [(s["statement"], {"yes": True, "no": False}[s["verdict"]]) for s in fields["statements"]],
)  # fmt: skip
_STATEMENTS_ASKED = (
    'Reply with one JSON object and nothing else: {"statements": [{"statement": "<text>", "verdict": "<yes or no>"}]}'
)


class AnswerRelevancy(Judged):
    """Share of the answer's statements that help to answer the question; one call.  To report, not to gate.

    N/a for refusals and answers without a statement.  Whether a statement is true does not matter here.  The critic
    needs `LLMCritic.complete`.
    """

    scale: str = field(default="0-1", init=False, metadata=UNSPELLED)

    stem = "answer_relevancy"
    prompt = "relevancy"
    formula = "statements of the answer that help to answer the question / statements of the answer"
    source = "deepeval's answer relevancy"

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> list[Question]:
        answer = claiming_answer(outputs).strip()
        prompt = self._fill_prompt({"reply": _STATEMENTS_ASKED}, question=asked_text(sample), answer=answer)
        return [self._question(sample, prompt, _STATEMENTS)]

    def _combine(self, judgements: Sequence[Any], questions: Sequence[Question]) -> Measurement:
        statements = needed(judgements[0], "the answer makes no statement")
        irrelevant = [statement[:_MAX_RATIONALE] for statement, relevant in statements if not relevant]
        details = nonempty(of=len(statements), irrelevant=irrelevant[:10])
        return Measurement(1 - len(irrelevant) / len(statements), details=details)


class Preference(Judged):
    """Whether the answer is better than the baseline's: 1 better, 0.5 no difference, 0 worse.  Two calls.

    The order is swapped in the second call; where the two disagree, the order decided, and the score is 0.5.  N/a
    where the accepted run's answer is not kept, or is the same word for word (then nothing is asked), and where a
    reference says what is right.

    Args:
        referenced: whether cases with a ``reference_answer`` are compared as well.
    """

    referenced: bool = False
    scale: str = field(default="second:0|tie:0.5|first:1", init=False, metadata=UNSPELLED)

    stem = "preference"
    prompt = "preference"
    baselined = False
    against_accepted = True
    formula = "1 if better in both orders, 0 if worse in both, else 0.5"
    source = "Zheng et al. 2023 (arXiv:2306.05685), pairwise comparison with swapped positions"

    def read_case(self, sample: EvaluationSample) -> None:
        needed(sample.reference_answer is None or self.referenced, "there is a reference_answer")

    def prepare(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> list[Question]:
        accepted, answer = str(outputs.memo.get(BASELINE_ANSWER) or "").strip(), answer_text(outputs).strip()
        needed(accepted, "the baseline's answer is not kept")
        needed(accepted != answer, "the same answer as the baseline's")
        answer = answer or "(there is no answer)"
        pairs = ((answer, accepted), (accepted, answer))
        return [
            self._question(sample, self._fill_prompt(question=asked_text(sample), first=a, second=b)) for a, b in pairs
        ]

    def _combine(self, judgements: Sequence[Judgement], questions: Sequence[Question]) -> Measurement:
        first, second = judgements[0].score, 1 - judgements[1].score
        value = first if first == second else 0.5
        rationales = _rationales(("this answer first", "the accepted answer first"), judgements)
        return Measurement(value, details={"orders": [first, second], **rationales})
