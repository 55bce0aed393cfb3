"""The measurements of one metric over many cases, as numbers in arrays: some ten bytes a case, no text."""

from __future__ import annotations

import pickle
from array import array
from collections.abc import Iterable
from typing import Any

from .made_sequence import MadeSequence
from .metrics_base import Measurement, NotApplicable

__all__ = ["MeasurementColumn"]


class MeasurementColumn(MadeSequence[Measurement]):
    """What `Metric.aggregate` takes, without an object for each case.

    Values are kept as 64-bit floats, ``data`` (which few metrics have) pickled, ``details`` not at all.  Columns of
    parts of a data set are put together by `extend`, in order, so that sums come out the same to the last bit.

    Attributes:
        skipped: how many cases the metric had nothing to say about; they are not in the column.
    """

    __slots__ = ("_data", "_has_value", "_values", "skipped")

    def __init__(self, seen: Iterable[Measurement | NotApplicable] = ()) -> None:
        self._values = array("d")
        self._has_value = bytearray()
        self._data: list[bytes | None] = []
        self.skipped = 0
        for one in seen:
            self._add(one)

    def _add(self, one: Measurement | NotApplicable) -> None:
        if isinstance(one, NotApplicable):
            self.skipped += 1
            return
        if one.data is not None:
            self._data += [None] * (len(self) - len(self._data))  # only a column with data has a place for it
            self._data.append(pickle.dumps(one.data, pickle.HIGHEST_PROTOCOL))
        self._has_value.append(one.value is not None)
        self._values.append(0.0 if one.value is None else one.value)

    def extend(self, other: MeasurementColumn) -> None:
        """Append the measurements of *other*."""
        if other._data:
            self._data += [None] * (len(self) - len(self._data))
            self._data += other._data
        self._values.extend(other._values)
        self._has_value += other._has_value
        self.skipped += other.skipped

    def __len__(self) -> int:
        return len(self._values)

    def _at(self, place: int) -> Measurement:
        packed = self._data[place] if place < len(self._data) else None
        data: Any = None if packed is None else pickle.loads(packed)
        return Measurement(self._values[place] if self._has_value[place] else None, data)
