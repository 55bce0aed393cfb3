"""Values kept in a temporary file: of each only its place stays in memory."""

from __future__ import annotations

import marshal
import pickle
import weakref
from array import array
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import Any, Generic, TypeVar, overload

__all__ = ["Held", "Spool"]

T = TypeVar("T")

_VERSION = 4  # of the format: the first in which texts of ASCII are copied as they are


class Spool(Sequence[T], Generic[T]):
    """A sequence that grows and whose values lie on disk: sixteen bytes of memory each.

    What is made of plain lists, mappings, texts and numbers is written and read five times as fast as what has to be
    pickled.

    The file has no name and goes with the object.  Every reading makes a new value.  For one thread.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - it lives as long as this does
        weakref.finalize(self, self._file.close)
        self._starts = array("q")
        self._sizes = array("q")
        self._end = 0
        self._at_end = True

    def append(self, value: T) -> None:
        """Put *value* at the end."""
        self._starts.append(0)
        self._sizes.append(0)
        self[-1] = value

    def __setitem__(self, at: int, value: T) -> None:
        plain: Any = value
        try:
            data, sign = marshal.dumps(plain, _VERSION), 1
        except ValueError:  # anything of a class of its own, a number of numpy included
            data, sign = pickle.dumps(value, pickle.HIGHEST_PROTOCOL), -1
        if not self._at_end:
            self._file.seek(self._end)
            self._at_end = True
        self._file.write(data)
        # what was there before stays in the file, and is not read again
        self._starts[at], self._sizes[at] = self._end, sign * len(data)
        self._end += len(data)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...
    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self._read(i) for i in range(*at.indices(len(self)))]
        return self._read(at)

    def _read(self, at: int) -> T:
        start, size = self._starts[at], self._sizes[at]
        self._file.seek(start)
        self._at_end = False
        data = self._file.read(abs(size))
        value: Any = marshal.loads(data) if size > 0 else pickle.loads(data)
        return value  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[T]:
        return map(self._read, range(len(self)))


class Held(Spool[T]):
    """A spool that holds the value it was asked for last: who reads one thing of it mostly reads the next as well."""

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[int, T] | None = None

    def at(self, place: int) -> T:
        """Return the value at *place*; the same one again until another is read."""
        if self._last is None or self._last[0] != place:
            self._last = place, self._read(place)
        return self._last[1]
