"""The texts of a case result: in memory, or in a file from which they are read when somebody asks for one.

A run keeps every result to its end, and texts are most of what a result weighs.  Once a case is over they lie in the
journal of the run (or in a temporary file where there is none), and what stays in memory is where.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from tempfile import TemporaryFile
from typing import IO, Any

from .json import encoded, loads

TEXTS = frozenset(("query", "expected", "outputs"))
"""The fields of a result that are texts."""

_PIECE = 64 * 1024  # bytes that are read at once


class ResultFile:
    """A file that grows by pieces of bytes, each of which can be read again.  For one thread.

    Args:
        file: open for reading and writing, and empty; by default a temporary one.

    Attributes:
        size: its length in bytes.
    """

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self._file = TemporaryFile() if file is None else file  # noqa: SIM115 - it lives as long as this does
        self.close = weakref.finalize(self, self._file.close)
        self.size = 0
        self._piece = 0, b""
        self._last: tuple[int, Mapping[str, Any]] = -1, {}

    def append(self, data: bytes) -> None:
        """Write *data* at the end.

        Raises:
            OSError: the disk is full.
        """
        if self._file.write(data) != len(data):
            raise OSError("the disk is full")
        self.size += len(data)

    def put_away(self, result: TextsApart) -> None:
        """Write the texts of *result* here, and let it go of them."""
        texts = encoded({name: getattr(result, name) for name in TEXTS})
        self.append(texts)
        result.put_away(Stored(self, self.size - len(texts), len(texts)))

    def read(self, start: int, length: int) -> bytes:
        """Return what was written at *start*; texts are mostly asked for in order, so that more is read at a time."""
        first, some = self._piece
        if start < first or start + length > first + len(some):
            self._file.seek(start)
            first, some = self._piece = start, self._file.read(max(length, _PIECE))
            self._file.seek(self.size)
        return some[start - first : start - first + length]

    def texts(self, start: int, length: int) -> Mapping[str, Any]:
        """Return the JSON object that was written at *start*; the same one again until another is read."""
        if self._last[0] != start:
            self._last = start, loads(self.read(start, length))
        return self._last[1]


@dataclass(slots=True)
class Stored:
    """Where the texts of a result are: a JSON object that has them among its keys."""

    file: ResultFile
    start: int
    length: int


class TextsApart:
    """Base of a result whose texts may be put away; to who reads it, it is the same result.

    What is read of texts that were put away is made anew: to change it in place changes nothing.
    """

    __slots__ = ("_stored",)
    _stored: Stored

    def put_away(self, stored: Stored) -> None:
        """Let go of the texts, which are *stored*."""
        self._stored = stored
        for name in TEXTS:
            with suppress(AttributeError):  # put away before, as a result that is reported twice
                delattr(self, name)

    @property
    def stored(self) -> Stored | None:
        """Where the texts are, None where they are in memory."""
        return getattr(self, "_stored", None)

    def __getattr__(self, name: str) -> Any:  # asked only for what is not set
        if name in TEXTS and (stored := self.stored) is not None:
            return stored.file.texts(stored.start, stored.length)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Copies and results that go to another process have their texts with them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]  # its subclasses are dataclasses

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
