"""Each kind of value: what it takes, what it complains about, and that its schema says the same."""

from __future__ import annotations

import datetime
import math
from typing import Any

import jsonschema
import pytest

from pytest_auepora.io.golden.kinds import (
    BAD,
    MAX_FREE_DEPTH,
    Choice,
    Day,
    Field,
    FieldType,
    Flag,
    Free,
    ListOf,
    MapOf,
    Number,
    Reason,
    Record,
    Text,
    Whole,
)
from pytest_auepora.io.source import Source
from tests.unit.io.files import read

GOOD: list[tuple[FieldType, Any, Any]] = [
    (Text(), "a b", "a b"),
    (Choice("pass", "fail"), "fail", "fail"),
    (Choice("auto", "off"), False, "off"),
    (Flag(), False, False),
    (Whole(1, 20), 20, 20),
    (Number(0), 3, 3.0),
    (Number(0, 0.5, above=True), 0.25, 0.25),
    (Day(), "2026-01-31", "2026-01-31"),
    (Reason("skipped"), True, "skipped"),
    (Reason("skipped"), "flaky", "flaky"),
    (Reason("skipped"), False, None),
    (Free(), {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
]
BAD_ONES: list[tuple[FieldType, Any, str]] = [
    (Text(), "  ", "key: expected text, got an empty text"),
    (Text(), None, "key: has no value; write text, or leave the key out"),
    (Text(), 3.5, 'key: expected text, got 3.5 (a number); quote it: "3.5"'),
    (Choice("pass", "fail"), "fial", "key: expected one of pass, fail, got 'fial' (did you mean 'fail'?)"),
    (Choice("pass", "fail"), False, "key: expected one of pass, fail, got False (false)"),
    (Flag(), "yes", "key: expected true or false, got 'yes'"),
    (Whole(1, 20), 21, "key: expected a whole number from 1 to 20, got 21"),
    (Whole(1, 20), True, "key: expected a whole number from 1 to 20, got True (true)"),
    (Number(0), -1, "key: expected a number from 0, got -1"),
    (Number(0), math.nan, "key: expected a number from 0, got nan"),
    (Number(0, 0.5, above=True), 0, "key: expected a number above 0 and below 0.5, got 0"),
    (Number(0), 10**400, "key: expected a number from 0, got "),
    (Day(), "2026-02-30", "key: expected a date such as 2026-01-31, got '2026-02-30'"),
    (Reason("skipped"), 1, "key: expected a reason in words, or true, got 1"),
    (Free(), {"a": {1: 2}}, "the key 1 (a whole number) is not a text; quote it"),
    (Free(), {"a": b"x"}, "a: a bytes cannot be stored as JSON"),
    (Free(), "text", "key: expected a mapping, got 'text'"),
]


@pytest.mark.parametrize(("kind", "value", "wanted"), GOOD)
def test_what_a_kind_takes_its_schema_takes(kind: FieldType, value: Any, wanted: Any) -> None:
    assert read(kind, value) == (wanted, [])
    jsonschema.validate(value, kind.schema())


@pytest.mark.parametrize(("kind", "value", "message"), BAD_ONES)
def test_what_a_kind_complains_about(kind: FieldType, value: Any, message: str) -> None:
    made, told = read(kind, value)
    assert made is BAD
    assert len(told) == 1
    assert told[0].startswith(message)


def test_a_date_that_yaml_made_is_read_as_text() -> None:
    assert read(Day(), datetime.date(2025, 3, 30)) == ("2025-03-30", [])


def test_free_mappings_end_somewhere() -> None:
    deep: dict[str, Any] = {}
    for _ in range(60):
        deep = {"a": deep}
    (told,) = read(Free(), deep)[1]
    assert f" {MAX_FREE_DEPTH} " in told


BOUND = Record("a bound", Field("min", Whole(0), "At least.", required=True), Field("stat", Text(), "Of what."))


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
        (MapOf(Text(), "names"), {1: "x"}, ["the key 1 (a whole number) is not a text; quote it"]),
        (MapOf(Text(), "names"), [], ["key: expected a mapping from names to text, got an empty list"]),
    ],
)
def test_what_is_wrong_is_said_once(kind: FieldType, value: Any, messages: list[str]) -> None:
    assert read(kind, value) == (BAD, messages)


def test_a_record_names_unknown_and_missing_keys() -> None:
    assert read(BOUND, {"stat": "mean"}) == ({"stat": "mean"}, ["a bound has no min"])
    made, (told,) = read(BOUND, {"mni": 1})
    assert (made, "'mni'" in told, "'min'" in told) == ({}, True, True)
    assert read(BOUND, {"min": 1, "colour": "red"})[1] == ["unknown key 'colour'; a bound has min, stat"]
    hinted = Record("a bound", *BOUND.fields.values(), hints={"max": " (write '<=' instead)"})
    assert read(hinted, {"min": 1, "max": 2})[1] == ["unknown key 'max' (write '<=' instead)"]
    source = Source("f.yaml", "")
    assert hinted.read_record(hinted, {"max": 2}, ("key",), source) is BAD


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
def test_the_schema_says_the_same(kind: FieldType, good: Any, bad: Any) -> None:
    assert read(kind, good)[1] == []
    assert read(kind, bad)[1]
    jsonschema.validate(good, kind.schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, kind.schema())
