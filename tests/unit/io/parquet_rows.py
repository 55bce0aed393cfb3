"""How much of a Parquet file is read, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

__all__ = ["rows_taken"]


def rows_taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the rows of each batch are added when it is read; no other way of reading is left."""
    from pyarrow.parquet import ParquetFile

    taken: list[int] = []
    in_batches = ParquetFile.iter_batches

    def counted(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        for batch in in_batches(self, *args, **kwargs):
            taken.append(batch.num_rows)
            yield batch

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("was read as a whole")

    monkeypatch.setattr(ParquetFile, "iter_batches", counted)
    for name in ("read", "read_row_group", "read_row_groups"):
        monkeypatch.setattr(ParquetFile, name, refused)
    return taken
