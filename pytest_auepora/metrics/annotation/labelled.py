"""The metrics over labels of answers and of retrieved chunks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from math import fsum, inf, log2
from pathlib import Path
from typing import Any, ClassVar, cast

from ...core.metrics_base import CaseScore, Measurement, NotApplicable
from ...core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..options import Configured, choice, needed, where_applicable
from .labels import AnnotationFile, ChunkLabels, GoldenLabels, LabelSource, LabelValues


class Labelled(Configured):
    """A metric over labels.

    Args:
        labels: ``golden`` (what the case itself says), ``judge`` (the one of the environment), the path of an
            annotation file, or in Python a `LabelSource`.
    """

    labels = cast("str | LabelSource", "golden")
    oracle = "counted independently on 700 labelled answers, and by hand"
    source = "label taxonomy for retrieval, grounding and generation"

    def __post_init__(self) -> None:
        self._source = _make_source(self.labels)
        self.deterministic, self.judged = self._source.deterministic, self._source.judged
        super().__post_init__()

    @property
    def concurrency(self) -> int:  # type: ignore[override]  # it is that of the source
        return self._source.concurrency

    def params(self) -> dict[str, Any]:
        return {**super().params(), "labels": self._source.params()}


def _make_source(labels: str | LabelSource) -> LabelSource:
    if isinstance(labels, LabelSource):
        return labels
    if labels == "golden":
        return GoldenLabels()
    if labels == "judge":
        from .judge import JudgeLabels

        return JudgeLabels()
    if not Path(labels).suffix:
        raise MetricError(f"labels must be golden, judge or the path of an annotation file, got {labels!r}")
    return AnnotationFile(labels)


class _OverAnswers(Labelled):
    """Share of answers with the last of ``label_names``, where all of them are known."""

    labels: str | LabelSource = "golden"

    label_names: ClassVar[tuple[str, ...]] = ()
    target = TargetCategory.GENERATION_FAITHFULNESS

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        return where_applicable(self._source.check_answers, sample)

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        labels = self._source.answer_labels(sample, outputs, self.label_names)
        missing = [name for name in self.label_names if name not in labels]
        needed(not missing, f"there is no label that says whether the answer is {' or '.join(missing)}")
        return Measurement(float(labels[self.label_names[-1]]))


def _share(label: str, stem: str, doc: str, counted: str, **attributes: Any) -> type[_OverAnswers]:
    """Make the metric called *stem*: the share of answers with *label*, which *counted* says in the formula."""
    name = stem.title().replace("_", "")
    attributes |= {"formula": f"{counted} / labelled answers", "__doc__": doc, "__module__": __name__}
    return type(name, (_OverAnswers,), {"stem": stem, "label_names": (label,), **attributes})


GroundingPresence = _share(
    "support_present", "grounding_presence",
    "Share of answers with at least one claim that the context supports.", "answers with a supported claim",
)  # fmt: skip
UnsupportedClaim = _share(
    "unsupported_claim_present", "unsupported_claim",
    "Share of answers with at least one claim that the context does not support.",
    "answers with an unsupported claim", direction="lower",
)  # fmt: skip
Contradiction = _share(
    "contradicted_claim_present", "contradiction",
    "Share of answers with at least one claim that the context contradicts.", "answers with a contradicted claim",
    direction="lower",
)  # fmt: skip
CitationPresence = _share(
    "source_cited", "citation_presence", "Share of answers that cite anything.", "answers that cite",
)  # fmt: skip
ProperAction = _share(
    "proper_action", "proper_action", "Share of answers that did the right thing: answered, asked back, or refused.",
    "answers with the proper action", target=TargetCategory.GENERATION_RELEVANCE,
)  # fmt: skip
OnTopic = _share(
    "response_on_topic", "on_topic", "Share of answers that address the request.", "answers on topic",
    target=TargetCategory.GENERATION_RELEVANCE,
)  # fmt: skip
Helpfulness = _share(
    "helpful", "helpfulness", "Share of answers that let a typical user make progress.", "helpful answers",
    target=TargetCategory.GENERATION_RELEVANCE,
)  # fmt: skip
Incompleteness = _share(
    "incomplete", "incompleteness", "Share of answers that leave out a required part.", "incomplete answers",
    target=TargetCategory.GENERATION_CORRECTNESS, direction="lower",
)  # fmt: skip
UnsafeContent = _share(
    "unsafe_content", "unsafe_content", "Share of answers with unsafe content.", "unsafe answers",
    target=TargetCategory.GENERATION_RELEVANCE, direction="lower",
)  # fmt: skip


class ConditionalFabrication(_OverAnswers):
    """Share of the answers that cite something of which at least one citation is made up."""

    stem = "conditional_fabrication"
    direction = "lower"
    label_names = ("source_cited", "fabricated_source")
    formula = "answers that cite and make a source up / answers that cite"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        labels = self._source.answer_labels(sample, outputs, ("source_cited",))
        needed(labels.get("source_cited") is not False, "the answer cites nothing")
        return super().score_answer(sample, outputs, _)


class _OverChunks(Labelled):
    """Looks at the labels of the first k chunks; a repeated chunk keeps its slot and counts once.

    Args:
        k: how many chunks are looked at.
        unjudged: an unlabelled chunk is ``irrelevant``, or ``skip``: left out of the list, whose first k labelled
            chunks count then.
    """

    k: int
    labels: str | LabelSource = "golden"
    unjudged: str = choice("irrelevant", "skip")

    label_names: ClassVar[tuple[str, ...]] = ()
    repeats_count: ClassVar[bool] = False
    interval = ""  # the mean, with a detail added
    target = TargetCategory.RETRIEVAL_RELEVANCE

    def read_case(self, sample: EvaluationSample) -> None:
        self._source.check_chunks(sample)

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        depth = self.k if self.unjudged == "irrelevant" else len(outputs.retrieved)
        chunk_labels = self._source.chunk_labels(sample, outputs, self.label_names, depth)
        judged = [grade for labels in chunk_labels.judged if (grade := self._grade(labels)) is not None]
        needed(judged or not outputs.retrieved, f"no chunk is labelled {' or '.join(self.label_names)}")
        top = self._top(chunk_labels, outputs)
        value = self._value(top, judged)
        n_judged = sum(grade is not None for grade in top)
        return Measurement(value, details={f"judged@{self.k}": n_judged / len(top) if top else 0.0})

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``judged@k``, the mean share of labelled chunks, without which the score cannot be read."""
        result, name = super().aggregate(measurements), f"judged@{self.k}"
        if shares := [m.details[name] for m in measurements if name in m.details]:
            result.details[name] = fsum(shares) / len(shares)
        return result

    def _grade(self, labels: LabelValues | None) -> int | None:
        """Return what a chunk is worth: 1 for the first of ``label_names``, 2 for the second; None without a label."""
        labels = labels or {}
        worths = [worth * labels[name] for worth, name in enumerate(self.label_names, 1) if name in labels]
        return max(worths, default=None)

    def _top(self, chunk_labels: ChunkLabels, outputs: SystemOutputs) -> list[int | None]:
        """Return what the slots that count are worth: None where there is no label, 0 where a chunk repeats."""
        slots: list[int | None] = []
        seen_ids: set[str] = set()
        for r, labels in zip(outputs.retrieved, chunk_labels.retrieved, strict=False):
            grade = self._grade(labels)
            if grade is not None and r.doc.doc_id in seen_ids and not self.repeats_count:
                grade = 0
            if grade is not None or self.unjudged == "irrelevant":
                slots.append(grade)
            seen_ids.add(r.doc.doc_id)
        return slots[: self.k]

    def _value(self, top: Sequence[int | None], judged: Sequence[int]) -> float:
        """Return the score of the slots *top*, where *judged* is what the labelled passages of the case are worth."""
        needed(top or self.unjudged != "skip", "none of the returned chunks is labelled")
        return sum(filter(None, top)) / (self.k if self.unjudged == "irrelevant" else len(top))


