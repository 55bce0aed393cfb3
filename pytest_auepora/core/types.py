"""The Auepora vocabulary: samples with their ground truth, documents, and the outputs of a system.

The dataclasses are those of the framework's engineering specification.  Nothing here computes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Any

__all__ = [
    "MADE_UP",
    "Document",
    "EvaluationSample",
    "MetricResult",
    "Response",
    "RetrievedDocument",
    "SystemOutputs",
    "TargetCategory",
    "id_of_text",
]


class TargetCategory(Enum):
    """Which aspect of a RAG system a metric looks at (the *Target* of Auepora, arXiv:2405.07437)."""

    RETRIEVAL_RELEVANCE = auto()
    RETRIEVAL_ACCURACY = auto()
    GENERATION_RELEVANCE = auto()
    GENERATION_FAITHFULNESS = auto()
    GENERATION_CORRECTNESS = auto()
    LATENCY = auto()
    DIVERSITY = auto()
    NOISE_ROBUSTNESS = auto()
    NEGATIVE_REJECTION = auto()
    COUNTERFACTUAL_ROBUSTNESS = auto()
    # beyond the framework: what running a service adds
    OPERATIONAL = auto()
    PRIVACY = auto()


@dataclass
class Document:
    """A document or chunk.

    As ground truth, ``metadata["grade"]`` (int, default 1) says how relevant it is; with ``metadata["match"]``
    of ``"quote"`` the ``text`` is a quotation and with ``"span"`` the keys ``start`` / ``end`` are character
    offsets (end exclusive) in the *source document* that ``doc_id`` names, whatever its chunks are called.
    As a retrieved chunk, ``metadata["document_id"]`` names the source document, ``start`` / ``end`` its place.
    """

    doc_id: str
    text: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class RetrievedDocument:
    """A document at its place in a ranking.  ``rank`` is 1-based; the list order is what counts."""

    doc: Document
    score: float
    rank: int


@dataclass
class Response:
    """An answer.  As ground truth, ``metadata["alternatives"]`` may list further correct texts."""

    text: str
    structured: dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class EvaluationSample:
    """One row of an evaluation data set; every annotation is optional.

    ``relevant_docs`` of ``None`` means nobody said; an empty list means nothing is relevant, so a
    system should refuse.  ``labels`` holds what robustness and assertion metrics read: ``scenario``,
    ``variant_of``, ``expect`` (answer / refuse / clarify), ``must_contain``, ``forbidden``, …  ``chat_history`` has
    what was said before the query, oldest first: messages with ``role`` (user, assistant, system) and ``content``.
    """

    sample_id: str
    query: str
    relevant_docs: list[Document] | None = None
    candidate_docs: list[Document] | None = None
    reference_answer: Response | None = None
    labels: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    chat_history: list[dict[str, str]] = field(default_factory=list)


@dataclass
class SystemOutputs:
    """What a RAG system gave for one sample.  ``timings`` are seconds, under ``end_to_end``, ``retrieval``, …"""

    retrieved: list[RetrievedDocument]
    response: Response
    timings: dict[str, float] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Where metrics keep what several of them need (tokens, hit positions); no field, and never stored."""
        return {}


@dataclass
class MetricResult:
    """One metric over a data set.  ``details["num_samples"]`` is how many samples the value stands on."""

    name: str
    target: TargetCategory
    value: float
    details: dict[str, Any] = field(default_factory=dict)


MADE_UP = "sha:"
"""Prefix of the ids made up for documents without one."""


def id_of_text(text: str) -> str:
    """Return the id of a document without one: ``sha:`` and 12 hexadecimal digits of SHA-256."""
    return MADE_UP + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
