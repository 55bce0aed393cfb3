"""The results of a large run in columns: a few bytes a case and metric, all else in a temporary file.

A `ResultTable` stands where a run has a dictionary of results.  What is read of a result is fetched when it is read.
"""

from __future__ import annotations

from array import array
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from functools import partial
from itertools import compress
from operator import attrgetter
from typing import Any

from .metrics_base import Measurement
from .row_mapping import RowMapping
from .run import CaseResult, CaseState
from .score_codes import Alike, ScoreCodes
from .score_column import ScoreColumn
from .scores import Score, ScoreState
from .spool import Held

__all__ = ["ResultTable"]

_STATES: tuple[CaseState | None, ...] = (None, "passed", "failed", "error", "skipped")
_CODES = {state: code for code, state in enumerate(_STATES)}
_ALIKE = ("labels", "extra")
_JUDGED = ("problems", "error", "content_hash", "ranks", "seconds", "concurrency")
_SHOWN = ("query", "where", "expected", "outputs")
_AT_JUDGED = {name: place for place, name in enumerate(_JUDGED)}
_AT_SHOWN = {name: place for place, name in enumerate((*_SHOWN, *_ALIKE))}
_PARTS = frozenset({*_AT_JUDGED, *_AT_SHOWN, "scores", "cluster"})
_judged_of: Callable[[CaseResult], tuple[Any, ...]] = attrgetter(*_JUDGED)
_shown_of: Callable[[CaseResult], tuple[Any, ...]] = attrgetter(*_SHOWN)
_Judged = tuple[tuple[Any, ...], dict[str, tuple[Any, ...]]]


