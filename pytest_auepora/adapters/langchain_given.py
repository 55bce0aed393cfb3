"""Something stands between the retriever and the generator of a LangChain runnable; the user's own stays as it is.

It gives documents in the place of what the retriever finds, or looks at what that found.

Where a retriever is a part of the runnable, a copy has another one there.  Where it is hidden in a function, a tool or
a node, retrievers are others for as long as the call lasts, in its context alone.  A graph whose state holds
documents that no retriever of LangChain's found runs as far as there, gets others into its state and goes on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

from ..core.types import RetrievedDocument
from ..errors import NoGeneratorError
from .between import Look, Standing, seen
from .documents import ID_SOURCE, to_retrieved
from .outputs import DOCUMENT_KEYS
from .own_documents import own_metadata
from .shapes import is_instance_of
from .steps import Steps, finish

_ROOT = "langchain_core"


class GivenDocuments:
    """What retrievers give in the place of their own: all documents at first, and nothing when they are asked again.

    Attributes:
        asked: how often they were.
    """

    def __init__(self, documents: Sequence[RetrievedDocument]) -> None:
        self._documents = [_to_langchain(given) for given in documents]
        self.asked = 0

    def take(self, find: Callable[[], Any]) -> Any:  # noqa: ARG002 - which is not asked
        """Return what is given in the place of what *find* would."""
        self.asked += 1
        return [document.model_copy(deep=True) for document in (self._documents if self.asked == 1 else ())]

    def check(self, name: str) -> None:
        """Raise `NoGeneratorError` where no retriever was asked, so that the answer is made of other documents."""
        if not self.asked:
            raise NoGeneratorError(name, "it answered without asking a retriever of LangChain's")


class Seen:
    """What retrievers found, as they do; *look* sees it before anything else gets it."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def take(self, find: Callable[[], Any]) -> Any:
        """Return what *find* does, or an awaitable of that."""
        return finish(seen(lambda: finish(_unwatched(find)), lambda found: self._look(to_retrieved(found))))


Taken = GivenDocuments | Seen


def _unwatched(find: Callable[[], Any]) -> Steps[Any]:
    """Return what *find* does; retrievers that a retriever asks are a part of it."""
    token = _between.set(None)
    try:
        return (yield find())
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
            return list(self.between.take(lambda: self.real.invoke(query, config, **kwargs)))

        async def _aget_relevant_documents(self, query: str, *, run_manager: Any, **kwargs: Any) -> list[Any]:
            config = {"callbacks": run_manager.get_child()}
            found = self.between.take(lambda: self.real.ainvoke(query, config, **kwargs))
            return list(await found if inspect.isawaitable(found) else found)

    return RetrieverBetween


_COMPOSED = (
    "RunnableSequence", "RunnableParallel", "RunnableAssign", "RunnableBranch", "RunnableBindingBase",
    "RunnableWithFallbacks",
)  # fmt: skip
"""Runnables whose fields hold others."""


def replaced(runnable: Any, between: Taken) -> Any:
    """Return a copy of *runnable* with *between* behind its retrievers; parts without a retriever are shared."""
    kind = _retriever_class()
    return _rebuilt(runnable, lambda part: kind(between=between, real=part) if _is_retriever(part) else part)


def retrievers_in(runnable: Any) -> list[Any]:
    """Return the retrievers that `replaced` would replace, the outermost of those inside of each other."""
    return [*{id(part): part for part in parts_of(runnable) if _is_retriever(part)}.values()]


def parts_of(runnable: Any) -> list[Any]:
    """Return what *runnable* is composed of, and whatever else is in the fields of what composes it."""
    parts: list[Any] = []

    def note(part: Any) -> Any:
        parts.append(part)
        return part

    _rebuilt(runnable, note)
    return parts


def _is_retriever(part: Any) -> bool:
    return is_instance_of(part, _ROOT, "BaseRetriever")


def _rebuilt(node: Any, swap: Callable[[Any], Any]) -> Any:
    """Return *node* with its parts swapped, or itself where no part is another one then."""
    if isinstance(node, (list, tuple)):
        old = dict(enumerate(node))
    elif isinstance(node, dict):
        old = node
    elif is_instance_of(node, _ROOT, *_COMPOSED):
        old = {name: getattr(node, name) for name in type(node).model_fields}
    else:
        return swap(node)
    new = {key: _rebuilt(part, swap) for key, part in old.items()}
    if all(new[key] is part for key, part in old.items()):
        return node
    if isinstance(node, (list, tuple)):
        return type(node)(new.values())
    return new if isinstance(node, dict) else node.model_copy(update=new)


_between: ContextVar[Taken | None] = ContextVar("between", default=None)


def _watched_methods() -> Iterator[tuple[type, str, Any]]:
    """Yield the methods by which retrievers are asked, of all classes, wherever these hide."""
    from langchain_core.retrievers import BaseRetriever

    todo: list[type] = [BaseRetriever]
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        for name in ("invoke", "ainvoke"):
            if (real := vars(kind).get(name)) is not None:  # an ensemble has its own
                yield kind, name, _wrapper(name, real)


standing = Standing(_between, _watched_methods)
"""What puts something behind every retriever of LangChain's that is asked in this context."""


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
