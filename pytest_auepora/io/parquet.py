"""Data sets in Parquet: one `EvaluationSample` a row.

``sample_id`` and ``query`` are text columns; the other attributes are JSON in text columns, null where the attribute
is None, so that any two data sets have the same schema.  Columns of lists and structs with the same content are read
as well.  Needs the extra ``parquet``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path
from typing import Any

from ..base.files import write_atomically
from ..core.dataset import EvaluationDataset, InMemoryDataset
from ..core.types import EvaluationSample
from ..errors import AueporaError, MissingExtraError
from .jsonl import as_json, read_samples
from .source import Source

_BUFFER = 1 << 18
"""Bytes of a column that are read at once."""

_TEXTS = ("sample_id", "query")


def load_parquet_dataset(path: str | Path, name: str | None = None) -> InMemoryDataset:
    """Read a data set, as the module says; it is called *name*, by default the stem of the file.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        GoldenFileError: rows that are no samples; the line of a problem is the number of the row.
        AueporaError: the file is no Parquet.
    """
    path = Path(path)
    source = Source(str(path), as_lines(iter_rows(path)))
    return InMemoryDataset(name if name is not None else path.stem, read_samples(source))


def iter_rows(path: Path, batch_size: int = 4096) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, *batch_size* of which are held at a time; raises as `load_parquet_dataset` does."""
    with _open(path) as file:
        try:
            for batch in file.iter_batches(batch_size):
                yield from batch.to_pylist()
        except Exception as exc:  # pyarrow raises any exception on damaged files
            raise _refusal(path, exc) from None


def row_count(path: Path) -> int:
    """Return how many rows a file says it has; raises as `load_parquet_dataset` does."""
    with _open(path) as file:
        return int(file.metadata.num_rows)


def _open(path: Path) -> Any:
    parquet = import_pyarrow().parquet
    try:
        # a row group may be the whole file; without a buffer, and by default, all of its bytes are read at once
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER)
    except Exception as exc:  # likewise
        raise _refusal(path, exc) from None


def _refusal(path: Path, cause: Exception) -> AueporaError:
    return AueporaError(f"{path}: cannot be read as Parquet: {cause}")


def as_lines(rows: Iterable[dict[str, Any]], texts: Sequence[str] = _TEXTS) -> str:
    """Return rows as JSON Lines without null; in columns other than *texts*, JSON lists and mappings are parsed."""
    filled = (
        {name: value if name in texts else _parsed(value) for name, value in row.items() if value is not None}
        for row in rows
    )
    return "\n".join(json.dumps(row, ensure_ascii=False, default=str) for row in filled)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(("[", "{")):
        with suppress(ValueError):
            return json.loads(value)
    return value


def save_parquet_dataset(dataset: EvaluationDataset, path: str | Path) -> None:
    """Write *dataset* so that `load_parquet_dataset` gives equal samples.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        AueporaError: a sample holds something that is no JSON; nothing is written then.
    """
    pyarrow = import_pyarrow()
    columns: dict[str, list[str | None]] = {field.name: [] for field in fields(EvaluationSample)}
    for sample in dataset:
        for name, value in asdict(sample).items():
            is_plain = name in _TEXTS or value is None
            columns[name].append(value if is_plain else as_json(sample.sample_id, value))
    text = pyarrow.string()
    write_parquet(pyarrow.table({n: pyarrow.array(values, text) for n, values in columns.items()}), Path(path))


def write_parquet(table: Any, path: Path) -> None:
    """Write a table of pyarrow; raises `NotWrittenError`."""
    data = BytesIO()
    import_pyarrow().parquet.write_table(table, data)
    write_atomically(path, data.getvalue())


def import_pyarrow() -> Any:
    """Return pyarrow with its module for Parquet.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError as exc:
        raise MissingExtraError("Parquet", "parquet") from exc
    return pyarrow
