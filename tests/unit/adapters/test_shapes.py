"""What an unknown value looks like, in short and whatever its repr does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pytest_auepora.adapters.shapes import describe, fields_of, first_of, short_repr, type_name


@dataclass
class Answer:
    text: str
    score: float = 0.5


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_repr_is_one_short_line_whatever_happens() -> None:
    assert short_repr("a\nb") == "'a\\nb'"
    assert len(short_repr(list(range(10_000)))) <= 200
    assert len(short_repr("x" * 500, 40)) == 40
    assert "Rude" in short_repr(Rude())


def test_types_are_named_as_people_import_them() -> None:
    assert type_name({}) == "dict"
    assert type_name(Answer("x")) == f"{__name__}.Answer"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"answer": 1, "docs": []}, "dict with the keys 'answer', 'docs'"),
        ({}, "dict without any key"),
        ([1, 2], "list"),
        (Answer("x"), "Answer"),
        (None, "None"),
    ],
)
def test_a_description_says_what_came(value: Any, words: str) -> None:
    assert words in describe(value)


class Page:
    def __init__(self) -> None:
        self.text, self._hidden = "x", 1

    @property
    def score(self) -> float:
        return 0.5

    @property
    def broken(self) -> str:
        raise RuntimeError

    def load(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        (Answer("x"), {"text": "x", "score": 0.5}),
        ({"text": "x", 1: 2}, {"text": "x", "1": 2}),
        (Page(), {"text": "x", "score": 0.5}),
        ("text", None),
        ([1], None),
        (len, None),
    ],
)
def test_fields_are_what_a_value_declares_and_what_is_asked_for(value: Any, fields: dict[str, Any] | None) -> None:
    assert fields_of(value, ("score", "broken", "load")) == fields


def test_the_first_name_that_holds_something() -> None:
    assert first_of({"a": None, "b": 0}, ("c", "a", "b")) == "b"
    assert first_of({"a": None}, ("a", "c")) is None
