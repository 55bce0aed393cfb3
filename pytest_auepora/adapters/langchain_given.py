"""Something stands between the retriever and the generator of a LangChain runnable; the user's own stays as it is.

It gives documents in the place of what the retriever finds, or looks at what that found.

Where a retriever is a part of the runnable, a copy has another one there.  Where it is hidden in a function, a tool or
a node, retrievers are others for as long as the call lasts, in its context alone.  A graph whose state holds
documents that no retriever of LangChain's found runs as far as there, gets others into its state and goes on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any

from ..core.types import RetrievedDocument
from ..errors import NoGeneratorError
from .documents import ID_SOURCE, to_retrieved
from .outputs import DOCUMENT_KEYS
from .own_documents import own_metadata
from .pairs import Look
from .shapes import is_instance_of

_ROOT = "langchain_core"


class GivenDocuments:
    """What retrievers give in the place of their own: all documents at first, and nothing when they are asked again.

    Attributes:
        asked: how often they were.
    """

    def __init__(self, documents: Sequence[RetrievedDocument]) -> None:
        self._documents = [_to_langchain(given) for given in documents]
        self.asked = 0

    def take(self, find: Callable[[], Any]) -> list[Any]:  # noqa: ARG002 - which is not asked
        """Return what is given in the place of what *find* would."""
        self.asked += 1
        return [document.model_copy(deep=True) for document in (self._documents if self.asked == 1 else ())]

    async def atake(self, find: Callable[[], Awaitable[Any]]) -> list[Any]:  # noqa: ARG002 - likewise
        """Do as `take`."""
        return self.take(list)

    def check(self, name: str) -> None:
        """Raise `NoGeneratorError` where no retriever was asked, so that the answer is made of other documents."""
        if not self.asked:
            raise NoGeneratorError(name, "it answered without asking a retriever of LangChain's")


class Seen:
    """What retrievers found, as they do; *look* sees it before anything else gets it."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def take(self, find: Callable[[], Any]) -> list[Any]:
        """Return what *find* does."""
        return self._seen(_unwatched(find))

    async def atake(self, find: Callable[[], Awaitable[Any]]) -> list[Any]:
        """Do as `take`."""
        token = _between.set(None)
        try:
            found = await find()
        finally:
            _between.reset(token)
        return self._seen(found)

    def _seen(self, documents: list[Any]) -> list[Any]:
        self._look(to_retrieved(documents))
        return documents


Between = GivenDocuments | Seen


def _unwatched(find: Callable[[], Any]) -> Any:
    """Return what *find* does; retrievers that a retriever asks are a part of it."""
    token = _between.set(None)
    try:
        return find()
    finally:
        _between.reset(token)


def _to_langchain(given: RetrievedDocument) -> Any:
    from langchain_core.documents import Document

    document = given.doc
    own_id = None if ID_SOURCE in document.metadata else document.doc_id
    return Document(page_content=document.text, metadata=own_metadata(document), id=own_id)


@cache
def _retriever_class() -> Any:
    """Return the class of retrievers that ask what stands between; the first call imports LangChain."""
    from langchain_core.retrievers import BaseRetriever

    class RetrieverBetween(BaseRetriever):  # type: ignore[misc]
        """A retriever in the place of the *real* one."""

        between: Any
        real: Any

        def _get_relevant_documents(self, query: str, *, run_manager: Any, **kwargs: Any) -> list[Any]:
            config = {"callbacks": run_manager.get_child()}
            found: list[Any] = self.between.take(lambda: self.real.invoke(query, config, **kwargs))
            return found

        async def _aget_relevant_documents(self, query: str, *, run_manager: Any, **kwargs: Any) -> list[Any]:
            config = {"callbacks": run_manager.get_child()}
            found: list[Any] = await self.between.atake(lambda: self.real.ainvoke(query, config, **kwargs))
            return found

    return RetrieverBetween


def replaced(runnable: Any, between: Between) -> Any:
    """Return a copy of *runnable* with *between* behind its retrievers; parts without a retriever are shared."""
    return _rebuilt(runnable, lambda real: _retriever_class()(between=between, real=real))


def retrievers_in(runnable: Any) -> list[Any]:
    """Return the retrievers that `replaced` would replace, the outermost of those inside of each other."""
    found: dict[int, Any] = {}
    _rebuilt(runnable, lambda retriever: found.setdefault(id(retriever), retriever))
    return [*found.values()]


