"""What an answer is compared with: reference texts, the query, the evidence; or why there is nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.metrics_base import NotApplicable
from ...core.types import Document, EvaluationSample, SystemOutputs, TargetCategory
from ..options import Configured, choice
from ..values import read_list


class AgainstTexts(Configured):
    """Base of the metrics that compare the answer with texts of the case."""

    def comparands(self, sample: EvaluationSample) -> Any:
        """Return what the answer is compared with, or `NotApplicable` where there is nothing: `targets`."""
        return targets(sample)

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        comparands = self.comparands(sample)
        return comparands if isinstance(comparands, NotApplicable) else None


class Compared(AgainstTexts):
    """Base of the metrics that compare the answer with the reference, or by *compare_to* with the query."""

    compare_to: str

    reads = frozenset({"answer"})

    def __post_init__(self) -> None:
        super().__post_init__()
        by_query = self.compare_to == "query"
        self.target = TargetCategory.GENERATION_RELEVANCE if by_query else TargetCategory.GENERATION_CORRECTNESS
        self.required = ("reference_answer",) if self.compare_to == "reference" else ()

    def comparands(self, sample: EvaluationSample) -> Any:
        return targets(sample, self.compare_to)


@dataclass(eq=False, repr=False)
class AgainstEvidence(Configured):
    """Base of the metrics that compare the answer with evidence.

    Args:
        evidence_source: the ``retrieved`` documents, or the ``relevant`` ones of the golden case.
    """

    evidence_source: str = choice("retrieved", "relevant")

    target = TargetCategory.GENERATION_FAITHFULNESS
    reads = frozenset({"answer", "ranking", "documents"})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.required = ("relevant_docs",) if self.evidence_source == "relevant" else ()

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        evidence = relevant_texts(sample) if self.evidence_source == "relevant" else []
        return evidence if isinstance(evidence, NotApplicable) else None


def answer_text(outputs: SystemOutputs) -> str:
    """Return the answer, an empty string where there is none."""
    return outputs.response.text or ""


def targets(sample: EvaluationSample, compare_to: str = "reference") -> list[str] | NotApplicable:
    """Return the texts an answer may agree with, best first: the reference and its alternatives, or the query."""
    if compare_to == "query":
        return [sample.query] if sample.query.strip() else NotApplicable("the query is empty")
    if sample.reference_answer is None:
        return NotApplicable("no reference_answer")
    raw = sample.reference_answer.metadata.get("alternatives") or ()
    alternatives = read_list(raw, "reference_answer.metadata['alternatives']")
    texts = [str(t) for t in (sample.reference_answer.text, *alternatives) if t is not None and str(t).strip()]
    return texts or NotApplicable("reference_answer is empty")


def evidence_texts(
    sample: EvaluationSample, outputs: SystemOutputs, source: str, top_k: int | None = None
) -> list[str] | NotApplicable:
    """Return the evidence, one text a document; an empty list where nothing was retrieved, at most *top_k*.

    N/a where documents have no text.
    """
    if source == "relevant":
        return relevant_texts(sample)
    return _texts([r.doc for r in outputs.retrieved[:top_k]], "retrieved")


def relevant_texts(sample: EvaluationSample) -> list[str] | NotApplicable:
    """Return the texts of the relevant documents of the golden case."""
    return _texts(sample.relevant_docs, "relevant") if sample.relevant_docs else NotApplicable("no relevant_docs")


def _texts(docs: list[Document], source: str) -> list[str] | NotApplicable:
    texts = [d.text for d in docs if d.text and d.text.strip()]
    if docs and not texts:
        return NotApplicable(f"the {source} documents carry no text")
    return texts
