"""JSON Lines and Parquet read bit by bit: what was read is forgotten, and places in complaints stay right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.dataset import EvaluationDataset
from ..core.types import EvaluationSample
from ..errors import GoldenFileError
from .jsonl import read_samples
from .source import MAX_BYTES, Source, decode

__all__ = ["Block", "FileDataset", "is_parquet", "line_blocks", "open_dataset", "row_blocks"]

_LINES = 256
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


def is_parquet(path: Path) -> bool:
    """Whether the name of the file says that it is Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def line_blocks(path: Path) -> Iterator[Block]:
    """Yield the lines of a text file, some hundreds at a time.

    Raises:
        GoldenFileError: it is not there, not readable, no UTF-8, or has a line of more than 50 MB.
    """
    before = 0
    try:
        with path.open("rb") as file:
            while lines := _some_lines(file, path, before):
                block = Block(str(path), decode(b"".join(lines), Block(str(path), "", before)), before)
                yield block
                before += len(block.lines) - (not block.lines[-1])
    except OSError as exc:
        raise _refusal(path, f"cannot be read: {exc.strerror or exc}") from None


def _some_lines(file: Any, path: Path, before: int) -> list[bytes]:
    lines: list[bytes] = []
    size = 0
    while len(lines) < _LINES and size < _BYTES and (line := file.readline(MAX_BYTES + 1)):
        if len(line) > MAX_BYTES:
            raise _refusal(path, f"is longer than {MAX_BYTES:,} bytes", before + len(lines) + 1)
        lines.append(line)
        size += len(line)
    return lines


def _refusal(path: Path, message: str, line: int = 0) -> GoldenFileError:
    source = Source(str(path), "")
    source.complain(line, 1 if line else 0, message)
    return source.error()


def row_blocks(path: Path) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield the rows of a Parquet file, some hundreds at a time, each time with how many came before.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        AueporaError: the file is no Parquet.
    """
    from .parquet import iter_rows

    rows, before = iter_rows(path, _LINES), 0
    while some := list(islice(rows, _LINES)):
        yield before, some
        before += len(some)


class FileDataset(EvaluationDataset):
    """A data set that is read from its file whenever it is gone through; a few hundred samples are held at a time.

    What is wrong with a sample is told (`GoldenFileError`, with its place) when it is reached.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._length: int | None = None

    def __iter__(self) -> Iterator[EvaluationSample]:
        for block in self._blocks():
            with block:
                samples = read_samples(block)
            yield from samples

    def _blocks(self) -> Iterator[Block]:
        if not is_parquet(self._path):
            yield from line_blocks(self._path)
            return
        from .parquet import as_lines

        for before, rows in row_blocks(self._path):
            yield Block(str(self._path), as_lines(rows, self._path), before)

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._name

    def __len__(self) -> int:
        """Count the samples, once; of JSON Lines, the lines that are not blank."""
        if self._length is None:
            if is_parquet(self._path):
                from .parquet import row_count

                self._length = row_count(self._path)
            else:
                self._length = sum(1 for block in line_blocks(self._path) for line in block.lines if line.strip())
        return self._length


def open_dataset(path: str | Path, name: str | None = None) -> FileDataset:
    """Return a data set too large for the memory: ``.parquet`` as `load_parquet_dataset` reads it, else JSON Lines.

    Args:
        path: the file.
        name: what the data set is called; the stem of the file by default.

    Raises:
        GoldenFileError: the file is not there.
    """
    path = Path(path)
    if not path.is_file():
        raise _refusal(path, "cannot be read: " + ("it is no file" if path.exists() else "there is no such file"))
    return FileDataset(path, name if name is not None else path.stem)
