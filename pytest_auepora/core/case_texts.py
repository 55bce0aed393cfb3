"""The texts of a case result: in memory, or in a file from which they are read on access.

A run keeps every result to its end, and texts take most of the memory.  When a case is over, its texts move to the
journal of the run (or to a temporary file where there is none), and only their position stays in memory.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any

from ..base.json import encode, fields_of, loads

TEXTS = frozenset(("query", "expected", "outputs"))
"""The fields of a result that are texts."""

_READ_SIZE = 64 * 1024  # bytes that are read at once


class ResultFile:
    """An append-only file, ``size`` bytes long, whose parts can be read again.  For one thread.

    *file* is open for reading and writing, and empty; by default a temporary one.
    """

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self._file = TemporaryFile() if file is None else file  # noqa: SIM115 - it lives as long as this does
        self.close = weakref.finalize(self, self._file.close)
        self.size = 0
        self._read_ahead = 0, b""
        self._last: tuple[int, Mapping[str, Any]] = -1, {}

    def append(self, data: bytes) -> None:
        """Write *data* at the end; raises OSError where the disk is full."""
        if self._file.write(data) != len(data):
            raise OSError("the disk is full")
        self.size += len(data)

    def offload(self, result: OffloadableTexts) -> None:
        """Move the texts of *result* to this file."""
        texts = encode({name: getattr(result, name) for name in TEXTS})
        self.append(texts)
        result.offload(TextPosition(self, self.size - len(texts), len(texts)))

    def read(self, start: int, length: int) -> bytes:
        """Return *length* bytes from *start*; reads ahead, because texts are mostly read in order."""
        offset, data = self._read_ahead
        if start < offset or start + length > offset + len(data):
            self._file.seek(start)
            offset, data = self._read_ahead = start, self._file.read(max(length, _READ_SIZE))
            self._file.seek(self.size)
        return data[start - offset : start - offset + length]

    def texts(self, start: int, length: int) -> Mapping[str, Any]:
        """Return the JSON object that was written at *start*; the last one read is cached."""
        if self._last[0] != start:
            self._last = start, loads(self.read(start, length))
        return self._last[1]


@dataclass(slots=True)
class TextPosition:
    """The position of a JSON object whose keys include the texts of a result."""

    file: ResultFile
    start: int
    length: int


class OffloadableTexts:
    """Base of a result whose texts may be moved to a file; its fields read the same.

    Texts in a file are decoded on each access, so changing them in place has no effect.
    """

    __slots__ = ("_text_position",)
    _text_position: TextPosition

    def offload(self, position: TextPosition) -> None:
        """Drop the texts from memory, which are at *position* of a file."""
        is_offloaded = self.text_position is not None  # a result that is reported twice
        self._text_position = position
        for name in TEXTS if not is_offloaded else ():
            delattr(self, name)

    @property
    def text_position(self) -> TextPosition | None:
        """The position of the texts in a file; None where they are in memory."""
        return getattr(self, "_text_position", None)

    def __getattr__(self, name: str) -> Any:  # called only for attributes that are not set
        if name in TEXTS and (position := self.text_position) is not None:
            return position.file.texts(position.start, position.length)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """Include the texts, so that copies and results sent to another process have them."""
        return fields_of(self)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
