"""The generator of a system, called apart: given documents stand in the place of what its retriever finds.

`System.generate` does it, in the way of each kind of system.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Generator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

from ..core.model_calls import USAGE
from ..core.rag_interface import NOISE_DOCS, noise_of, with_noise
from ..core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError
from .systems import Generate, System, finish


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


def ask_with_noise(system: System, sample: EvaluationSample, top_k: int) -> Any:
    """Ask *system*, then its generator again with the noise of *sample* among what was found; or return an awaitable.

    The answer is that of the second call, the ranking and the time that of the first; the usage is that of both.

    Raises:
        NoGeneratorError: as `with_documents` does.
    """
    return finish(_noisy_steps(system, generator_of(system), sample, top_k))


def _noisy_steps(
    system: System, generate: Generate, sample: EvaluationSample, top_k: int
) -> Generator[Any, Any, SystemOutputs]:
    start = time.perf_counter()
    found = system.as_outputs((yield system.invoke(sample, top_k)), None)
    seconds = time.perf_counter() - start
    context = with_noise(found.retrieved, sample, partial(RetrievedDocument, score=0.0, rank=0))
    context = [replace(document, rank=rank) for rank, document in enumerate(context, 1)]
    outputs = system.as_outputs((yield generate(sample, top_k, context)), None)
    outputs.retrieved = found.retrieved
    outputs.timings = {"end_to_end": seconds, **found.timings}
    outputs.extra[NOISE_DOCS] = [document.doc_id for document in noise_of(sample)]
    if usage := [*found.extra.get(USAGE, ()), *outputs.extra.get(USAGE, ())]:
        outputs.extra[USAGE] = usage
    return outputs


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
