"""Dataclasses that are made quickly: equal, shown and hashed by their fields without code generated for each class.

``@dataclass`` writes, compiles and runs a function for everything it adds; of what a plain pytest run imported, that
was a third of the time.  The classes here bring the same behaviour along, so a dataclass that every run makes is
declared with ``eq=False, repr=False`` and one of them as its base, and only its ``__init__`` is left to be generated.
A class of which a run makes few is a `light_dataclass`: that is not generated either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from dataclasses import Field
    from dataclasses import dataclass as light_dataclass
    from inspect import Signature

__all__ = ["ByFields", "Fixed", "light_dataclass", "names_of"]

T = TypeVar("T")

_NAMES: dict[type[Any], frozenset[str]] = {}


def names_of(kind: type[Any]) -> frozenset[str]:
    """Return the names of the fields of a dataclass; asked for with each of thousands that are read."""
    if (names := _NAMES.get(kind)) is None:
        names = _NAMES[kind] = frozenset(f.name for f in fields(kind))
    return names


class ByFields:
    """Base of a dataclass that is compared and shown as ``@dataclass`` does by itself; it has no hash."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # as of everything that is equal by what can change

    @recursive_repr()
    def __repr__(self) -> str:
        told = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
        return f"{type(self).__qualname__}({told})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        names = [f.name for f in fields(self) if f.compare]
        return [getattr(self, name) for name in names] == [getattr(other, name) for name in names]


class Fixed(ByFields):
    """Base of a dataclass with slots whose fields are set once and never change, as with ``frozen=True``."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(self, name):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __hash__(self) -> int:  # type: ignore[override]
        counted = (f for f in fields(self) if (f.compare if f.hash is None else f.hash))
        return hash(tuple(getattr(self, f.name) for f in counted))


def _init(self: Any, /, *args: Any, **kwargs: Any) -> None:
    """Set the fields, as an ``__init__`` does that was generated for them."""
    given = dict(zip(self.__match_args__, args, strict=False))
    right = len(given) == len(args) and given.keys().isdisjoint(kwargs)
    given.update(kwargs)
    for f in fields(self):
        if f.init and f.name in given:
            value = given.pop(f.name)
        elif f.default is not MISSING:
            value = f.default
        elif f.default_factory is not MISSING:
            value = f.default_factory()
        else:
            right = right and not f.init
            continue
        object.__setattr__(self, f.name, value)
    if given or not right:
        _signature(type(self)).bind(*args, **kwargs)  # says what is wrong with them
    if (finish := getattr(self, "__post_init__", None)) is not None:
        finish()


class _Signature:
    """What `inspect.signature` tells of a class whose ``__init__`` is that of all."""

    def __get__(self, one: object, cls: Any) -> Signature:
        if cls.__init__ is not _init:
            raise AttributeError("__signature__")  # a subclass has its own
        return _signature(cls)


def _signature(cls: Any) -> Signature:
    from inspect import Parameter, Signature

    told = []
    for f in fields(cls):
        kind = Parameter.KEYWORD_ONLY if f.kw_only else Parameter.POSITIONAL_OR_KEYWORD
        default = f.default_factory if f.default is MISSING else f.default
        default = Parameter.empty if default is MISSING else default
        told += [Parameter(f.name, kind, default=default, annotation=f.type)] if f.init else []
    return Signature(sorted(told, key=lambda p: p.kind), return_annotation=None)


if not TYPE_CHECKING:

    def light_dataclass(**options: Any) -> Callable[[type[T]], type[T]]:
        """Make a dataclass whose ``__init__`` is not compiled, which takes longer than to call it a hundred times.

        To call it takes five times as long as one of its own would: not for what there is one of for each case.  Of the
        ways to be set, all are known but ``InitVar``.
        """

        def make(cls: type[T]) -> type[T]:
            made: Any = dataclass(init=False, **options)(cls)
            made.__init__, made.__signature__ = _init, _Signature()
            return made

        return make
