"""Short ways to write a case and what a system gave for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_auepora.core.metrics_base import Measurement, Metric, NotApplicable
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs


def case(
    reference: str | Sequence[str] | None = None,
    *,
    query: str = "q",
    relevant: Sequence[Document | str] | None = None,
    **labels: Any,
) -> EvaluationSample:
    """Make a sample; several references become one with alternatives."""
    answer = None
    if reference is not None:
        first, *others = [reference] if isinstance(reference, str) else list(reference)
        answer = Response(first, metadata={"alternatives": others} if others else {})
    docs = None if relevant is None else [d if isinstance(d, Document) else Document(d) for d in relevant]
    return EvaluationSample("case", query, relevant_docs=docs, reference_answer=answer, labels=labels)


def gave(answer: str = "", *retrieved: Document | str, **more: Any) -> SystemOutputs:
    """Make outputs; a retrieved string is a document's text."""
    docs = [d if isinstance(d, Document) else Document(f"d{i}", d) for i, d in enumerate(retrieved, 1)]
    ranked = [RetrievedDocument(d, 1 / i, i) for i, d in enumerate(docs, 1)]
    return SystemOutputs(ranked, Response(answer, metadata=more.pop("metadata", {}), **more))


def said(text: Any, **metadata: Any) -> SystemOutputs:
    """Make outputs of an answer alone."""
    return SystemOutputs([], Response(text, metadata=metadata))


REFUSAL = "I don't know."
"""An answer that is a refusal by its words."""


def value(metric: Metric, sample: EvaluationSample, outputs: SystemOutputs) -> float:
    """Return the score of one case, which must have one."""
    seen = metric.measure(sample, outputs)
    assert isinstance(seen, Measurement), seen
    assert seen.value is not None
    return seen.value


def reason(metric: Metric, sample: EvaluationSample, outputs: SystemOutputs) -> str:
    """Return why the metric has nothing to say about one case."""
    seen = metric.measure(sample, outputs)
    assert isinstance(seen, NotApplicable), seen
    return seen.reason


def is_na(metric: Metric, sample: EvaluationSample, outputs: SystemOutputs) -> bool:
    """Whether the metric has nothing to say about one case; `test_reasons` knows why."""
    return isinstance(metric.measure(sample, outputs), NotApplicable)


def note_of(metric: Metric, sample: EvaluationSample, outputs: SystemOutputs) -> str:
    """Return what the details of a score say about it; empty where they say nothing."""
    seen = metric.measure(sample, outputs)
    assert isinstance(seen, Measurement), seen
    return str(seen.details.get("note", ""))


CHUNKS: list[dict[str, Any]] = [
    {"id": "a", "topically_relevant": True, "evidence_sufficient": False, "misleading": False},
    {"id": "b", "topically_relevant": True, "evidence_sufficient": True, "misleading": False},
    {"id": "c", "topically_relevant": False, "evidence_sufficient": False, "misleading": True},
    {"id": "d", "topically_relevant": True, "evidence_sufficient": True, "misleading": False},
]
SAMPLE = case(chunk_labels=CHUNKS)


def got(*ids: str) -> Any:
    return gave("x", *(Document(i, f"text of {i}") for i in ids))


ANSWER = "Refunds take 30 days [1]."
