"""What an answer is compared with: reference texts, the query, the evidence; or why there is nothing."""

from __future__ import annotations

from typing import Any

from ...core.types import Document, EvaluationSample, SystemOutputs, TargetCategory
from ..options import Configured, choice, needed
from ..refusal import is_refusal
from ..values import read_list


class AgainstTexts(Configured):
    """Base of the metrics that compare the answer with texts of the case: the references."""

    compare_to = "reference"

    reads = frozenset({"answer"})

    def read_case(self, sample: EvaluationSample) -> Any:
        return targets(sample, self.compare_to)


class Compared(AgainstTexts):
    """Base of the metrics that compare the answer with the reference, or by *compare_to* with the query."""

    def __post_init__(self) -> None:
        super().__post_init__()
        by_query = self.compare_to == "query"
        self.target = TargetCategory.GENERATION_RELEVANCE if by_query else TargetCategory.GENERATION_CORRECTNESS
        self.required = () if by_query else ("reference_answer",)


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

    def read_case(self, sample: EvaluationSample) -> list[str]:
        """Return the texts of the relevant documents where they are the evidence, else nothing."""
        return relevant_texts(sample) if self.evidence_source == "relevant" else []


def answer_text(outputs: SystemOutputs) -> str:
    """Return the answer, an empty string where there is none."""
    return outputs.response.text or ""


def given_answer(outputs: SystemOutputs) -> str:
    """Return the answer; raises `DoesNotApply` where there is none, or none but blanks."""
    needed(answer_text(outputs).strip(), "no answer")
    return answer_text(outputs)


def claiming_answer(outputs: SystemOutputs) -> str:
    """Return the answer; raises `DoesNotApply` where there is none, or a refusal, which claims nothing."""
    answer = given_answer(outputs)
    needed(not is_refusal(outputs), "a refusal makes no claim")
    return answer


def targets(sample: EvaluationSample, compare_to: str = "reference") -> list[str]:
    """Return the texts an answer may agree with, best first: the reference and its alternatives, or the query.

    Raises `DoesNotApply` where there are none.
    """
    if compare_to == "query":
        needed(sample.query.strip(), "the query is empty")
        return [sample.query]
    reference = needed(sample.reference_answer, "no reference_answer")
    alternatives = read_list(reference.metadata.get("alternatives") or (), "reference_answer.metadata['alternatives']")
    texts = [str(t) for t in (reference.text, *alternatives) if t is not None and str(t).strip()]
    return needed(texts, "reference_answer is empty")


def retrieved_texts(outputs: SystemOutputs, top_k: int | None = None) -> list[str]:
    """Return the texts of the retrieved documents, of *top_k* at most; an empty list where nothing was retrieved.

    Raises `DoesNotApply` where documents have no text.
    """
    return _texts([r.doc for r in outputs.retrieved[:top_k]], "retrieved")


def relevant_texts(sample: EvaluationSample) -> list[str]:
    """Return the texts of the relevant documents of the golden case; raises `DoesNotApply` where there are none."""
    return _texts(needed(sample.relevant_docs, "no relevant_docs"), "relevant")


def _texts(docs: list[Document], source: str) -> list[str]:
    texts = [d.text for d in docs if d.text and d.text.strip()]
    return needed(texts, f"the {source} documents carry no text") if docs else []
