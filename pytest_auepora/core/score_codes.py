"""What many results say alike, each kept once: mappings, and the states and reasons of scores."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator
from itertools import compress, count
from math import isnan, nan
from typing import Any

from .scores import Score, ScoreState

__all__ = ["Alike", "ScoreCodes"]

_ELSEWHERE: dict[ScoreState, int] = {"number": 252, "n/a": 253, "error": 254, "aggregate": 255}
"""Codes of scores that lie with the rest of the result."""
_MOST_SAID = 251
_MOST_ALIKE = 1_000  # different mappings of a kind that are kept in memory; the thresholds of most cases are the same


class Alike:
    """Mappings of which most say the same: each is kept once, for all results that have it."""

    def __init__(self, n: int) -> None:
        self._codes = array("H", [0]) * n
        self._known: dict[str, int] = {}
        self._values: list[dict[str, Any]] = []

    def take(self, row: int, value: dict[str, Any]) -> bool:
        """Keep *value* for *row*; False where there are too many different ones already."""
        said = repr(value)  # 1, 1.0 and True are equal, and so are two mappings in different order
        code = self._known.get(said, 0)
        if not code and len(self._values) < _MOST_ALIKE:
            self._values.append(value)
            code = self._known[said] = len(self._values)
        self._codes[row] = code
        return code > 0

    def get(self, row: int) -> dict[str, Any] | None:
        """Return what is kept for *row*, if it is."""
        code = self._codes[row]
        return self._values[code - 1] if code else None

    def rows(self, key: str) -> Iterator[int]:
        """Yield the rows whose mapping has *key* or is not kept here."""
        may_have = [True, *(key in value for value in self._values)]
        return compress(count(), map(may_have.__getitem__, self._codes))


class ScoreCodes:
    """The scores of one metric: a number, and a code for its state and reason.

    Attributes:
        codes: by row; 0 where there is no score.
        details: the keys that details of these scores have.
    """

    def __init__(self, n: int) -> None:
        self.codes = bytearray(n)
        self.details: set[str] = set()
        self._values = array("d", [0.0]) * n
        self._known: dict[tuple[Any, ...], int] = {}
        self._said: list[tuple[Any, ...]] = [()]

    def take(self, row: int, score: Score) -> bool:
        """Keep *score*; False where it is more than a number, or one of too many reasons for there being none."""
        state, value = score.state, score.value
        if score.data is not None or score.details or not (value is None or type(value) is float):
            self.codes[row] = _ELSEWHERE[state]
            self._values[row] = value if type(value) is float else nan
            self.details.update(score.details)
            return False
        said = state, value is not None, score.reason
        code = self._known.get(said) or self._learn(said)
        self.codes[row] = code or _ELSEWHERE[state]
        self._values[row] = 0.0 if value is None else value
        return code > 0

    def _learn(self, said: tuple[Any, ...]) -> int:
        if (code := len(self._said)) > _MOST_SAID:
            return 0
        self._known[said] = code
        self._said.append(said)
        return code

    def get(self, row: int) -> Score | None:
        """Return the score in *row*; None where it is kept elsewhere."""
        code = self.codes[row]
        if code > _MOST_SAID:
            return None
        state, has_value, reason = self._said[code]
        return Score(state, self._values[row] if has_value else None, reason, None, {})

    def number(self, row: int) -> Score | None:
        """Return state and value of the score in *row*; None where not even they are here."""
        found = self.get(row)
        if found is None and self.codes[row] == _ELSEWHERE["number"] and not isnan(value := self._values[row]):
            return Score("number", value, "", None, {})  # no score is not a number
        return found

    def values(self, rows: Iterable[int]) -> list[float | None]:
        """Return the values of the scores in *rows*; None where there is none, or it is not here."""
        has_value = [False] * 256
        for code, (_, there, _) in enumerate(self._said[1:], 1):
            has_value[code] = there
        has_value[_ELSEWHERE["number"]] = True
        codes, values = self.codes, self._values
        # what is here and no number says so itself, and so does what is kept elsewhere
        return [v if has_value[codes[row]] and (v := values[row]) == v else None for row in rows]

    def coded(self, states: Collection[ScoreState], *, plain: bool) -> bytes:
        """Return for each code whether it stands for one of *states*; without *plain*, not those of mere numbers."""
        out = bytearray(256)
        for code, said in enumerate(self._said[1:], 1):
            out[code] = plain and said[0] in states
        for state, code in _ELSEWHERE.items():
            out[code] = state in states
        return bytes(out)
