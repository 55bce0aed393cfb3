"""Lists, mappings and records: read part by part, every complaint at its part."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from pytest_auepora.io.golden.containers import Field, ListOf, MapOf, Record, table
from pytest_auepora.io.golden.kinds import BAD, Choice, Kind, Text, Whole
from pytest_auepora.io.source import Source
from tests.unit.io.files import read

BOUND = Record("a bound", table(Field("min", Whole(0), "At least.", required=True), Field("stat", Text(), "Of what.")))


def test_what_is_read_comes_back_part_by_part() -> None:
    assert read(ListOf(Whole(0)), [1, 2]) == ([1, 2], [])
    assert read(ListOf(Text(), one_ok=True), "a") == (["a"], [])
    assert read(MapOf(Choice("a", "b"), "names"), {"x": "b"}) == ({"x": "b"}, [])
    assert read(BOUND, {"min": 1, "stat": "mean"}) == ({"min": 1, "stat": "mean"}, [])


@pytest.mark.parametrize(
    ("kind", "value", "messages"),
    [
        (
            ListOf(Whole(0)),
            1,
            ["key: expected a list (a whole number from 0 to 1000000 in each place), got 1 (a whole number)"],
        ),
        (ListOf(Text(), one_ok=True), None, ["key: has no value; write text or a list of these, or leave the key out"]),
        (ListOf(Text(), least=1), [], ["key: expected a list (text in each place), got an empty list"]),
        (ListOf(Text(), unique=True), ["a", "b", "a"], ["'a' is listed twice"]),
        (MapOf(Text(), "names"), {1: "x"}, ["the key 1 (a whole number) is no text; quote it"]),
        (MapOf(Text(), "names"), [], ["key: expected a mapping from names to text, got an empty list"]),
    ],
)
def test_what_is_wrong_is_said_once(kind: Kind, value: Any, messages: list[str]) -> None:
    assert read(kind, value) == (BAD, messages)


def test_a_record_names_unknown_and_missing_keys() -> None:
    assert read(BOUND, {"stat": "mean"}) == ({"stat": "mean"}, ["a bound has no min"])
    assert read(BOUND, {"mni": 1}) == ({}, ["unknown key 'mni' (did you mean 'min'?)"])
    assert read(BOUND, {"min": 1, "colour": "red"})[1] == ["unknown key 'colour'; a bound has min, stat"]
    hinted = Record("a bound", BOUND.fields, {"max": " (write '<=' instead)"})
    assert read(hinted, {"min": 1, "max": 2})[1] == ["unknown key 'max' (write '<=' instead)"]
    source = Source("f.yaml", "")
    assert hinted.read_sound({"max": 2}, source) is BAD


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (ListOf(Whole(0), least=1, unique=True), [1, 2], [1, 1]),
        (ListOf(Text(), one_ok=True), "a", [1]),
        (MapOf(Whole(0), "names"), {"a": 1}, {"a": "1"}),
        (BOUND, {"min": 1}, {"min": 1, "max": 2}),
        (BOUND, {"min": 1, "stat": "mean"}, {"stat": "mean"}),
    ],
)
def test_the_schema_says_the_same(kind: Kind, good: Any, bad: Any) -> None:
    assert read(kind, good)[1] == []
    assert read(kind, bad)[1]
    jsonschema.validate(good, kind.schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, kind.schema())
