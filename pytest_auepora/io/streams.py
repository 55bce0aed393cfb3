"""JSON Lines and Parquet read bit by bit: what was read is forgotten, and places in complaints stay right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.dataset import EvaluationDataset
from ..core.types import EvaluationSample
from .jsonl import read_samples
from .line_blocks import LINES, Block, line_blocks, refusal

__all__ = ["FileDataset", "is_parquet", "open_dataset", "row_blocks"]


def is_parquet(path: Path) -> bool:
    """Whether the name of the file says that it is Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def row_blocks(path: Path) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield the rows of a Parquet file, some hundreds at a time, each time with how many came before.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        AueporaError: the file is no Parquet.
    """
    from .parquet import iter_rows

    rows, before = iter_rows(path, LINES), 0
    while some := list(islice(rows, LINES)):
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
        raise refusal(path, "cannot be read: " + ("it is no file" if path.exists() else "there is no such file"))
    return FileDataset(path, name if name is not None else path.stem)
