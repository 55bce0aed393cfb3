"""How a RAG system is plugged in: whole, or as a retriever and a generator."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..errors import SystemShapeError
from .types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs, id_of_text

__all__ = [
    "NOISE_DOCS",
    "EvaluationSample",
    "Generator",
    "RAGSystem",
    "RAGSystemProtocol",
    "Retriever",
    "SimpleRAGSystem",
    "SystemOutputs",
    "noise_of",
    "with_noise",
]


class RAGSystem(ABC):
    """A whole RAG pipeline."""

    @abstractmethod
    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        """Retrieve for ``sample.query``, generate an answer, return both."""


@runtime_checkable
class RAGSystemProtocol(Protocol):
    """Anything with the method of `RAGSystem`; no base class needed."""

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        """See `RAGSystem.run`."""


class Retriever(ABC):
    """Finds documents for a query."""

    @abstractmethod
    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        """Return at most *top_k* documents, best first."""


class Generator(ABC):
    """Answers a query from documents."""

    @abstractmethod
    def generate(self, query: str, context_docs: list[Document]) -> Response:
        """Return the answer to *query* given *context_docs*, best first."""


class SimpleRAGSystem(RAGSystem):
    """A retriever and a generator, one after the other, each timed."""

    takes_noise_docs = True

    def __init__(self, retriever: Retriever, generator: Generator) -> None:
        self.retriever = retriever
        self.generator = generator

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        """Retrieve, then generate from what was retrieved, and from the case's ``noise_docs`` where it has any.

        Raises:
            SystemShapeError: the sample has earlier turns, which neither part is given here; `as_system` gives them to
                parts that take ``chat_history``.
        """
        if sample.chat_history:
            raise SystemShapeError(f"chat_history: the parts of {type(self).__name__}.run are given the query alone")
        start = time.perf_counter()
        retrieved = self.retriever.retrieve(sample.query, top_k=top_k)
        retrieved_at = time.perf_counter()
        documents = with_noise([r.doc for r in retrieved], sample, lambda doc: doc)
        response = self.generator.generate(sample.query, documents)
        end = time.perf_counter()
        timings = {"retrieval": retrieved_at - start, "generation": end - retrieved_at, "end_to_end": end - start}
        noise = [doc.doc_id for doc in noise_of(sample)]
        return SystemOutputs(retrieved, response, timings, {NOISE_DOCS: noise} if noise else {})


NOISE_DOCS = "noise_docs"
"""Key of a case's labels, and of ``SystemOutputs.extra`` (the ids), where noise was put into the context."""

T = TypeVar("T")


def noise_of(sample: EvaluationSample) -> list[Document]:
    """Return the documents of ``labels["noise_docs"]``: texts, or mappings with ``text`` and perhaps ``id``."""
    noise: Sequence[Any] = sample.labels.get(NOISE_DOCS) or ()
    rows = [{"text": row} if isinstance(row, str) else row for row in ([noise] if isinstance(noise, str) else noise)]
    return [Document(str(row.get("id") or id_of_text(row["text"])), str(row["text"])) for row in rows]


def with_noise(documents: Sequence[T], sample: EvaluationSample, convert: Callable[[Document], T]) -> list[T]:
    """Return *documents* with the noise of *sample* inserted, at places that depend on the case's id alone.

    *convert* turns a noise document into the type of *documents*.
    """
    mixed = list(documents)
    for index, document in enumerate(noise_of(sample)):
        digest = sha256(f"{sample.sample_id}|noise|{index}".encode("utf-8", "surrogatepass")).digest()
        mixed.insert(int.from_bytes(digest[:4], "big") % (len(mixed) + 1), convert(document))
    return mixed
