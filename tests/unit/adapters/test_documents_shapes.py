"""Lists of documents in any shape: understood, or refused by name."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from pytest_auepora.adapters.documents import assign_ids, to_retrieved
from pytest_auepora.core.types import Document
from pytest_auepora.errors import OutputShapeError


class Frame:
    """As a DataFrame: going through it gives the names of its columns."""

    def __init__(self, *columns: str) -> None:
        self.columns = list(columns)

    def __iter__(self) -> Any:
        return iter(self.columns)


class NAType:
    """As ``pandas.NA``, which has no truth value when compared."""

    def __eq__(self, other: object) -> Any:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (Frame("id", "text"), r"Frame.* a table; accepted: a list of its rows"),
        ({"a", "b"}, "set of 2: .* which has no order; accepted: a list, best first"),
        (frozenset("ab"), "frozenset of 2: .* which has no order"),
        (np.array("Ten days."), r"numpy\.ndarray: .* which is no list \(iteration over a 0-d array\)"),
        (np.array([["a.md", "Ten days."]]), r"document 1 has neither an id nor a text: numpy\.ndarray"),
        (object(), "which is no list"),
    ],
)
def test_what_has_no_order_or_is_a_table_is_refused(raw: Any, message: str) -> None:
    with pytest.raises(OutputShapeError, match=message):
        to_retrieved(raw)


@pytest.mark.parametrize(
    "raw", [np.array(["a", "b"]), {"a": 1, "b": 2}.keys(), {1: "a", 2: "b"}.values(), map(str, "ab"), deque("ab")]
)
def test_whatever_has_an_order_is_a_list(raw: Any) -> None:
    assert [r.doc.doc_id for r in to_retrieved(raw)] == ["a", "b"]


@pytest.mark.parametrize("nothing", [float("nan"), np.float64("nan"), np.datetime64("NaT"), NAType(), None, ""])
def test_an_id_that_a_table_lacks_is_no_id(nothing: Any) -> None:
    for raw in ({"id": nothing, "text": "Tea."}, {"text": "Tea.", "metadata": {"source": nothing}},
                Document(nothing, "Tea.")):  # fmt: skip
        assert to_retrieved([raw])[0].doc.metadata["id_source"] == "text"
    with pytest.raises(OutputShapeError, match="has neither an id nor a text"):
        to_retrieved([{"id": nothing}])


def test_ids_in_an_array_are_given_a_set_is_refused() -> None:
    retrieved = to_retrieved(["Ten days.", "Tea."])
    assert [r.doc.doc_id for r in assign_ids(retrieved, np.array(["a", "b"])) or ()] == ["a", "b"]
    assert assign_ids(retrieved, ["a", float("nan")]) is None
    with pytest.raises(OutputShapeError, match="the ids came as set of 2"):
        assign_ids(retrieved, {"a", "b"})


def test_what_an_iterator_of_the_user_raises_stays_what_it_is() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        to_retrieved(map(int, ["x"]))
