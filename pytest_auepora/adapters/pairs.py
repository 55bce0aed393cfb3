"""A retriever and a generator, called one after the other or the second apart; the forms of documents they exchange."""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from ..core.rag_interface import NOISE_DOCS, Generator, noise_of, with_noise
from ..core.types import EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import NoGeneratorError, OutputShapeError, SystemShapeError
from .between import NOTHING, Between
from .documents import to_retrieved
from .outputs import NOTES, documents_in, to_outputs
from .own_documents import converter_for
from .shapes import describe
from .signatures import bind, is_async, name_of
from .steps import Steps
from .streams import read_stream


class Pair:
    """Calls a retriever and a generator, one after the other or the second apart, and times each.

    A subclass of `Generator` is given a list of `Document`.  Any other generator gets the documents of
    `RetrievedDocument` objects, or else exactly what the retriever returned, since the two were
    written for each other.  The case's ``noise_docs`` stand among them, in the same form.
    """

    def __init__(self, retriever: Any, generator: Any) -> None:
        retrieve = _find_method(retriever, "retrieve", "retriever")
        generate = _find_method(generator, "generate", "generator")
        self._call_retrieve, self._call_generate = bind(retrieve, "query"), bind(generate, "query", "documents")
        self._wants_documents = isinstance(generator, Generator)
        self._form = DocumentForm(name_of(generator))
        self.is_async = is_async(retrieve) or is_async(generate)
        self.takes = self._call_retrieve.takes | self._call_generate.takes | {NOISE_DOCS}

    def steps(self, sample: EvaluationSample, top_k: int, between: Between = NOTHING) -> Steps[SystemOutputs]:
        """Call both, or with documents the generator alone."""
        documents, look = between
        if documents is not None:
            if not (self._wants_documents or self._form.is_known):
                yield from self._retrieve_steps(sample, top_k)
            context = [given.doc for given in documents] if self._wants_documents else self._form.given(documents)
            return (yield from self._generate_steps(sample, top_k, context, 0.0))
        retrieved, context, spent = yield from self._retrieve_steps(sample, top_k)
        if look is not None:
            look(retrieved)
        outputs = yield from self._generate_steps(sample, top_k, context, spent)
        outputs.retrieved = retrieved
        outputs.timings = {"retrieval": spent, **outputs.timings}
        return outputs

    def _retrieve_steps(
        self, sample: EvaluationSample, top_k: int
    ) -> Steps[tuple[list[RetrievedDocument], Any, float]]:
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

    def _generate_steps(self, sample: EvaluationSample, top_k: int, context: Any, spent: float) -> Steps[SystemOutputs]:
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


def _find_method(part: Any, name: str, part_name: str) -> Callable[..., Any]:
    if not isinstance(part, type):
        for method in (getattr(part, name, None), part):
            if callable(method):
                return cast("Callable[..., Any]", method)
    hint = "; that is the class itself: make an instance" if isinstance(part, type) else ""
    raise SystemShapeError(f"the {part_name} is {describe(part)}, without .{name} and not callable{hint}")


class DocumentForm:
    """In which form a system has its documents, as its own say: an example, the first that was seen."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._examples: list[Any] = []

    @property
    def is_known(self) -> bool:
        """Whether an example was seen."""
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


def find_pair(obj: Any) -> tuple[Any, Any] | None:
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
