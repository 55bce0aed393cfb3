"""Values kept in a temporary file: of each only its place stays in memory."""

from __future__ import annotations

import marshal
import pickle
import weakref
from array import array
from tempfile import TemporaryFile
from typing import Any, Generic, TypeVar

from .made_sequence import MadeSequence

__all__ = ["Held", "Spool"]

T = TypeVar("T")

_VERSION = 4  # of the format: the first in which texts of ASCII are copied as they are


class Spool(MadeSequence[T], Generic[T]):
    """A sequence that grows and whose values lie on disk: sixteen bytes of memory each.

    What is made of plain lists, mappings, texts and numbers is written and read five times as fast as what has to be
    pickled: a spool of objects says how they are taken apart into such (`_taken_apart`), and put together again
    (`_made`).

    The file has no name and goes with the object.  Every reading makes a new value.  For one thread.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - it lives as long as this does
        weakref.finalize(self, self._file.close)
        self._starts = array("q")
        self._sizes = array("q")
        self._end = 0
        self._at_end = True

    def _taken_apart(self, value: T) -> Any:
        return value

    def _made(self, kept: Any) -> T:
        return kept  # type: ignore[no-any-return]

    def append(self, value: T) -> None:
        """Put *value* at the end."""
        self._starts.append(0)
        self._sizes.append(0)
        self._write(len(self) - 1, value)

    def __setitem__(self, place: int, value: T) -> None:
        self._write(range(len(self))[place], value)

    def _write(self, place: int, value: T) -> None:
        kept = self._taken_apart(value)
        try:
            data, sign = marshal.dumps(kept, _VERSION), 1
        except ValueError:  # anything of a class of its own, a number of numpy included
            data, sign = pickle.dumps(kept, pickle.HIGHEST_PROTOCOL), -1
        if not self._at_end:
            self._file.seek(self._end)
            self._at_end = True
        self._file.write(data)
        # what was there before stays in the file, and is not read again
        self._starts[place], self._sizes[place] = self._end, sign * len(data)
        self._end += len(data)

    def __len__(self) -> int:
        return len(self._starts)

    def _at(self, place: int) -> T:
        start, size = self._starts[place], self._sizes[place]
        self._file.seek(start)
        self._at_end = False
        data = self._file.read(abs(size))
        return self._made(marshal.loads(data) if size > 0 else pickle.loads(data))


class Held(Spool[T]):
    """A spool that holds the value it was asked for last: who reads one thing of it mostly reads the next as well."""

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[int, T] | None = None

    def _write(self, place: int, value: T) -> None:
        super()._write(place, value)
        if self._last is not None and self._last[0] == place:
            self._last = None

    def at(self, place: int) -> T:
        """Return the value at *place*, counted from 0; the same one again until another is read."""
        if self._last is None or self._last[0] != place:
            self._last = place, self._at(place)
        return self._last[1]