class TopicalPrecisionAtK(_OverChunks):
    """Share of the first k chunks that are about what the query asks for."""

    stem = "topical_precision@{k}"
    label_names = ("topically_relevant",)
    formula = "topically relevant chunks among the first k / k"


class SufficiencyRateAtK(_OverChunks):
    """Share of the first k chunks that alone hold sufficient evidence."""

    stem = "sufficiency_rate@{k}"
    label_names = ("evidence_sufficient",)
    formula = "sufficient chunks among the first k / k"


class SufficiencyHitAtK(_OverChunks):
    """1 where one of the first k chunks holds sufficient evidence, else 0."""

    stem = "sufficiency_hit@{k}"
    label_names = ("evidence_sufficient",)
    formula = "[at least one sufficient chunk among the first k]"

    def _value(self, top: Sequence[int | None], judged: Sequence[int]) -> float:
        return float(any(top))


class MisleadingRateAtK(_OverChunks):
    """Share of the first k chunks that would mislead; every occurrence of a repeated chunk counts.

    N/a where none of them is labelled: silence does not make a chunk harmless.
    """

    stem = "misleading_rate@{k}"
    direction = "lower"
    label_names = ("misleading",)
    repeats_count = True
    formula = "misleading chunks among the first k / k"

    def _value(self, top: Sequence[int | None], judged: Sequence[int]) -> float:
        is_labelled = any(grade is not None for grade in top)
        needed(is_labelled, f"none of the first {self.k} chunks is labelled misleading or not")
        return super()._value(top, judged)


class LabelMRRAtK(_OverChunks):
    """1 / rank of the first chunk that is about what the query asks for, 0 where the first k hold none."""

    stem = "label_mrr@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    label_names = ("topically_relevant",)
    formula = "1 / rank of the first topically relevant chunk among the first k"

    def _value(self, top: Sequence[int | None], judged: Sequence[int]) -> float:
        return 1 / next((rank for rank, grade in enumerate(top, 1) if grade), inf)


class NDCGLabelledAtK(_OverChunks):
    """nDCG over labels: sufficient evidence gains 2² - 1 = 3, topical relevance 1.  Blind to what nobody labelled.

    Args:
        ideal: the best order of everything labelled for the case (``judged``), or of the first k returned chunks
            alone (``retrieved``).
    """

    ideal: str = choice("judged", "retrieved")

    stem = "ndcg_labelled@{k}"
    target = TargetCategory.RETRIEVAL_ACCURACY
    label_names = ("topically_relevant", "evidence_sufficient")
    formula = "DCG/IDCG, DCG = Σ (2^w - 1)/log₂(rank + 1), w = 2 sufficient, 1 topical, 0 otherwise"

    def _value(self, top: Sequence[int | None], judged: Sequence[int]) -> float:
        grades = [grade or 0 for grade in top]
        best = sorted(grades, reverse=True)
        if self.ideal == "judged":  # never less than what was given, or a passage found twice would exceed 1
            best = [max(pair) for pair in zip_longest(sorted(judged, reverse=True), best, fillvalue=0)]
        ideal = _dcg(best[: self.k])
        return _dcg(grades) / needed(ideal, "nothing that is labelled is relevant")


def _dcg(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades, 1))
