"""Mappings of a large run: values by case that are made when they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from itertools import compress
from typing import Generic, TypeVar

__all__ = ["RowMapping"]

T = TypeVar("T")


class RowMapping(Mapping[str, T], Generic[T]):
    """A mapping in the order of *ids*; who goes through all of it looks no case up.

    Args:
        ids: every case there may be, in order.
        rows: where each stands among them; held, not copied.
    """

    def __init__(self, ids: Sequence[str], rows: Mapping[str, int]) -> None:
        self.ids = ids
        self.rows = rows
        self._codes = bytearray(len(ids))  # 0 where there is nothing

    @abstractmethod
    def _at(self, case_id: str, row: int) -> T:
        """Make the value of a case that has one."""

    def _row(self, case_id: str) -> int:
        row = self.rows[case_id]
        if not self._codes[row]:
            raise KeyError(case_id)
        return row

    def __getitem__(self, case_id: str) -> T:
        return self._at(case_id, self._row(case_id))

    def __contains__(self, case_id: object) -> bool:
        row = self.rows.get(case_id)  # type: ignore[call-overload]
        return row is not None and self._codes[row] > 0

    def __iter__(self) -> Iterator[str]:
        return compress(self.ids, self._codes)

    def __len__(self) -> int:
        return len(self._codes) - self._codes.count(0)

    def values(self) -> ValuesView[T]:
        """Return the values."""
        return _Values(self)

    def items(self) -> ItemsView[str, T]:
        """Return the values with their cases."""
        return _Items(self)

    def all(self) -> Iterator[T]:
        """Yield the values; reports go through them a dozen times, and what is made here is made for each."""
        return map(self._at, self, compress(range(len(self.ids)), self._codes))


class _Values(ValuesView[T]):
    _mapping: RowMapping[T]

    def __iter__(self) -> Iterator[T]:
        return self._mapping.all()


class _Items(ItemsView[str, T]):
    _mapping: RowMapping[T]

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return zip(self._mapping, self._mapping.all(), strict=True)
