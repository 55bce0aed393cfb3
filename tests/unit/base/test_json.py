"""What a run keeps is read back as it was, whoever writes it."""

from __future__ import annotations

import json
import math
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_auepora.base import json as json_text
from pytest_auepora.base.json import dumps, encode, encode_finite, loads
from pytest_auepora.core.scoring import Score

TEXTS = st.text() | st.sampled_from(["null", '"null"', "\u2028\n\x00\x7f"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(LEAVES, lambda some: st.lists(some) | st.dictionaries(TEXTS, some))


@dataclass
class Held:
    name: str
    _private: float | None = None
    more: list[Any] = field(default_factory=list)


class Colour(Enum):
    RED = "red"


Pair = namedtuple("Pair", "left right")


def read(value: Any) -> Any:
    """Read back what was written; NaN, which equals nothing, as its name."""
    return json.loads(dumps(value), parse_constant=str)


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value), parse_constant=str)


@given(VALUES)
@example([math.inf, None, -math.inf, math.nan])
@example({"null": [None, "null", 2**64, -0.0]})
@example([None, math.nan])
def test_every_value_is_read_back(value: Any) -> None:
    assert repr(read(value)) == repr(as_json(value))  # by repr: 1 and 1.0, 0.0 and -0.0 are told apart


@given(
    st.recursive(
        st.text(st.characters(exclude_categories=())), lambda some: st.lists(some) | st.dictionaries(TEXTS, some)
    )
)
def test_it_is_one_line_that_utf_8_has(value: Any) -> None:
    assert len(encode(value).splitlines()) <= 1
    assert encode(value).decode()


def test_a_lone_surrogate_is_a_question_mark() -> None:
    assert read(["a\ud800b", {"\udc00": 1}]) == ["a?b", {"?": 1}]


@given(TEXTS, st.none() | st.floats(), st.lists(LEAVES))
def test_dataclasses_are_written_by_field(name: str, private: float | None, more: list[Any]) -> None:
    assert repr(read([Held(name, private, more)])) == repr([as_json({"name": name, "_private": private, "more": more})])


def test_a_number_that_is_none_is_not_lost_among_the_nulls() -> None:
    assert dumps({"a": None, "b": math.inf}) == '{"a":null,"b":Infinity}'
    assert dumps(["null", None, -math.inf]) == '["null",null,-Infinity]'
    assert (
        dumps(Score("number", math.inf)) == '{"state":"number","value":Infinity,"reason":"","data":null,"details":{}}'
    )


def test_what_json_does_not_know() -> None:
    value = {"set": {2, 1}, "pair": Pair(1, None), "day": date(2024, 5, 1), "path": PurePosixPath("a/b"), 3: "number"}
    expected = {"set": [1, 2], "pair": [1, None], "day": "2024-05-01", "path": "a/b", "3": "number"}
    assert read(value) == expected
    assert read({k: v for k, v in value.items() if k != 3}) == {k: v for k, v in expected.items() if k != "3"}
    assert read([Colour.RED, None]) == ["red", None]
    assert read([Colour.RED, math.inf]) == ["red", "Infinity"]


@pytest.mark.parametrize("more", [[], [math.inf]])
def test_keys_that_json_does_not_know_are_written_as_text(more: list[float]) -> None:
    value = {(1, 2): more, "in": [Held("a", more=[{date(2024, 5, 1): {2, 1}, None: Colour.RED}])], 3: Pair(1, None)}
    within = {"name": "a", "_private": None, "more": [{"2024-05-01": [1, 2], "null": "red"}]}
    assert read(value) == {"(1, 2)": as_json(more), "in": [within], "3": [1, None]}


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy

    value = {"a": numpy.float64(0.1), "b": numpy.arange(3), "c": numpy.float32(0.5), "d": None, "e": numpy.bool_(True)}
    assert read(value) == {"a": 0.1, "b": [0, 1, 2], "c": 0.5, "d": None, "e": True}
    assert dumps(numpy.array([math.nan, 1.0])) == "[NaN,1.0]"


def test_what_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecursionError):
        dumps(value)


def test_plain_values_are_written_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else every value would be copied first, and nobody would see it."""
    monkeypatch.setattr(json_text, "_with_text_keys", lambda value: pytest.fail(f"written at length: {value!r}"))
    dumps({"a": [1, 2.5, None, True, "é…"], "b": Held("null to be"), "c": {1, 2}, "d": Pair(None, 1.5)})


SMALL = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | TEXTS


@given(st.recursive(SMALL, lambda some: st.lists(some) | st.dictionaries(TEXTS, some)))
@example([math.inf, -0.0, "\ud800", 5e-324, 1e22, 2**64 - 1, -(2**63)])
def test_what_was_encoded_is_loaded_as_json_loads_it(value: Any) -> None:
    assert repr(loads(encode(value))) == repr(json.loads(encode(value)))


def test_what_is_damaged_is_refused_as_json_refuses_it() -> None:
    for text in (b"", b"{", b"[1,]", b"nul"):
        with pytest.raises(ValueError, match=r"Expecting|Illegal"):
            loads(text)


@dataclass(slots=True)
class Slotted:
    name: str
    value: float | None
    more: Any


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(TEXTS, st.none() | FINITE, st.recursive(st.none() | st.integers() | FINITE | TEXTS, st.lists))
@example("null", 0.5, [{3: "a key that is no text"}, {(1, 2): None}, date(2024, 5, 1)])
def test_finite_numbers_in_slots_are_written_alike(name: str, value: float | None, more: Any) -> None:
    held = Slotted(name, value, [more, Slotted("within", value, more)])
    assert json.loads(encode_finite(held)) == json.loads(encode(held))
