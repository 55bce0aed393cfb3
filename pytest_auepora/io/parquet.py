"""Data sets in Parquet: one `EvaluationSample` a row.

``sample_id`` and ``query`` are text columns; the other attributes are JSON in text columns, null where the attribute
is None, so that any two data sets have the same schema.  Columns of lists and structs with the same content are read
as well.  Needs the extra ``parquet``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..core.dataset import EvaluationDataset, InMemoryDataset
from ..errors import AueporaError, MissingExtraError

__all__ = ["load_parquet_dataset", "save_parquet_dataset"]

_TEXTS = ("sample_id", "query")
_JSON = ("relevant_docs", "candidate_docs", "reference_answer", "labels", "metadata")


def load_parquet_dataset(path: str | Path, name: str | None = None) -> InMemoryDataset:
    """Read a data set; see the module.

    Args:
        path: the file.
        name: what the data set is called; the stem of the file by default.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        GoldenFileError: rows that are no samples; the line of a complaint is the number of the row.
        AueporaError: the file is no Parquet.
    """
    from .jsonl import read_samples
    from .source import Source

    parquet = _parquet()
    path = Path(path)
    try:
        rows = parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as exc:  # pyarrow's own errors are ValueErrors
        raise AueporaError(f"{path}: cannot be read as Parquet: {exc}") from None
    lines = "\n".join(json.dumps(_plain(row, path), ensure_ascii=False, default=str) for row in rows)
    return InMemoryDataset(name if name is not None else path.stem, read_samples(Source(str(path), lines)))


def _plain(row: dict[str, Any], path: Path) -> dict[str, Any]:
    made = {}
    for key, value in row.items():
        if key in _JSON and isinstance(value, str):
            try:
                made[key] = json.loads(value)
            except ValueError:
                raise AueporaError(f"{path}: sample {row.get('sample_id')!r}: {key} is no JSON") from None
        elif value is not None:
            made[key] = value
    return made


def save_parquet_dataset(dataset: EvaluationDataset, path: str | Path) -> None:
    """Write *dataset* so that `load_parquet_dataset` gives equal samples.

    Raises:
        MissingExtraError: the extra ``parquet`` is not installed.
        AueporaError: a sample holds something that is no JSON; nothing is written then.
    """
    parquet = _parquet()
    import pyarrow

    columns: dict[str, list[str | None]] = {name: [] for name in (*_TEXTS, *_JSON)}
    for sample in dataset:
        data = asdict(sample)
        for name in _TEXTS:
            columns[name].append(data[name])
        for name in _JSON:
            try:
                columns[name].append(
                    None if data[name] is None else json.dumps(data[name], ensure_ascii=False, allow_nan=False)
                )
            except (TypeError, ValueError) as exc:
                raise AueporaError(f"sample {sample.sample_id!r} cannot be written as JSON: {exc}") from None
    text = pyarrow.string()
    parquet.write_table(pyarrow.table({n: pyarrow.array(values, text) for n, values in columns.items()}), path)


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as exc:
        raise MissingExtraError("Parquet", "parquet") from exc
    return pyarrow.parquet
