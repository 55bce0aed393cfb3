"""The shapes of the mappings in a result, for checking stored ones; keys that are not named are free."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from typing_extensions import TypedDict  # that of Python 3.10 and 3.11 says too little of itself for pydantic

from ..shapes import Kind, is_number

_SCORE_KEYS = {"state", "value", "reason", "data", "details"}


def _is_origin(value: Any) -> bool:
    return value == {} or (
        isinstance(value, dict) and isinstance(value.get("kind"), str) and isinstance(value.get("run"), str)
    )


def _is_range(value: Any) -> bool:
    ends = value if isinstance(value, list) else []
    if len(ends) != 2 or not all(end is None or type(end) in (int, float) for end in ends):
        return False
    low, high = ends
    return low is None or high is None or bool(low <= high)


def _is_score(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() - _SCORE_KEYS or not isinstance(value.get("details", {}), dict):
        return False
    state, number = value.get("state"), value.get("value")
    if state == "number":
        return is_number(number)
    return state in ("n/a", "error", "aggregate") and number is None and isinstance(value.get("reason", ""), str)


Count = Kind("a whole number from 1 on", lambda value: type(value) is int and 1 <= value < 10**9)
Place = Annotated[int, Kind("a whole number from 0 on", lambda value: type(value) is int and 0 <= value < 10**15)]
Rank = Kind("a rank from 1 on, or null", lambda value: value is None or Count.holds(value))
Origin = Kind("kind, run and taken, or nothing", _is_origin)
Range = Kind("a lowest and a highest number", _is_range)
StoredScore = Kind("a score, with a finite number where that is its state", _is_score)
"""A function, for speed: there is a score for every metric of every case."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a range, in ``Annotated``: JSON cannot say infinity, and has null."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(self._read, handler(tuple[float | None, float | None]))

    @staticmethod
    def _read(ends: tuple[float | None, float | None]) -> tuple[float, float]:
        low, high = ends
        return -math.inf if low is None else low, math.inf if high is None else high


Times = dict[str, Annotated[float, Kind("a number of seconds", lambda value: type(value) in (int, float))]]


class _WithId(TypedDict):
    id: str


class Label(_WithId, total=False):
    """A relevant label of a case."""

    doc: str
    grade: int
    match: str
    quote: str
    ids: list[str]
    span: list[int]


class Expected(TypedDict, total=False):
    """What a case expects."""

    expect: str
    relevant: list[Label]
    reference: str
    references: list[str]
    must_contain: list[Any]
    forbidden: list[Any]
    chat_history: list[dict[str, str]]


class _Hit(_WithId, total=False):
    doc: str
    score: float | None
    grade: int
    text: str | None
    span: list[int]


class Outputs(TypedDict, total=False):
    """What reports show of an answer."""

    answer: str | None
    retrieved: list[_Hit]
    timings: Times
    refused: bool
    grounded: bool
    citations: list[int | str]
    usage: list[dict[str, Any]]


class _MovedLabel(TypedDict):
    match: str


class MovedLabels(_MovedLabel):
    """How the labels of a case were matched after their chunks changed."""

    labels: dict[str, _MovedLabel]


for _shape in (_WithId, Label, Expected, _Hit, Outputs):
    setattr(_shape, "__pydantic_config__", {"strict": True, "allow_inf_nan": False, "extra": "allow"})  # noqa: B010
