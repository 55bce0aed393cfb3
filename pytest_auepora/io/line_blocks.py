"""A text file some hundred lines at a time; places in complaints are those in the whole file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import GoldenFileError
from .source import MAX_BYTES, Source, decode, too_large

__all__ = ["LINES", "Block", "line_blocks", "refusal"]

LINES = 256
"""Lines of a block, at most."""

_BYTES = 4_000_000


class Block(Source):
    """Some lines of a file.  Places count from the start of the file; ``before`` is how many lines come first."""

    def __init__(self, path: str, text: str, before: int = 0) -> None:
        super().__init__(path, text)
        self.before = before

    def __enter__(self) -> Block:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what was read; it would wait for the garbage collector otherwise, as places refer to the block."""
        self.forget()
        self.locate = None

    def complain(self, line: int, col: int, message: str) -> None:
        """Add one problem at a place within the block; line 0 means the whole file."""
        super().complain(line + self.before if line else 0, col, message)


def line_blocks(path: Path, max_bytes: int | None = None, instead: str = "") -> Iterator[Block]:
    """Yield the lines of a text file, some hundreds at a time.

    Args:
        path: the file.
        max_bytes: how large it may be.
        instead: what else than splitting may be done with a larger one.

    Raises:
        GoldenFileError: it is not there, not readable, no UTF-8, or has a line of more than 50 MB,
            or is larger than *max_bytes*.
    """
    before = size = 0
    try:
        with path.open("rb") as file:
            if max_bytes is not None and os.fstat(file.fileno()).st_size > max_bytes:
                raise refusal(path, too_large(max_bytes, instead))
            while lines := _some_lines(file, path, before):
                data = b"".join(lines)
                block = Block(str(path), decode(data, Block(str(path), "", before), size), before)
                size += len(data)
                if max_bytes is not None and size > max_bytes:  # of a pipe nobody knows before
                    raise refusal(path, too_large(max_bytes, instead))
                yield block
                before += len(block.lines) - (not block.lines[-1])
    except OSError as exc:
        raise refusal(path, f"cannot be read: {exc.strerror or exc}") from None


def _some_lines(file: Any, path: Path, before: int) -> list[bytes]:
    lines: list[bytes] = []
    size = 0
    while len(lines) < LINES and size < _BYTES and (line := file.readline(MAX_BYTES + 1)):
        if len(line) > MAX_BYTES:
            raise refusal(path, f"is longer than {MAX_BYTES:,} bytes", before + len(lines) + 1)
        lines.append(line)
        size += len(line)
    return lines


def refusal(path: Path, message: str, line: int = 0) -> GoldenFileError:
    """Return the one complaint about a file, or a line of it."""
    source = Source(str(path), "")
    source.complain(line, 1 if line else 0, message)
    return source.error()
