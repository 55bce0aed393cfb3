"""The generator of a system, called apart: given documents stand in the place of what its retriever finds.

`System.generate` does it, in the way of each kind of system.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from ..core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError
from .systems import Generate, System


def generator_of(system: System) -> Generate:
    """Return what calls the generator of *system* apart.

    Raises:
        NoGeneratorError: it cannot be called apart.
    """
    if system.generate is None:
        raise NoGeneratorError(system.name, system.whole)
    return system.generate


def with_documents(system: System, documents: Sequence[RetrievedDocument]) -> System:
    """Return *system* as one that answers from *documents* without asking its retriever.

    It is called as any system is, and its answers have *documents*, with ranks 1..n.

    Raises:
        NoGeneratorError: its generator cannot be called apart; some systems show it only when they are called.
    """
    generate = generator_of(system)
    given = [replace(document, rank=rank) for rank, document in enumerate(documents, 1)]

    def invoke(sample: EvaluationSample, top_k: int) -> Any:
        return generate(sample, top_k, given)

    async def ainvoke(sample: EvaluationSample, top_k: int) -> Any:
        raw = invoke(sample, top_k)
        return await raw if inspect.isawaitable(raw) else raw

    return _WithDocuments(
        system.name, system.is_async, ainvoke if system.is_async else invoke, system.provenance, system.takes,
        documents=given,
    )  # fmt: skip


@dataclass(eq=False, repr=False)
class _WithDocuments(System):
    """A system that answers from *documents*."""

    _: KW_ONLY
    documents: Sequence[RetrievedDocument] = ()

    def as_outputs(self, raw: Any, seconds: float | None) -> SystemOutputs:
        """Do as `System.as_outputs`; whatever *raw* says of documents, it was made of these."""
        outputs = super().as_outputs(raw, seconds)
        outputs.retrieved = list(self.documents)
        return outputs
