"""A Haystack pipeline is given documents in the place of what its retrievers find.

For as long as a call lasts, and in its context alone, the last component that gives documents gives these, and those
before it give none: no retriever and no ranker runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from ..core.types import RetrievedDocument
from .documents import name_of_source

_Outputs = Mapping[str, Mapping[str, Any]]
_given: ContextVar[_Outputs] = ContextVar("given", default={})  # noqa: B039 - it is not changed


class DocumentGivers:
    """The components of a pipeline that give documents.

    ``refusal`` says why documents cannot be given in their place.
    """

    def __init__(self, pipeline: Any, after: Mapping[str, set[str]], names: Sequence[str]) -> None:
        self._pipeline, self._names = pipeline, names
        self._last = [name for name in names if not after[name] & {*names}]
        self._lock, self._calls, self._shadowed = Lock(), 0, list[tuple[Any, str]]()
        self.refusal = ""
        if not names:
            self.refusal = "none of its components gives documents"
        elif len(self._last) > 1:
            self.refusal = f"documents of {' and '.join(self._last)} go separate ways"
        elif not after[self._last[0]]:
            self.refusal = "it is a retriever alone"
        elif beside := next(filter(None, (_sent_beside(pipeline, name) for name in names)), ""):
            self.refusal = f"{beside} would be missing"

    @contextmanager
    def replaying(self, documents: Sequence[RetrievedDocument]) -> Iterator[None]:
        """Let the pipeline run with *documents* in this context."""
        with self._lock:
            self._calls += 1
            if self._calls == 1:
                self._shadow()
        found = [_to_haystack(given) for given in documents]
        outputs = {name: {"documents": found if name in self._last else []} for name in self._names}
        token = _given.set(outputs)
        try:
            yield
        finally:
            _given.reset(token)
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    while self._shadowed:
                        delattr(*self._shadowed.pop())

    def _shadow(self) -> None:
        """Put methods onto the instances; their classes, which others use, stay as they are."""
        for name in self._names:
            instance = self._pipeline.get_component(name)
            for method in ("run", "run_async"):
                if (real := getattr(instance, method, None)) is not None:
                    setattr(instance, method, _shadow_of(name, real, is_async=method == "run_async"))
                    self._shadowed.append((instance, method))


def _sent_beside(pipeline: Any, name: str) -> str:
    """Return what a component sends to others beside its documents: its name and that of the first such output."""
    sockets = pipeline.graph.nodes[name]["output_sockets"]
    return next((f"{name}.{key}" for key, socket in sockets.items() if key != "documents" and socket.receivers), "")


def _shadow_of(name: str, real: Any, *, is_async: bool) -> Any:
    def run(**inputs: Any) -> Any:
        given = _given.get()
        return dict(given[name]) if name in given else real(**inputs)

    async def run_async(**inputs: Any) -> Any:
        given = _given.get()
        return dict(given[name]) if name in given else await real(**inputs)

    return run_async if is_async else run


def _to_haystack(given: RetrievedDocument) -> Any:
    from haystack import Document

    meta = dict(given.doc.metadata)
    source = meta.get("source_id")
    if source is not None and meta.get("document_id") == name_of_source(meta, source):
        del meta["document_id"]  # which was added when it was read
    return Document(id=given.doc.doc_id, content=given.doc.text, meta=meta, score=given.score)
