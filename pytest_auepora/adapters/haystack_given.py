"""Something stands behind the components of a Haystack pipeline that give documents, as long as a call lasts.

In the context of this call alone, the last of them gives other documents and those before it give none, so that no
retriever and no ranker runs; or what the last one gives is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from ..core.types import RetrievedDocument
from .documents import name_of_source


@dataclass(frozen=True)
class _Between:
    """What components give without being run, by name, and what looks at that which one of them gives."""

    outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    watched: str = ""
    look: Callable[[Mapping[str, Any]], None] | None = None

    def see(self, name: str, outputs: dict[str, Any]) -> dict[str, Any]:
        if name == self.watched and self.look is not None:
            self.look(outputs)
        return outputs


_between: ContextVar[_Between] = ContextVar("between", default=_Between())  # noqa: B039 - it is not changed


class DocumentGivers:
    """The components of a pipeline that give documents.

    ``refusal`` says why documents cannot be given in their place.
    """

    def __init__(self, pipeline: Any, after: Mapping[str, set[str]], names: Sequence[str]) -> None:
        self._pipeline, self._names = pipeline, names
        self._last = [name for name in names if not after[name] & {*names}]
        self._lock, self._calls, self._shadowed = Lock(), 0, list[tuple[Any, str, Any]]()
        self.refusal = ""
        if not names:
            self.refusal = "none of its components gives documents"
        elif not self._last:
            self.refusal = f"documents of {' and '.join(names)} go round in a loop"
        elif len(self._last) > 1:
            self.refusal = f"documents of {' and '.join(self._last)} go separate ways"
        elif not after[self._last[0]]:
            self.refusal = "it is a retriever alone"
        elif beside := next(filter(None, (_sent_beside(pipeline, name) for name in names)), ""):
            self.refusal = f"{beside} would be missing"

    def replaying(self, documents: Sequence[RetrievedDocument]) -> AbstractContextManager[None]:
        """Let the pipeline run with *documents* in this context."""
        found = [_to_haystack(given) for given in documents]
        outputs = {name: {"documents": found if name in self._last else []} for name in self._names}
        return self._standing(_Between(outputs))

    def watching(self, look: Callable[[Mapping[str, Any]], None]) -> AbstractContextManager[None]:
        """Let *look* see what the last of the components gives in this context."""
        return self._standing(_Between(watched=self._last[0], look=look))

    @contextmanager
    def _standing(self, between: _Between) -> Iterator[None]:
        with self._lock:
            self._calls += 1
            if self._calls == 1:
                self._shadow()
        token = _between.set(between)
        try:
            yield
        finally:
            _between.reset(token)
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    while self._shadowed:
                        instance, method, own = self._shadowed.pop()
                        if own is None:
                            delattr(instance, method)
                        else:
                            setattr(instance, method, own)

    def _shadow(self) -> None:
        """Put methods onto the instances; their classes, which others use, stay as they are."""
        for name in self._names:
            instance = self._pipeline.get_component(name)
            for method in ("run", "run_async"):
                if (real := getattr(instance, method, None)) is not None:
                    self._shadowed.append((instance, method, vars(instance).get(method)))  # a fake of the user's
                    setattr(instance, method, _shadow_of(name, real, is_async=method == "run_async"))


def _sent_beside(pipeline: Any, name: str) -> str:
    """Return what a component sends to others beside its documents: its name and that of the first such output."""
    sockets = pipeline.graph.nodes[name]["output_sockets"]
    return next((f"{name}.{key}" for key, socket in sockets.items() if key != "documents" and socket.receivers), "")


def _shadow_of(name: str, real: Any, *, is_async: bool) -> Any:
    def run(**inputs: Any) -> Any:
        between = _between.get()
        return dict(between.outputs[name]) if name in between.outputs else between.see(name, real(**inputs))

    async def run_async(**inputs: Any) -> Any:
        between = _between.get()
        return dict(between.outputs[name]) if name in between.outputs else between.see(name, await real(**inputs))

    return run_async if is_async else run


def _to_haystack(given: RetrievedDocument) -> Any:
    from haystack import Document

    meta = dict(given.doc.metadata)
    source = meta.get("source_id")
    if source is not None and meta.get("document_id") == name_of_source(meta, source):
        del meta["document_id"]  # which was added when it was read
    return Document(id=given.doc.doc_id, content=given.doc.text, meta=meta, score=given.score)
