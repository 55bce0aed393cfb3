"""Whatever the ``rag`` fixture returned → `System`: one way to call it, one way to read its answer.

Objects of LangChain, LlamaIndex and Haystack are recognised by the names of their classes (`is_instance_of`), before
the built-in forms, and without importing a framework.

The signature of a callable is read once.  A parameter is given what `NAMES` has under its name; one annotated as
`EvaluationSample` is given the sample.  What every call brings and no name claims (the query, or the sample for
``run``; then a generator's documents) goes to the first free positional parameters.  ``messages`` are the earlier
turns, and the query behind them where no other parameter is given that.  Any other parameter needs a default.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

from ..core.conversation import CHAT_HISTORY, PRINCIPAL, messages_of, principal_of, turns_of
from ..core.rag_interface import NOISE_DOCS, SimpleRAGSystem, noise_of, with_noise
from ..core.rag_interface import Generator as GeneratorBase
from ..core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError, OutputShapeError, SystemShapeError
from .documents import to_retrieved
from .outputs import NOTES, documents_in, to_outputs
from .own_documents import converter_for
from .shapes import describe, is_instance_of, short_repr, type_name
from .streams import consume, read_stream

ACCEPTED = (
    "a RAGSystem or any object with run(sample, *, top_k); (retriever, generator) as a pair, as a mapping "
    "or as one object with .retrieve and .generate; a function, method or callable object f(query), f(query, top_k), "
    "f(sample) or f(sample, top_k), each of which may be async; a LangChain runnable, a LlamaIndex query engine or "
    "retriever, a Haystack pipeline, an HttpRag"
)
NAMES = {
    "sample": ("sample", "evaluation_sample", "case"),
    "query": ("query", "question", "q", "prompt", "text", "input", "message", "user_input"),
    "top_k": ("top_k", "topk", "k", "n_docs", "n_results", "num_results", "limit"),
    "documents": (
        "context_docs", "documents", "docs", "contexts", "context", "chunks", "passages", "retrieved", "sources",
    ),
    CHAT_HISTORY: ("chat_history", "history"),
    "messages": ("messages",),
    PRINCIPAL: ("principal",),
    "metadata": ("metadata",),
}  # fmt: skip
"""What a call brings → the names of parameters that are given it; the documents go to generators only."""

_OF_SAMPLE: dict[str, Callable[[EvaluationSample], Any]] = {
    CHAT_HISTORY: turns_of,
    "messages": messages_of,
    PRINCIPAL: principal_of,
    "metadata": lambda sample: {**sample.metadata, **({PRINCIPAL: who} if (who := principal_of(sample)) else {})},
}
"""What is made of the sample only for systems that take it."""

_TAKEN = {
    "sample": {CHAT_HISTORY, PRINCIPAL}, CHAT_HISTORY: {CHAT_HISTORY}, "messages": {CHAT_HISTORY},
    PRINCIPAL: {PRINCIPAL}, "metadata": {PRINCIPAL},
}  # fmt: skip
"""What a system is given → what of a case reaches it so."""

_ROLE_OF = {name: role for role, names in NAMES.items() for name in names}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ASYNC_KINDS = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


Generate = Callable[[EvaluationSample, int, Sequence[RetrievedDocument]], Any]
Look = Callable[[Sequence[RetrievedDocument]], None]
"""Is shown what was retrieved; raises where the generator need not be asked."""
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
    if (pair := _find_pair(obj)) is not None:
        return _pair_system(*pair)
    if callable(obj):
        return _callable_system(obj, obj, required="query")
    makers = ("as_query_engine", "as_retriever")  # by which an index or a vector store makes a system
    method_name = next((name for name in makers if callable(getattr(obj, name, None))), None)
    hint = f"; did you mean .{method_name}()?" if method_name else ""
    raise SystemShapeError(f"the rag fixture gave {describe(obj)}{hint}", ACCEPTED)


def _callable_system(obj: Any, fn: Callable[..., Any], *, required: str) -> System:
    call = _bind(fn, required)
    noise = {NOISE_DOCS} if getattr(obj, "takes_noise_docs", False) else set()

    def invoke(sample: EvaluationSample, top_k: int) -> Any:
        return consume(lambda: call(sample, top_k))

    takes = getattr(obj, "auepora_takes", call.takes)  # of what it is given, an object may use a part
    system = System(name_of(obj), is_async(fn), invoke, provenance_of(obj), takes | noise)
    if _takes_documents(fn):
        _generate_by(system, _bind(fn, required, "documents"))
    return system


def _generate_by(system: System, call: _Bound) -> None:
    """Let *system* generate by its own function, where *call* gives this documents instead of having it retrieve."""
    form = _Form(system.name)

    def invoke(sample: EvaluationSample, top_k: int, ask: Callable[..., Any] = system.invoke) -> Any:
        return read_result(ask(sample, top_k), form.read)

    def steps(sample: EvaluationSample, top_k: int, documents: Sequence[RetrievedDocument]) -> Generator[Any, Any, Any]:
        if not form.is_known:
            yield invoke(sample, top_k)
        given = form.given(documents)
        return (yield consume(lambda: call(sample, top_k, documents=given)))

    system.invoke, system.generate = invoke, lambda *given: finish(steps(*given))
    system.whole = "it is a function that retrieves where no documents are given, and answers in the same call"


def _takes_documents(fn: Callable[..., Any]) -> bool:
    """Whether *fn* has a parameter for documents that is None by default: it retrieves where none are given."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(_role_of(p) == "documents" and p.default is None and p.name not in _OTHER_CONTEXT for p in parameters)


