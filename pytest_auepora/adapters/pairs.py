"""A retriever and a generator, in whatever form they come, as one call that times each of them."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from ..core.rag_interface import NOISE_DOCS, noise_of, with_noise
from ..core.rag_interface import Generator as GeneratorBase
from ..core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import OutputShapeError, SystemShapeError
from .documents import ID_KEYS, METADATA_KEYS, NESTED_KEYS, TEXT_KEYS, to_retrieved
from .outputs import to_outputs
from .shapes import describe, fields_of, first_of
from .signatures import binder, is_async

_RETRIEVER_KEYS = ("retriever", "retrieve")
_GENERATOR_KEYS = ("generator", "generate")


class Pair:
    """A retriever and a generator.

    A subclass of `Generator` is given a list of `Document`.  Any other generator gets the documents of
    `RetrievedDocument` objects, or else exactly what the retriever returned, since the two were
    written for each other.  The case's ``noise_docs`` stand among them, in the same form.
    """

    def __init__(self, retriever: Any, generator: Any) -> None:
        self.parts = (retriever,) if retriever is generator else (retriever, generator)
        retrieve = _method(retriever, "retrieve", "retriever")
        generate = _method(generator, "generate", "generator")
        self._retrieve = binder(retrieve, ("sample", "query", "top_k"), ("query",))
        self._generate = binder(generate, ("sample", "query", "top_k", "documents"), ("query", "documents"))
        self._wants_documents = isinstance(generator, GeneratorBase)
        self.is_async = is_async(retrieve) or is_async(generate)
        self.invoke: Callable[[EvaluationSample, int], Any] = self._ainvoke if self.is_async else self._invoke

    def _steps(self, sample: EvaluationSample, top_k: int) -> Generator[Any, Any, SystemOutputs]:
        """Yield what the parts return, awaitable or not, and take it back settled."""
        asked: dict[str, Any] = {"sample": sample, "query": sample.query, "top_k": top_k}
        start = time.perf_counter()
        found = yield self._retrieve(**asked)
        middle = time.perf_counter()
        retrieved = _documents(found)
        handed = [r.doc for r in retrieved] if self._wants_documents or _are_ours(found) else found
        if noise := noise_of(sample):
            handed = with_noise(handed or (), sample, made_like(handed))
        ready = time.perf_counter()  # our own conversion is nobody's latency
        answer = yield self._generate(**asked, documents=handed)
        end = time.perf_counter()
        outputs = to_outputs(answer)
        outputs.extra.pop("auepora_notes", None)  # the answer alone has no documents: they are here
        outputs.retrieved = retrieved
        if noise:
            outputs.extra[NOISE_DOCS] = [doc.doc_id for doc in noise]
        timings = {"retrieval": middle - start, "generation": end - ready, "end_to_end": end - ready + middle - start}
        outputs.timings = {**timings, **outputs.timings}
        return outputs

    def _invoke(self, sample: EvaluationSample, top_k: int) -> Any:
        steps = self._steps(sample, top_k)
        try:
            value = next(steps)
            while not inspect.isawaitable(value):
                value = steps.send(value)
        except StopIteration as stop:
            return stop.value
        return _finish(steps, value)

    async def _ainvoke(self, sample: EvaluationSample, top_k: int) -> Any:
        steps = self._steps(sample, top_k)
        try:
            value = next(steps)
        except StopIteration as stop:  # pragma: no cover - there are always two steps
            return stop.value
        return await _finish(steps, value)


async def _finish(steps: Generator[Any, Any, SystemOutputs], value: Any) -> SystemOutputs:
    try:
        while True:
            value = steps.send(await value if inspect.isawaitable(value) else value)
    except StopIteration as stop:
        outputs: SystemOutputs = stop.value
        return outputs


def pair_of(obj: Any) -> Pair | None:
    """Return *obj* as a pair, or None if it is nothing of that kind.

    Raises:
        SystemShapeError: it looks like a pair but one of its parts cannot be called.
    """
    if isinstance(obj, Mapping):
        retriever, generator = (
            next((obj[k] for k in ks if k in obj), None) for ks in (_RETRIEVER_KEYS, _GENERATOR_KEYS)
        )
        if retriever is None or generator is None:
            raise SystemShapeError(
                f"the rag fixture gave {describe(obj)}; a mapping needs the keys 'retriever' and 'generator'"
            )
        return Pair(retriever, generator)
    if isinstance(obj, (tuple, list)):
        if len(obj) != 2:
            raise SystemShapeError(f"the rag fixture gave {describe(obj)}; a pair is (retriever, generator)")
        first, second = obj
        swapped = hasattr(first, "generate") and hasattr(second, "retrieve") and not hasattr(first, "retrieve")
        return Pair(second, first) if swapped else Pair(first, second)
    has = [callable(getattr(obj, name, None)) for name in ("retrieve", "generate")]
    if all(has):
        return Pair(obj, obj)
    if any(has) and not callable(obj):
        there, lacks = ("retrieve", "generate") if has[0] else ("generate", "retrieve")
        raise SystemShapeError(
            f"the rag fixture gave {describe(obj)}; it has .{there} but no .{lacks}: return (retriever, generator), "
            "or a function query -> (answer, documents), with '' as the answer of a retriever alone"
        )
    return None


def _method(part: Any, name: str, what: str) -> Callable[..., Any]:
    method = getattr(part, name, None)
    if callable(method) and not isinstance(part, type):
        return method  # type: ignore[no-any-return]
    if callable(part) and not isinstance(part, type):
        return part  # type: ignore[no-any-return]
    hint = "; that is the class itself: make an instance" if isinstance(part, type) else ""
    raise SystemShapeError(f"the {what} is {describe(part)}, without .{name} and not callable{hint}")


def _documents(found: Any) -> list[RetrievedDocument]:
    try:
        return to_retrieved(found)
    except OutputShapeError as exc:
        raise OutputShapeError(f"from the retriever: {exc}") from None


def _are_ours(found: Any) -> bool:
    return isinstance(found, (list, tuple)) and bool(found) and isinstance(found[0], RetrievedDocument)


def made_like(found: Any) -> Callable[[Document], Any]:
    """Return a function that makes of a `Document` what *found*, a retriever's own list, holds; of none a `Document`.

    Raises:
        OutputShapeError: from the function: that is nothing whose text can be replaced.
    """
    model = next(iter(found or ()), None)

    def made(document: Document) -> Any:
        if model is None or isinstance(model, Document):
            return document
        if isinstance(model, str):
            return document.text
        fields = fields_of(model, (*TEXT_KEYS, *ID_KEYS, *METADATA_KEYS, *NESTED_KEYS)) or {}
        nested, text, name, about = (first_of(fields, k) for k in (NESTED_KEYS, TEXT_KEYS, ID_KEYS, METADATA_KEYS))
        if nested is not None and not isinstance(fields[nested], str):
            changes = {nested: made_like([fields[nested]])(document)}
        elif text is not None and isinstance(fields[text], str):
            changes = {
                text: document.text,
                **({name: document.doc_id} if name else {}),
                **({about: {}} if about else {}),
            }
        else:
            raise OutputShapeError(f"noise_docs: no text can be put into what the retriever gives, {describe(model)}")
        try:
            return _changed(model, changes)
        except (AttributeError, TypeError, ValueError) as exc:
            raise OutputShapeError(f"noise_docs: {describe(model)} cannot be changed: {exc}") from None

    return made


def _changed(model: Any, changes: Mapping[str, Any]) -> Any:
    if isinstance(model, Mapping):
        return {**model, **changes}
    if dataclasses.is_dataclass(model) and not isinstance(model, type):
        return dataclasses.replace(model, **changes)
    new = copy.copy(model)
    for key, value in changes.items():
        setattr(new, key, value)
    return new
