"""What stands between the retriever and the generator of a system in one call, and how a framework's are reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from ..core.types import RetrievedDocument
from .shapes import MISSING
from .steps import Steps

_T = TypeVar("_T")

Look = Callable[[Sequence[RetrievedDocument]], None]
"""Is shown what was retrieved; raises where the generator need not be asked."""


class Between(NamedTuple):
    """What a call puts between the retriever and the generator: nothing, or one of these.

    Attributes:
        documents: given to the generator; the retriever is not asked.
        look: shown what was retrieved before the generator is given it.
    """

    documents: Sequence[RetrievedDocument] | None = None
    look: Look | None = None


NOTHING = Between()


class Standing(Generic[_T]):
    """Has methods be others for as long as any call lasts; asked outside of its context, they do as ever.

    Args:
        between: what stands there in this context, as the other methods read it.
        methods: gives an object, the name of a method and the other method.
    """

    def __init__(self, between: ContextVar[_T], methods: Callable[[], Iterable[tuple[Any, str, Any]]]) -> None:
        self._between, self._methods = between, methods
        self._lock, self._calls, self._own = Lock(), 0, list[tuple[Any, str, Any]]()

    @contextmanager
    def put(self, between: _T) -> Iterator[None]:
        """Let *between* stand there in this context."""
        with self._lock:
            self._calls += 1
            if self._calls == 1:
                for owner, name, other in [*self._methods()]:
                    self._own.append((owner, name, vars(owner).get(name, MISSING)))
                    setattr(owner, name, other)
        token = self._between.set(between)
        try:
            yield
        finally:
            self._between.reset(token)
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    while self._own:
                        owner, name, own = self._own.pop()
                        if own is MISSING:
                            delattr(owner, name)
                        else:
                            setattr(owner, name, own)


def seen(find: Callable[[], Any], look: Callable[[Any], None]) -> Steps[Any]:
    """Return what *find* does, once *look* has seen it."""
    found = yield find()
    look(found)
    return found
