"""Recorded answers, made by hand."""

from __future__ import annotations

from pytest_auepora.evaluation.answer_codec import RecordedDocument, RecordedOutputs
from pytest_auepora.evaluation.recording import Recording


def said(answer: str, *texts: str) -> Recording:
    """Return what is recorded of *answer*, for which documents of these *texts* were found."""
    documents = [RecordedDocument(f"d{rank}", text, 0.5, rank) for rank, text in enumerate(texts, 1)]
    return Recording("h", 5, 0.25, 1, outputs=RecordedOutputs(answer, documents, {"end_to_end": 0.25}))


def failed(error: str) -> Recording:
    """Return what is recorded of a call that raised."""
    return Recording("h", 5, 0.25, 1, error)
