"""The scores of one metric in a `ResultTable`: read again and again, made when they are read."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .made_sequence import MadeSequence
from .metrics_base import Measurement
from .scores import Score

if TYPE_CHECKING:
    from .result_table import ResultTable

__all__ = ["ScoreColumn"]

T = TypeVar("T")


class _Read(MadeSequence[T], Generic[T]):
    """What is *made* of some *rows*, in order, whenever it is read."""

    def __init__(self, rows: array[int], made: Callable[[int], T]) -> None:
        self._rows, self._made = rows, made

    def __len__(self) -> int:
        return len(self._rows)

    def _at(self, place: int) -> T:
        return self._made(self._rows[place])

    def __iter__(self) -> Iterator[T]:
        return map(self._made, self._rows)  # as it would be, in fewer steps: reports go through all


class ScoreColumn(_Read[Score]):
    """Some scores of one metric in a table, in order; a score is made when it is read."""

    def __init__(self, table: ResultTable, metric: str, rows: array[int]) -> None:
        super().__init__(rows, partial(table.score, metric))
        self._table, self._metric = table, metric

    @property
    def ids(self) -> Iterator[str]:
        """The cases the scores are of."""
        return (self._table.ids[row] for row in self._rows)

    @property
    def measured(self) -> ScoreColumn:
        """Those with something to aggregate."""
        return ScoreColumn(self._table, self._metric, self._measured())

    @property
    def values(self) -> list[float | None]:
        """Their values."""
        return self._table.values_of(self._metric, self._measured())

    def details(self, key: str) -> Iterator[Any]:
        """Yield what those with something to aggregate have under *key* in their details, where they have it."""
        if key not in self._table.detail_keys(self._metric):
            return
        for score in ScoreColumn(self._table, self._metric, self._measured(plain=False)):
            if key in score.details:
                yield score.details[key]

    @property
    def measurements(self) -> Sequence[Measurement]:
        """The same as their metric gave it."""
        return _Read(self._measured(), partial(self._table.measurement, self._metric))

    def _measured(self, *, plain: bool = True) -> array[int]:
        return self._table.rows_in_state(self._metric, self._rows, ("number", "aggregate"), plain=plain)
