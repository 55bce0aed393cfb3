"""Whatever the ``rag`` fixture returned → `System`: one way to call it, one way to read its answer.

Objects of LangChain, LlamaIndex and Haystack are recognised by the names of their classes (`is_instance_of`), before
the built-in forms, and without importing a framework.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

from ..core.rag_interface import NOISE_DOCS, SimpleRAGSystem
from ..core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .between import Between, Look
from .outputs import to_outputs
from .pairs import DocumentForm, Pair, find_pair
from .shapes import describe, is_instance_of
from .signatures import Bound, bind, is_async, name_of, provenance_of, takes_documents
from .steps import Steps, call_of
from .streams import consume

ACCEPTED = (
    "a RAGSystem or any object with run(sample, *, top_k); (retriever, generator) as a pair, as a mapping "
    "or as one object with .retrieve and .generate; a function, method or callable object f(query), f(query, top_k), "
    "f(sample) or f(sample, top_k), each of which may be async; a LangChain runnable, a LlamaIndex query engine or "
    "retriever, a Haystack pipeline, an HttpRag"
)
Generate = Callable[[EvaluationSample, int, Sequence[RetrievedDocument]], Any]
Looking = Callable[[EvaluationSample, int, Look], Any]


@dataclass(eq=False, repr=False)
class System:
    """A RAG system that can be called.

    Attributes:
        name: what reports call it.
        is_async: whether `invoke` only makes a coroutine, which has not begun.  Without it `invoke` may return an
            awaitable all the same, so look at what came.
        invoke: ``invoke(sample, top_k)`` returns the raw answer, or an awaitable of it.
        provenance: what the object says about itself (corpus, chunker, model, …) in ``auepora_provenance``.
        takes: which keys of a case reach it that not every system can be given: `NOISE_DOCS` in the generator's context
            (a retriever and a generator, or an object that says ``takes_noise_docs = True``), `CHAT_HISTORY`,
            `PRINCIPAL`.
        generate: ``generate(sample, top_k, documents)`` calls the generator apart from the retriever, and returns what
            `invoke` returns; None where it cannot be called apart.  `parts.with_documents` is the way to it.
        looking: ``looking(sample, top_k, look)`` does as `invoke`, and shows ``look`` what was retrieved before the
            generator is given it; None where the two are one call.  `parts.unless_served` is the way to it.
        whole: why one of the two is missing.
        unserved: the system that is asked for further answers to a case, where this one leaves out calls.
    """

    name: str
    is_async: bool
    invoke: Callable[[EvaluationSample, int], Any]
    provenance: dict[str, Any] = field(default_factory=dict)
    takes: frozenset[str] = frozenset()
    generate: Generate | None = None
    looking: Looking | None = None
    whole: str = "it retrieves and answers in one call"
    unserved: System | None = None

    def as_outputs(self, raw: Any, seconds: float | None) -> SystemOutputs:
        """Return *raw* as fresh `SystemOutputs` with ranks 1..n; raises `OutputShapeError` where it is no answer.

        *seconds*, the duration of the call if it was timed, is ``timings["end_to_end"]`` unless the system gave one.
        """
        try:
            outputs = to_outputs(raw)
        except OutputShapeError as exc:
            raise exc.at(self.name) from None
        if seconds is not None:
            outputs.timings.setdefault("end_to_end", seconds)
        return outputs


_FRAMEWORKS = {
    "langchain_core": ("langchain", ("Runnable",)),
    "llama_index": ("llamaindex", ("BaseQueryEngine", "BaseRetriever", "BaseChatEngine")),
    "haystack": ("haystack", ("PipelineBase",)),
}
"""Top-level package of a framework → the module here that has ``from_<module>``, and the classes it is for."""


def as_system(obj: Any) -> System:
    """Return *obj* as a `System`.

    Taken in this order: a `System` itself; an object of one of the frameworks; an object with ``run``;
    a (retriever, generator) pair, mapping or object; a callable.

    Raises:
        SystemShapeError: *obj* is none of them, with a guess at what went wrong.
    """
    if isinstance(obj, System):
        return obj
    for package, (module, classes) in _FRAMEWORKS.items():
        if is_instance_of(obj, package, *classes):
            adapt = getattr(import_module(f"{__package__}.{module}"), f"from_{module}")
            return cast("System", adapt(obj))
    if mistake := _likely_mistake(obj):
        raise SystemShapeError(f"the rag fixture gave {describe(obj)}; {mistake}", ACCEPTED)
    if isinstance(obj, SimpleRAGSystem) and type(obj).run is SimpleRAGSystem.run:
        return _pair_system(obj.retriever, obj.generator, obj)
    if callable(run := getattr(obj, "run", None)):
        return _callable_system(obj, run, required="sample")
    if (pair := find_pair(obj)) is not None:
        return _pair_system(*pair)
    if callable(obj):
        return _callable_system(obj, obj, required="query")
    makers = ("as_query_engine", "as_retriever")  # by which an index or a vector store makes a system
    method_name = next((name for name in makers if callable(getattr(obj, name, None))), None)
    hint = f"; did you mean .{method_name}()?" if method_name else ""
    raise SystemShapeError(f"the rag fixture gave {describe(obj)}{hint}", ACCEPTED)


def _callable_system(obj: Any, fn: Callable[..., Any], *, required: str) -> System:
    call = bind(fn, required)
    noise = {NOISE_DOCS} if getattr(obj, "takes_noise_docs", False) else set()

    def invoke(sample: EvaluationSample, top_k: int) -> Any:
        return consume(lambda: call(sample, top_k))

    takes = getattr(obj, "auepora_takes", call.takes)  # of what it is given, an object may use a part
    system = System(name_of(obj), is_async(fn), invoke, provenance_of(obj), takes | noise)
    if takes_documents(fn):
        _generate_by(system, bind(fn, required, "documents"))
    return system


def _generate_by(system: System, call: Bound) -> None:
    """Let *system* generate by its own function, where *call* gives this documents instead of having it retrieve."""
    form, ask = DocumentForm(system.name), system.invoke

    def asked(sample: EvaluationSample, top_k: int) -> Steps[Any]:
        return form.read((yield ask(sample, top_k)))

    def given(sample: EvaluationSample, top_k: int, documents: Sequence[RetrievedDocument]) -> Steps[Any]:
        if not form.is_known:
            yield from asked(sample, top_k)
        own = form.given(documents)
        return (yield consume(lambda: call(sample, top_k, documents=own)))

    system.invoke, system.generate = call_of(asked, is_async=False), call_of(given, is_async=False)
    system.whole = "it is a function that retrieves where no documents are given, and answers in the same call"


def _pair_system(retriever: Any, generator: Any, whole: Any = None) -> System:
    """Return a retriever and a generator as one system; it is named after *whole*, if given."""
    pair = Pair(retriever, generator)
    name, provenance = name_of(retriever), provenance_of(retriever)
    if whole is not None:
        name, provenance = name_of(whole), provenance_of(whole)
    elif generator is not retriever:
        name, provenance = f"{name} + {name_of(generator)}", provenance | provenance_of(generator)
    return stepwise(name, pair.steps, is_async=pair.is_async, provenance=provenance, takes=pair.takes)


def stepwise(
    name: str,
    steps: Callable[..., Steps[Any]],
    *,
    is_async: bool,
    provenance: dict[str, Any],
    takes: frozenset[str],
    whole: str = "",
) -> System:
    """Return the system whose calls are the *steps* of a sample, ``top_k`` and perhaps a `Between`.

    *whole* says why nothing can stand there.
    """
    call = call_of(steps, is_async=is_async)
    system = System(name, is_async, call, provenance, takes)
    if whole:
        system.whole = whole
    else:
        system.generate = lambda sample, top_k, documents: call(sample, top_k, Between(documents))
        system.looking = lambda sample, top_k, look: call(sample, top_k, Between(look=look))
    return system


def _likely_mistake(obj: Any) -> str:
    """Guess what went wrong in the fixture, or return an empty string."""
    if obj is None:
        return "the fixture returns nothing: is there a return missing?"
    if inspect.iscoroutine(obj):
        obj.close()  # it is never awaited
        return (
            "your rag fixture is async and nobody awaited it: declare it with pytest_asyncio.fixture or run it under "
            "anyio, or make the fixture sync and return the async function"
        )
    if inspect.isawaitable(obj):
        return "it has not finished: await it in the fixture"
    if inspect.isgenerator(obj) or inspect.isasyncgen(obj):
        return "a generator is not a system: yield the system from a fixture, or return the function without calling it"
    if inspect.isclass(obj):
        return f"that is the class itself: return an instance, {obj.__name__}(…)"
    if inspect.ismodule(obj):
        return "that is a module: return one of its functions"
    if isinstance(obj, str):
        return "that is a text: return the function that answers, not its answer"
    return ""