class ResultTable(RowMapping[CaseResult], MutableMapping[str, CaseResult]):
    """Results by case id, in the order of *ids*.  A result that was put in is not to be changed.

    In memory stay its state, the cluster it shares with others and, for each metric, a float and a byte.  A score that
    takes more (details, data that the aggregate is made of) lies in a file with ranks, times and reasons; texts lie in
    another, for what is judged is read again and again, and they are a hundred times as long.

    Args:
        ids: every case there may be, in order.
        rows: where each stands among them; held, not copied.
    """

    def __init__(self, ids: Sequence[str], rows: Mapping[str, int]) -> None:
        super().__init__(ids, rows)
        self._places = array("q", [0]) * len(ids)
        self._alike = {name: Alike(len(ids)) for name in _ALIKE}
        self._columns: dict[str, ScoreCodes] = {}
        self._judged: Held[_Judged] = Held()
        self._shown: Held[tuple[Any, ...]] = Held()
        self._clusters: dict[int, str] = {}

    def __setitem__(self, case_id: str, result: CaseResult) -> None:
        row = self.rows[case_id]
        if self._codes[row]:
            self._forget(row)
        self._codes[row] = _CODES[result.state]
        columns = self._columns
        more = {
            name: (score.state, score.value, score.reason, score.data, score.details)
            for name, score in result.scores.items()
            if not (columns.get(name) or self._new_column(name)).take(row, score)
        }
        if result.cluster != case_id:
            self._clusters[row] = result.cluster
        unlike = [
            None if alike.take(row, value := getattr(result, name)) else value for name, alike in self._alike.items()
        ]
        self._places[row] = len(self._shown)
        self._judged.append((_judged_of(result), more))
        self._shown.append((*_shown_of(result), *unlike))

    def _new_column(self, name: str) -> ScoreCodes:
        made = self._columns[name] = ScoreCodes(len(self.ids))
        return made

    def _forget(self, row: int) -> None:
        for column in self._columns.values():
            column.codes[row] = 0
        self._clusters.pop(row, None)
        self._codes[row] = 0

    def _at(self, case_id: str, row: int) -> CaseResult:
        made = _Kept.__new__(_Kept)
        made.case_id, made.state, made._table, made._row = case_id, _STATES[self._codes[row]], self, row  # type: ignore[assignment]
        return made

    def __delitem__(self, case_id: str) -> None:
        self._forget(self._row(case_id))

    def having(self, key: str) -> Iterator[CaseResult]:
        """Yield the results that have *key* in their ``extra``."""
        for row in self._alike["extra"].rows(key):
            if self._codes[row] and key in self.part(row, "extra"):
                yield self._at(self.ids[row], row)

    def in_state(self, states: Collection[CaseState]) -> Iterator[CaseResult]:
        """Yield the results in one of *states*."""
        wanted = bytes(code in [_CODES[state] for state in states] for code in range(256))
        rows = compress(range(len(self.ids)), self._codes.translate(wanted))
        return (self._at(self.ids[row], row) for row in rows)

    @property
    def clusters(self) -> dict[str, str]:
        """The clusters of the cases that do not stand for themselves, by case."""
        return {self.ids[row]: cluster for row, cluster in sorted(self._clusters.items()) if cluster}

    def scores_of(self, metric: str, wanted: Callable[[CaseResult], bool] | None = None) -> ScoreColumn:
        """Return the scores of *metric* in the cases that have one, were not skipped and are *wanted*."""
        codes = self._columns[metric].codes if metric in self._columns else b""
        rows: Iterator[int] = compress(range(len(codes)), codes)
        if (skipped := _CODES["skipped"]) in self._codes:
            rows = (row for row in rows if self._codes[row] != skipped)
        if wanted is not None:
            rows = (row for row in rows if wanted(self._at(self.ids[row], row)))
        return ScoreColumn(self, metric, array("q", rows))

    def rows_in_state(
        self, metric: str, rows: Iterable[int], states: Collection[ScoreState], *, plain: bool = True
    ) -> array[int]:
        """Return those of *rows*, which have a score of *metric*, in which it is in one of *states*.

        Without *plain*, only those in which it is more than a number.
        """
        if metric not in self._columns:
            return array("q")
        column = self._columns[metric]
        coded, codes = column.coded(states, plain=plain), column.codes
        return array("q", compress(rows, (coded[codes[row]] for row in rows)))

    def part(self, row: int, name: str) -> Any:
        """Return the attribute *name* of the result in *row*."""
        if name == "scores":
            return {
                name: column.get(row) or self._elsewhere(name, row)
                for name, column in self._columns.items() if column.codes[row]
            }  # fmt: skip
        if name == "cluster":
            return self._clusters.get(row, self.ids[row])
        if name in _ALIKE and (found := self._alike[name].get(row)) is not None:
            return found
        if name in _AT_JUDGED:
            return self._judged.at(self._places[row])[0][_AT_JUDGED[name]]
        return self._shown.at(self._places[row])[_AT_SHOWN[name]]

    def score(self, metric: str, row: int) -> Score:
        """Return one score of the result in *row*, which has it."""
        return self._columns[metric].get(row) or self._elsewhere(metric, row)

    def score_if_any(self, row: int, metric: str) -> Score | None:
        """Return state, value and reason of one score of the result in *row*, perhaps more; None where it has none."""
        column = self._columns.get(metric)
        return None if column is None or not column.codes[row] else self.number(metric, row)

    def number(self, metric: str, row: int) -> Score:
        """Return state and value of one score of the result in *row*, which has it; perhaps more."""
        return self._columns[metric].number(row) or self.score(metric, row)

    def values_of(self, metric: str, rows: Iterable[int]) -> list[float | None]:
        """Return the values of some scores of *metric*, which the results in these *rows* have."""
        rows = list(rows)
        here = self._columns[metric].values(rows) if rows else []
        return [self.score(metric, row).value if v is None else v for row, v in zip(rows, here, strict=True)]

    def _elsewhere(self, metric: str, row: int) -> Score:
        return Score(*self._judged.at(self._places[row])[1][metric])

    def measurement(self, metric: str, row: int) -> Measurement:
        """Return what *metric* gave of the case in *row*, of which it measured something."""
        seen = self.score(metric, row).measurement
        assert seen is not None  # else there was nothing to ask for
        return seen

    def detail_keys(self, metric: str) -> Collection[str]:
        """Return the keys that details of scores of *metric* have."""
        return self._columns[metric].details if metric in self._columns else ()


class _Kept(CaseResult):
    """A result of a table: what is not in memory is fetched, and forgotten again."""

    __slots__ = ("_row", "_table")
    _table: ResultTable
    _row: int

    @property
    def score_of(self) -> Callable[[str], Score | None]:
        return partial(self._table.score_if_any, self._row)

    def __getattr__(self, name: str) -> Any:  # asked only for what was never set
        if name in _PARTS:
            return self._table.part(self._row, name)
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CaseResult) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return CaseResult, tuple(getattr(self, name) for name in CaseResult.__dataclass_fields__)