_OTHER_CONTEXT = ("context", "sources", "retrieved")
"""Names of parameters that give a generator its documents, and may mean anything else in a whole system."""


class _Form:
    """In which form a system has its documents, as its own say: an example, the first that was seen."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._examples: list[Any] = []

    @property
    def is_known(self) -> bool:
        return bool(self._examples)

    def see(self, documents: Any) -> None:
        """Take the first of *documents*, which can be read more than once, as the example."""
        if not self._examples and isinstance(documents, Iterable) and not isinstance(documents, (str, Iterator)):
            self._examples = list(itertools.islice(documents, 1))

    def read(self, raw: Any) -> Any:
        """Return *raw*, an answer, after a look at its documents."""
        self.see(documents_in(raw))
        return raw

    def given(self, documents: Sequence[RetrievedDocument]) -> list[Any]:
        """Return *documents* in this form; raises `NoGeneratorError` where there is no example."""
        if not self._examples:
            raise NoGeneratorError(self._name, "no document was retrieved that shows in what form it takes documents")
        return list(map(converter_for(self._examples, "given documents"), documents))


def read_result(result: Any, read: Callable[[Any], Any]) -> Any:
    """Return what *read* makes of *result*, or an awaitable of that where *result* is one."""

    async def later() -> Any:
        made = read(await result)
        return await made if inspect.isawaitable(made) else made

    return later() if inspect.isawaitable(result) else read(result)


def _find_pair(obj: Any) -> tuple[Any, Any] | None:
    """Return the retriever and the generator that *obj* is or holds, or None if it is nothing of that kind."""
    if isinstance(obj, Mapping):
        names = (("retriever", "retrieve"), ("generator", "generate"))
        retriever, generator = (next((obj[k] for k in keys if k in obj), None) for keys in names)
        if retriever is None or generator is None:
            raise SystemShapeError(
                f"the rag fixture gave {describe(obj)}; a mapping needs the keys 'retriever' and 'generator'"
            )
        return retriever, generator
    if isinstance(obj, (tuple, list)):
        if len(obj) != 2:
            raise SystemShapeError(f"the rag fixture gave {describe(obj)}; a pair is (retriever, generator)")
        first, second = obj
        swapped = hasattr(first, "generate") and hasattr(second, "retrieve") and not hasattr(first, "retrieve")
        return (second, first) if swapped else (first, second)
    has = [callable(getattr(obj, name, None)) for name in ("retrieve", "generate")]
    if all(has):
        return obj, obj
    if any(has) and not callable(obj):
        present, lacks = ("retrieve", "generate") if has[0] else ("generate", "retrieve")
        raise SystemShapeError(
            f"the rag fixture gave {describe(obj)}; it has .{present} but no .{lacks}: return (retriever, generator), "
            "or a function query -> (answer, documents), with '' as the answer of a retriever alone"
        )
    return None


def _pair_system(retriever: Any, generator: Any, whole: Any = None) -> System:
    """Return a retriever and a generator as one system; it is named after *whole*, if given."""
    pair = _Pair(retriever, generator)

    async def ainvoke(sample: EvaluationSample, top_k: int) -> Any:
        return await pair.invoke(sample, top_k)

    name, provenance = name_of(retriever), provenance_of(retriever)
    if whole is not None:
        name, provenance = name_of(whole), provenance_of(whole)
    elif generator is not retriever:
        name, provenance = f"{name} + {name_of(generator)}", provenance | provenance_of(generator)
    return System(
        name, pair.is_async, ainvoke if pair.is_async else pair.invoke, provenance, pair.takes, pair.generate,
        pair.looking,
    )  # fmt: skip


class _Pair:
    """Calls a retriever and a generator, one after the other or the second apart, and times each.

    A subclass of `Generator` is given a list of `Document`.  Any other generator gets the documents of
    `RetrievedDocument` objects, or else exactly what the retriever returned, since the two were
    written for each other.  The case's ``noise_docs`` stand among them, in the same form.
    """

    def __init__(self, retriever: Any, generator: Any) -> None:
        retrieve = _find_method(retriever, "retrieve", "retriever")
        generate = _find_method(generator, "generate", "generator")
        self._call_retrieve, self._call_generate = _bind(retrieve, "query"), _bind(generate, "query", "documents")
        self._wants_documents = isinstance(generator, GeneratorBase)
        self._form = _Form(name_of(generator))
        self.is_async = is_async(retrieve) or is_async(generate)
        self.takes = self._call_retrieve.takes | self._call_generate.takes | {NOISE_DOCS}

    def invoke(self, sample: EvaluationSample, top_k: int) -> Any:
        return finish(self._run_steps(sample, top_k))

    def looking(self, sample: EvaluationSample, top_k: int, look: Look) -> Any:
        return finish(self._run_steps(sample, top_k, look))

    def generate(self, sample: EvaluationSample, top_k: int, documents: Sequence[RetrievedDocument]) -> Any:
        return finish(self._given_steps(sample, top_k, documents))

    # The steps yield what each part returns, awaitable or not; the caller sends back the awaited value.

    def _run_steps(
        self, sample: EvaluationSample, top_k: int, look: Look | None = None
    ) -> Generator[Any, Any, SystemOutputs]:
        retrieved, context, spent = yield from self._retrieve_steps(sample, top_k)
        if look is not None:
            look(retrieved)
        outputs = yield from self._generate_steps(sample, top_k, context, spent)
        outputs.retrieved = retrieved
        outputs.timings = {"retrieval": spent, **outputs.timings}
        return outputs

    def _given_steps(
        self, sample: EvaluationSample, top_k: int, documents: Sequence[RetrievedDocument]
    ) -> Generator[Any, Any, SystemOutputs]:
        if not (self._wants_documents or self._form.is_known):
            yield from self._retrieve_steps(sample, top_k)
        context = [given.doc for given in documents] if self._wants_documents else self._form.given(documents)
        return (yield from self._generate_steps(sample, top_k, context, 0.0))

    def _retrieve_steps(
        self, sample: EvaluationSample, top_k: int
    ) -> Generator[Any, Any, tuple[list[RetrievedDocument], Any, float]]:
        """Return what was retrieved, what the generator is given of it, and the seconds of the retriever."""
        start = time.perf_counter()
        documents = yield self._call_retrieve(sample, top_k)
        seconds = time.perf_counter() - start
        if isinstance(documents, Iterator) and not inspect.isgenerator(documents):  # a map can be read only once
            documents = list(documents)
        try:
            retrieved = to_retrieved(documents)
        except OutputShapeError as exc:
            raise exc.at("from the retriever") from None
        are_ours = isinstance(documents, (list, tuple)) and documents and isinstance(documents[0], RetrievedDocument)
        context = [r.doc for r in retrieved] if self._wants_documents or are_ours else documents
        self._form.see(context)
        return retrieved, context, seconds

    def _generate_steps(
        self, sample: EvaluationSample, top_k: int, context: Any, spent: float
    ) -> Generator[Any, Any, SystemOutputs]:
        """Return the answer from *context*, which took *spent* seconds."""
        if noise := noise_of(sample):
            context = with_noise(() if context is None else context, sample, converter_for(context))
        start = time.perf_counter()  # the conversions before it are no latency of the system
        answer = yield self._call_generate(sample, top_k, documents=context)
        answer = yield read_stream(answer, start - spent)
        seconds = time.perf_counter() - start
        outputs = to_outputs(answer)
        outputs.extra.pop(NOTES, None)  # drops the note that the answer came without documents
        if noise:
            outputs.extra[NOISE_DOCS] = [doc.doc_id for doc in noise]
        outputs.timings = {"generation": seconds, "end_to_end": seconds + spent, **outputs.timings}
        return outputs


def finish(steps: Generator[Any, Any, SystemOutputs], value: Any = None) -> Any:
    """Return the result of *steps*, or an awaitable of it from the first awaitable on that they yield."""
    try:
        result = steps.send(value)
    except StopIteration as stop:
        return stop.value
    return read_result(result, functools.partial(finish, steps))


def _find_method(part: Any, name: str, part_name: str) -> Callable[..., Any]:
    if not isinstance(part, type):
        for method in (getattr(part, name, None), part):
            if callable(method):
                return cast("Callable[..., Any]", method)
    hint = "; that is the class itself: make an instance" if isinstance(part, type) else ""
    raise SystemShapeError(f"the {part_name} is {describe(part)}, without .{name} and not callable{hint}")


@dataclass(eq=False, repr=False)
class _Bound:
    """A function with the roles of its leading positional arguments, and of each keyword argument.

    ``optional`` are those arguments that are left to their default where the case has nothing for them.
    """

    fn: Callable[..., Any]
    positional: Sequence[str]
    keyword: Mapping[str, str] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._roles = {*self.positional, *self.keyword.values()}
        self._made = [role for role in _OF_SAMPLE if role in self._roles]

    @property
    def takes(self) -> frozenset[str]:
        """What of a case reaches the function, as `System.takes` has it."""
        return frozenset().union(*(_TAKEN.get(role, ()) for role in self._roles))

    def __call__(self, sample: EvaluationSample, top_k: int, **values: Any) -> Any:
        values |= {"sample": sample, "query": sample.query, "top_k": top_k}
        for role in self._made:
            values[role] = _OF_SAMPLE[role](sample)
        keywords = {name: values[role] for name, role in self.keyword.items()}
        for name in self.optional:
            if keywords[name] is None:
                del keywords[name]
        return self.fn(*[values[role] for role in self.positional], **keywords)


def _bind(fn: Callable[..., Any], *needed: str) -> _Bound:
    """Return *fn* with what each of its parameters is given.

    *needed* are keys of `NAMES` that *fn* must take, in the order of its unnamed positional parameters; ``"query"`` is
    satisfied by the sample and the other way round.  ``"documents"`` are brought only where needed.  Raises
    `SystemShapeError` where *fn* needs something that no call brings, or does not take what is needed.
    """
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # builtins and some C extensions have no signature
        return _Bound(fn, needed)
    return _match_parameters(fn, signature, needed)


def _match_parameters(fn: Callable[..., Any], signature: inspect.Signature, needed: Sequence[str]) -> _Bound:
    available = {"sample", "query", "top_k", *_OF_SAMPLE, *needed}
    parameters = [p for p in signature.parameters.values() if p.kind not in _VARIADIC]
    roles = {p.name: role for p in parameters if (role := _role_of(p)) in available}
    free = [p for p in parameters if p.name not in roles and p.kind in _POSITIONAL]
    given = set(roles.values())
    if given & {"query", "sample"} or (not free and "messages" in given):  # either says what is asked
        given |= {"query", "sample"}
    missing = [role for role in needed if role not in given]
    for role, parameter in zip(missing.copy(), free, strict=False):
        wants_text = role == "sample" and parameter.annotation in (str, "str")
        roles[parameter.name] = "query" if wants_text else role
        missing.remove(role)
    if {"query", "sample"} & set(roles.values()):
        roles = {name: CHAT_HISTORY if role == "messages" else role for name, role in roles.items()}
    rest: list[str] = []
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in signature.parameters.values()):
        rest, missing = missing, []
    unknown = [p.name for p in parameters if p.name not in roles and p.default is inspect.Parameter.empty]
    if unknown or missing:
        raise _signature_error(fn, signature, unknown, missing)
    has_default = (p for p in parameters if p.default is not p.empty and p.kind is not p.POSITIONAL_ONLY)
    optional = frozenset(p.name for p in has_default if roles.get(p.name) == PRINCIPAL)
    # after a parameter that is left to its default, all are passed by keyword
    leading = itertools.takewhile(
        lambda p: p.kind in _POSITIONAL and p.name in roles and p.name not in optional, parameters
    )
    positional = [roles[p.name] for p in leading]
    keyword = {p.name: roles[p.name] for p in parameters[len(positional) :] if p.name in roles}
    return _Bound(fn, positional + rest, keyword, optional)


def _role_of(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is EvaluationSample or (
        isinstance(annotation, str) and annotation.strip("\"'").rpartition(".")[2] == "EvaluationSample"
    ):
        return "sample"
    return _ROLE_OF.get(parameter.name, "")


def _signature_error(
    fn: Callable[..., Any], signature: inspect.Signature, unknown: Sequence[str], missing: Sequence[str]
) -> SystemShapeError:
    name = getattr(fn, "__qualname__", None) or short_repr(fn)
    if missing:
        return SystemShapeError(f"{name}{signature} takes no {' and no '.join(missing)}; give it a parameter for each")
    known = "; ".join(f"{role}: {', '.join(names)}" for role, names in NAMES.items())
    return SystemShapeError(
        f"{name}{signature} needs {', '.join(map(repr, unknown))}, which no call brings; give a default or bind it "
        f"with functools.partial. Known names: {known}"
    )


def _unwrap_partials(fn: Any) -> Any:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn


def is_async(fn: Any) -> bool:
    """Whether calling *fn*, also a partial, a bound method or a callable object, gives what has to be awaited."""
    fn = _unwrap_partials(fn)
    return any(kind(f) for kind in _ASYNC_KINDS for f in (fn, type(fn).__call__))


def name_of(obj: Any) -> str:
    """Name the system after its class or function; an ``auepora_name`` on the object wins."""
    if isinstance(own_name := getattr(obj, "auepora_name", None), str):
        return own_name
    obj = _unwrap_partials(obj)
    if inspect.isroutine(obj):
        return str(getattr(obj, "__qualname__", obj)).replace("<locals>.", "")
    return type_name(obj).rpartition(".")[2]


def provenance_of(obj: Any) -> dict[str, Any]:
    """Return the ``auepora_provenance`` of *obj*; raises `SystemShapeError` where it is, or returns, no mapping."""
    obj = _unwrap_partials(obj)
    owner = obj if hasattr(obj, "auepora_provenance") else getattr(obj, "__self__", None)
    declared = getattr(owner, "auepora_provenance", None)
    declared = declared() if callable(declared) else declared
    if isinstance(declared, Mapping):
        return {str(k): v for k, v in declared.items()}
    if declared is None:
        return {}
    if inspect.iscoroutine(declared):
        declared.close()
    raise SystemShapeError(f"auepora_provenance of {type_name(owner)} gave {describe(declared)}, not a mapping")


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
