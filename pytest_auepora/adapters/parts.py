"""The parts of a system, called apart: its generator with given documents, or its retriever alone where that is enough.

`System.generate` and `System.looking` do it, in the way of each kind of system.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

from ..core.model_calls import USAGE
from ..core.rag_interface import NOISE_DOCS, noise_of, with_noise
from ..core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError, NoRetrieverError
from .steps import Steps, call_of, finish
from .systems import Generate, Looking, System

Serve = Callable[[EvaluationSample, Sequence[RetrievedDocument]], Any]
"""Returns what stands in the place of an answer made of these documents; None where the generator is asked."""


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

    def steps(sample: EvaluationSample, top_k: int) -> Steps[Any]:
        return (yield generate(sample, top_k, given))

    return _WithDocuments(
        system.name, system.is_async, call_of(steps, is_async=system.is_async), system.provenance, system.takes,
        documents=given,
    )  # fmt: skip


def retriever_of(system: System) -> Looking:
    """Return what calls *system* and shows what was retrieved before the generator is given it.

    Raises:
        NoRetrieverError: its retriever cannot be called apart.
    """
    if system.looking is None:
        raise NoRetrieverError(system.name, system.whole)
    return system.looking


class _Served(BaseException):
    """Ends a call before the generator; what tries again or falls back after an `Exception` lets it through."""


def unless_served(system: System, serve: Serve) -> Callable[[EvaluationSample, int], Any]:
    """Return a `System.invoke` that gives what *serve* has in the place of an answer, and asks the generator else.

    Raises:
        NoRetrieverError: the retriever of *system* cannot be called apart.
    """
    looking = retriever_of(system)

    def steps(sample: EvaluationSample, top_k: int) -> Steps[Any]:
        served: list[Any] = []

        def look(documents: Sequence[RetrievedDocument]) -> None:
            if (found := serve(sample, documents)) is not None:
                served.append(found)
                raise _Served

        answer = None
        try:
            answer = yield looking(sample, top_k, look)
        except (Exception, _Served):  # also what a framework made of `_Served`
            if not served:
                raise
        return served[0] if served else answer

    return call_of(steps, is_async=system.is_async)


def ask_with_noise(system: System, sample: EvaluationSample, top_k: int) -> Any:
    """Ask *system*, then its generator again with the noise of *sample* among what was found; or return an awaitable.

    The answer is that of the second call, the ranking and the time that of the first; the usage is that of both.

    Raises:
        NoGeneratorError: as `with_documents` does.
    """
    return finish(_noisy_steps(system, generator_of(system), sample, top_k))


def _noisy_steps(system: System, generate: Generate, sample: EvaluationSample, top_k: int) -> Steps[SystemOutputs]:
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
