"""Sequences whose values are made when they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

__all__ = ["MadeSequence"]

T = TypeVar("T")


class MadeSequence(Sequence[T], Generic[T]):
    """A sequence that says how many values it has, and how to make the one at a place."""

    __slots__ = ()

    @abstractmethod
    def _at(self, place: int) -> T:
        """Make the value at *place*, counted from 0; there is one."""

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self._at(place) for place in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(f"there is no {at} among {len(self)}")
        return self._at(place)

    def __iter__(self) -> Iterator[T]:
        return map(self._at, range(len(self)))