def _rebuilt(node: Any, swap: Callable[[Any], Any]) -> Any:
    if is_instance_of(node, _ROOT, "BaseRetriever"):
        return swap(node)
    if is_instance_of(node, _ROOT, "RunnableSequence"):
        steps = [_rebuilt(step, swap) for step in node.steps]
        return _changed(node, node.steps, steps, first=steps[0], middle=steps[1:-1], last=steps[-1])
    if is_instance_of(node, _ROOT, "RunnableParallel"):
        branches = {key: _rebuilt(step, swap) for key, step in node.steps__.items()}
        return _changed(node, node.steps__.values(), branches.values(), steps__=branches)
    if is_instance_of(node, _ROOT, "RunnableAssign"):
        mapper = _rebuilt(node.mapper, swap)
        return _changed(node, [node.mapper], [mapper], mapper=mapper)
    if is_instance_of(node, _ROOT, "RunnableBranch"):
        pairs = [(_rebuilt(condition, swap), _rebuilt(step, swap)) for condition, step in node.branches]
        default = _rebuilt(node.default, swap)
        old = [part for pair in node.branches for part in pair]
        new = [part for pair in pairs for part in pair]
        return _changed(node, [*old, node.default], [*new, default], branches=pairs, default=default)
    if is_instance_of(node, _ROOT, "RunnableBindingBase"):
        bound = _rebuilt(node.bound, swap)
        return _changed(node, [node.bound], [bound], bound=bound)
    if is_instance_of(node, _ROOT, "RunnableWithFallbacks"):
        parts = [_rebuilt(part, swap) for part in (node.runnable, *node.fallbacks)]
        return _changed(node, [node.runnable, *node.fallbacks], parts, runnable=parts[0], fallbacks=parts[1:])
    return node


def _changed(node: Any, old: Any, new: Any, **update: Any) -> Any:
    """Return *node*, or where its *new* parts are others than the *old* ones a copy with them."""
    return node if all(a is b for a, b in zip(old, new, strict=True)) else node.model_copy(update=update)


_between: ContextVar[Between | None] = ContextVar("between", default=None)
_lock = Lock()
_wrapped: list[tuple[type, str, Any]] = []
_scopes = 0


@contextmanager
def standing(between: Between) -> Iterator[None]:
    """Put *between* behind every retriever of LangChain's that is asked in this context, wherever it hides.

    The methods of their classes are others while any such scope is open; asked outside of one, they do as ever.
    """
    global _scopes  # noqa: PLW0603 - classes are global as well
    with _lock:
        _scopes += 1
        if _scopes == 1:
            _wrap_classes()
    token = _between.set(between)
    try:
        yield
    finally:
        _between.reset(token)
        with _lock:
            _scopes -= 1
            if not _scopes:
                while _wrapped:
                    kind, name, real = _wrapped.pop()
                    setattr(kind, name, real)


def _wrap_classes() -> None:
    from langchain_core.retrievers import BaseRetriever

    todo: list[type] = [BaseRetriever]
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        for name in ("invoke", "ainvoke"):
            if (real := vars(kind).get(name)) is not None:  # an ensemble has its own
                _wrapped.append((kind, name, real))
                setattr(kind, name, _wrapper(name, real))


def _wrapper(name: str, real: Any) -> Any:
    def ask(self: Any, *args: Any, **kwargs: Any) -> Any:
        between = _between.get()
        if between is None or isinstance(self, _retriever_class()):
            return real(self, *args, **kwargs)
        stand_in = _retriever_class()(between=between, real=self)
        return getattr(stand_in, name)(*args, **kwargs)  # so that listeners hear of it

    return ask


def state_key(graph: Any) -> str | None:
    """Return the key of a graph's state that may hold documents; None where there is none."""
    return next((key for key in DOCUMENT_KEYS if key in getattr(graph, "channels", ())), None)


def node_that_gives(updates: Iterator[Any], key: str, are_documents: Callable[[Any], bool]) -> str | None:
    """Return the node of a graph that puts documents under *key*, by the *updates* of its nodes; read no further."""
    for update in updates:
        for node, values in update.items() if isinstance(update, Mapping) else ():
            if isinstance(values, Mapping) and are_documents(values.get(key)):
                return str(node)
    return None
