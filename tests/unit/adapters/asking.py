"""Small systems, called as the plugin calls them."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from pytest_auepora.adapters.systems import System
from pytest_auepora.core.rag_interface import Generator, Retriever
from pytest_auepora.core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs

SAMPLE = EvaluationSample("case-1", "why?")


def ask(system: System, top_k: int = 3) -> SystemOutputs:
    """Call as the plugin does."""
    raw = system.invoke(SAMPLE, top_k)
    if inspect.isawaitable(raw):

        async def settle() -> Any:
            return await raw

        raw = asyncio.run(settle())
    return system.as_outputs(raw, 1.5)


def by_query(query: str) -> str:
    return f"{query} 3"


class Finder(Retriever):
    auepora_provenance = {"index": "v1"}  # noqa: RUF012

    def retrieve(self, query: str, *, top_k: int = 5) -> list[RetrievedDocument]:
        return [RetrievedDocument(Document(f"d{i}", f"{query} {i}"), 1 / i, i) for i in range(1, top_k + 1)]


class Writer(Generator):
    def generate(self, query: str, context_docs: list[Document]) -> Response:
        return Response(" | ".join(d.text for d in context_docs), metadata={"refused": False})


def find(query: str, k: int) -> list[dict[str, str]]:
    return [{"id": f"d{i}", "text": f"{query} {i}"} for i in range(1, k + 1)]
