"""How a RAG system is plugged in: whole, or as a retriever and a generator."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

from .noise import NOISE_DOCS, noise_of, with_noise
from .types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs

__all__ = [
    "EvaluationSample",
    "Generator",
    "RAGSystem",
    "RAGSystemProtocol",
    "Retriever",
    "SimpleRAGSystem",
    "SystemOutputs",
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
        self._retriever = retriever
        self._generator = generator

    def run(self, sample: EvaluationSample, *, top_k: int = 5) -> SystemOutputs:
        """Retrieve, then generate from what was retrieved, and from the case's ``noise_docs`` where it has any."""
        start = time.perf_counter()
        retrieved = self._retriever.retrieve(sample.query, top_k=top_k)
        found = time.perf_counter()
        documents = with_noise([r.doc for r in retrieved], sample, lambda doc: doc)
        response = self._generator.generate(sample.query, documents)
        end = time.perf_counter()
        timings = {"retrieval": found - start, "generation": end - found, "end_to_end": end - start}
        noise = [doc.doc_id for doc in noise_of(sample)]
        return SystemOutputs(retrieved, response, timings, {NOISE_DOCS: noise} if noise else {})
