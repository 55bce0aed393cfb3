"""Dataclasses that are made quickly: equal, shown and hashed by their fields without code generated for each class.

``@dataclass`` writes, compiles and runs a function for everything it adds; of what a plain pytest run imported, that
was a third of the time.  The classes here bring the same behaviour along, so a dataclass that every run makes is
declared with ``eq=False, repr=False`` and one of them as its base, and only its ``__init__`` is left to be generated.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from dataclasses import Field

__all__ = ["ByFields", "Fixed", "names_of"]


_NAMES: dict[type[Any], frozenset[str]] = {}
"""No ``functools.cache``: to a type checker, a class whose objects have no hash has none either."""


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
