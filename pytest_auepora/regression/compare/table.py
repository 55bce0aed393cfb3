"""How the cases of a large run compare with their baseline, in columns: three numbers a case and metric."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import compress, count
from typing import Any, TypeVar, get_args

from ...core.result_table import ResultTable
from ...core.row_mapping import RowMapping
from ...core.run import CaseResult
from ..baseline.model import BaselineCase
from .cases import CaseComparison, Flip, MetricChange, ScoreChange

__all__ = ["ChangeColumn", "ComparedTable"]

T = TypeVar("T")

_FLIPS: tuple[Flip, ...] = get_args(Flip)
_THERE, _ERRORED = 1, 2
_FETCHED = ("changes", "lost", "apart", "before")


class ComparedTable(RowMapping[CaseComparison]):
    """Comparisons by case, in the order of the results.

    Args:
        results: the run's.
        before: the blocks of the baseline, by case.
        incomparable: the metrics that do not compare, as they are known now; see `Comparison`.

    Attributes:
        repeated: see `Comparison.repeated`.
    """

    def __init__(
        self, results: ResultTable, before: Mapping[str, BaselineCase], incomparable: Mapping[str, str]
    ) -> None:
        super().__init__(results.ids, results.rows)
        self._results, self._before, self._incomparable = results, before, dict(incomparable)
        self._columns: dict[str, _Column] = {}
        self._lost: dict[int, dict[str, str]] = {}
        self._apart: dict[int, str] = {}
        self.repeated = False

    def is_of(
        self, results: Mapping[str, CaseResult], before: Mapping[str, BaselineCase], incomparable: Mapping[str, str]
    ) -> bool:
        """Whether comparing just these would say the same again."""
        return self._results is results and self._before is before and self._incomparable == incomparable

    def completed(self, compared: Callable[[str, CaseResult], CaseComparison]) -> ComparedTable:
        """Take in how the results compare that were not put in, and return the table."""
        if len(self) < len(self._results):
            for case_id, result in self._results.items():
                if case_id not in self:
                    self.put(compared(case_id, result))
        # as if the cases had come in their order
        self._columns = dict(sorted(self._columns.items(), key=lambda column: column[1].first_row()))
        return self

    def forget(self, case_id: str) -> None:
        """Forget how a case compares that was run again."""
        if case_id in self:
            row = self.rows[case_id]
            self._codes[row] = 0
            for column in self._columns.values():
                column.flags[row] = 0
            self._lost.pop(row, None)
            self._apart.pop(row, None)

    def put(self, one: CaseComparison) -> None:
        """Take in a comparison, of a case that has none here."""
        row = self.rows[one.case_id]
        self._codes[row] = _FLIPS.index(one.flip) + 1
        columns = self._columns
        for name, change in one.changes.items():
            (columns.get(name) or self._new_column(name)).put(row, change)
        if one.before is not None and one.before.repeats > 1:
            self.repeated = True
        if one.lost:
            self._lost[row] = one.lost
        if one.apart:
            self._apart[row] = one.apart

    def set_change(self, case_id: str, name: str, change: ScoreChange) -> None:
        """Say how one score of a case changed."""
        (self._columns.get(name) or self._new_column(name)).put(self.rows[case_id], change)

    def _new_column(self, name: str) -> _Column:
        made = self._columns[name] = _Column(len(self.ids))
        return made

    def _at(self, case_id: str, row: int) -> CaseComparison:
        made = _Kept.__new__(_Kept)
        made.case_id, made.flip, made._table, made._row = case_id, _FLIPS[self._codes[row] - 1], self, row
        return made

    def lost(self) -> dict[str, dict[str, str]]:
        """Return what `CaseComparison.lost` says in the cases where it says something."""
        return {self.ids[row]: self._lost[row] for row in sorted(self._lost)}

    def apart(self) -> dict[str, str]:
        """Return the same of `CaseComparison.apart`."""
        return {self.ids[row]: self._apart[row] for row in sorted(self._apart)}

    def gains(self, row: int) -> list[float]:
        """Return the gains of the case in *row*."""
        return [column.gain[row] for column in self._columns.values() if column.flags[row]]

    def part(self, row: int, name: str) -> Any:
        """Return the attribute *name* of the comparison in *row*."""
        if name == "changes":
            return {n: column.get(row) for n, column in self._columns.items() if column.flags[row]}
        if name == "before":
            return self._before.get(self.ids[row])
        return self._lost.get(row, {}) if name == "lost" else self._apart.get(row, "")

    def changes_of(self, name: str) -> Mapping[str, ScoreChange]:
        """Return the changes of one metric, by case."""
        column = self._columns.get(name)
        return {} if column is None else ChangeColumn(self, column)


class _Kept(CaseComparison):
    """A comparison of a table: what is said of it is looked up, and forgotten again."""

    __slots__ = ("_row", "_table")
    _table: ComparedTable
    _row: int

    @property
    def gains(self) -> list[float]:
        return self._table.gains(self._row)

    def __getattr__(self, name: str) -> Any:  # asked only for what was never set
        if name in _FETCHED:
            return self._table.part(self._row, name)
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        names = ("case_id", "flip", *_FETCHED)
        return isinstance(other, CaseComparison) and all(getattr(self, n) == getattr(other, n) for n in names)

    __hash__ = None  # type: ignore[assignment]


class _Column:
    """The changes of one metric by row."""

    def __init__(self, n: int) -> None:
        self.flags = bytearray(n)
        self.before, self.after, self.gain = (array("d", [0.0]) * n for _ in range(3))

    def put(self, row: int, change: ScoreChange) -> None:
        self.flags[row] = _THERE | (_ERRORED if change.errored else 0)
        self.before[row], self.after[row], self.gain[row] = change.before, change.after, change.gain

    def first_row(self) -> int:
        """Return where the first change is."""
        return next(compress(count(), self.flags), len(self.flags))

    def get(self, row: int) -> ScoreChange:
        return ScoreChange(self.before[row], self.after[row], self.gain[row], bool(self.flags[row] & _ERRORED))


class ChangeColumn(Mapping[str, ScoreChange]):
    """The changes of one metric by case, of all cases or of some; a change is made when it is read."""

    def __init__(self, table: ComparedTable, column: _Column, chosen: array[int] | None = None) -> None:
        self._table, self._column, self._chosen = table, column, chosen

    def _picked(self, values: Sequence[T]) -> Iterable[T]:
        """Return, of *values* by row, those of the cases."""
        return compress(values, self._column.flags) if self._chosen is None else (values[row] for row in self._chosen)

    def _rows(self) -> Iterable[int]:
        return self._picked(range(len(self._table.ids)))

    def among(self, ids: Iterable[str]) -> ChangeColumn:
        """Return those of some cases."""
        wanted = {self._table.rows[case_id] for case_id in ids}
        return ChangeColumn(self._table, self._column, array("q", (row for row in self._rows() if row in wanted)))

    def __getitem__(self, case_id: str) -> ScoreChange:
        row = self._table.rows[case_id]
        if not self._column.flags[row]:
            raise KeyError(case_id)
        return self._column.get(row)

    def __iter__(self) -> Iterator[str]:
        return iter(self._picked(self._table.ids))

    def __len__(self) -> int:
        flags = self._column.flags
        return len(flags) - flags.count(0) if self._chosen is None else len(self._chosen)

    def change(self) -> MetricChange:
        """Return the means; see `compare.change_over`."""
        n, column, ids = len(self), self._column, self._table.ids
        fallen = [row for row in self._rows() if column.gain[row] < 0] if min(column.gain) < 0 else []
        fallen.sort(key=column.gain.__getitem__)
        three = (column.before, column.after, column.gain)
        means = [sum(self._picked(values)) / n for values in three]
        return MetricChange(n, means[0], means[1], means[2], tuple([ids[row] for row in fallen]))

    def gains(self) -> Mapping[str, float]:
        """Return the gains by case."""
        return _Gains(self._table, self._column, self)

    def all_gains(self) -> Iterator[float]:
        """Yield the gains."""
        return iter(self._picked(self._column.gain))


class _Gains(Mapping[str, float]):
    def __init__(self, table: ComparedTable, column: _Column, cases: ChangeColumn) -> None:
        self._rows, self._gain, self.cases = table.rows, column.gain, cases

    def __getitem__(self, case_id: str) -> float:
        return self._gain[self._rows[case_id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def values(self) -> ValuesView[float]:
        return _GainValues(self)


class _GainValues(ValuesView[float]):
    _mapping: _Gains

    def __iter__(self) -> Iterator[float]:
        return self._mapping.cases.all_gains()
