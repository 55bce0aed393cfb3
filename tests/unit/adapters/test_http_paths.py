"""Dotted paths into JSON: what they find, and what is said where they end."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.http import JsonPath
from pytest_auepora.adapters.shapes import MISSING
from pytest_auepora.errors import SystemShapeError

DATA = {"choices": [{"message": {"content": "yes"}}], "a.b": {"0": None}, "hits": [[1, 2], []]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$", DATA),
        ("$.choices[0].message.content", "yes"),
        ("choices.0.message['content']", "yes"),
        ("['a.b'].0", None),
        ("hits[0][-1]", 2),
        ("hits[1][0]", MISSING),
        ("hits.first", MISSING),
        ("choices[0].message.content.text", MISSING),
        ("nothing", MISSING),
    ],
)
def test_what_stands_at_a_path(path: str, value: Any) -> None:
    assert JsonPath(path).find(DATA) is value or JsonPath(path).find(DATA) == value


def test_where_a_path_ends_is_said_with_near_keys() -> None:
    said = "no 'mesage' (did you mean 'message'?) in dict with the keys 'message'"
    assert JsonPath("choices[0].mesage.content").missing(DATA).startswith(said)
    assert JsonPath("hits[7]").missing(DATA).startswith("no 7 in list")


def test_a_path_knows_how_it_was_written() -> None:
    assert str(JsonPath("$.a")) == "$.a"


@pytest.mark.parametrize("written", ["", "  ", "a[", "a[x]", "a..b"])
def test_what_is_no_path_is_refused(written: str) -> None:
    with pytest.raises(SystemShapeError, match=r"is not a path; write \$"):
        JsonPath(written)
