"""Plain data are held to the types they should have; the message has the key, what was expected and what was found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest

from pytest_auepora.shapes import Kind, ShapeError, check_shape, is_number


class Place(NamedTuple):
    path: str
    line: int


class Keys(TypedDict, total=False):
    first: list[Place]
    pair: tuple[int, str]


@dataclass
class Other:
    name: str


@dataclass
class Held:
    name: str
    state: Literal["good", "bad"]
    values: dict[str, float | None] = field(default_factory=dict)
    keys: Annotated[dict[str, Any], Keys] = field(default_factory=dict)
    odd: Annotated[int, Kind("an odd number", lambda value: value % 2 == 1)] = 1
    other: Other | None = None


SOUND = {
    "name": "a", "state": "good", "values": {"mrr": 0.5, "bleu": None, "n": 3}, "later": [],
    "keys": {"first": [{"path": "p", "line": 3}], "pair": [1, "x"]}, "odd": 3, "other": {"name": "b"},
}  # fmt: skip


def test_what_fits_is_passed_over_with_keys_of_newer_versions() -> None:
    check_shape(SOUND, Held)
    check_shape({"name": "a", "state": "bad"}, Held)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 3}, "name: expected a text, found 3"),
        ({"state": "odd"}, 'state: expected one of good, bad, found "odd"'),
        ({"values": {"mrr": float("nan")}}, "values.mrr: expected a finite number or null, found NaN"),
        ({"values": {"mrr": True}}, "values.mrr: expected a finite number or null, found true"),
        ({"values": []}, "values: expected a mapping, found []"),
        ({"keys": {"first": [{"path": "p"}]}}, "there is no key 'keys.first.0.line'"),
        ({"keys": {"first": [{"path": "p", "line": 1.5}]}}, "keys.first.0.line: expected a whole number, found 1.5"),
        ({"keys": {"pair": [1]}}, "keys.pair: expected a list of 2, found [1]"),
        ({"odd": 2}, "odd: expected an odd number, found 2"),
        ({"other": {"name": 1}}, "other.name: expected a text, found 1"),
        ({"other": 1}, "other: expected a mapping or null, found 1"),
    ],
)
def test_what_does_not_fit_is_told(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ShapeError) as seen:
        check_shape({**SOUND, **change}, Held)
    assert str(seen.value) == said


def test_the_whole_may_be_wrong() -> None:
    with pytest.raises(ShapeError, match=r"^expected a mapping, found \[\]$"):
        check_shape([], Held)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "true", '"1"', "null", "1" + "0" * 400])
def test_what_is_no_number(text: str) -> None:
    assert not is_number(json.loads(text))
    assert is_number(json.loads("-1.5e10"))
