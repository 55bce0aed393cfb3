"""What an answer says of itself is true or false, never a text that only looks so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pytest_auepora.adapters.outputs import to_outputs
from pytest_auepora.core.types import Response, SystemOutputs
from pytest_auepora.errors import OutputShapeError
from pytest_auepora.metrics.refusal import is_refusal


@pytest.mark.parametrize("value", ["false", "no", "True", "", "policy", [], {}, 2, 0.5, float("nan"), np.array([1, 0])])
@pytest.mark.parametrize("name", ["refused", "grounded"])
def test_what_is_neither_true_nor_false_is_an_error(name: str, value: Any) -> None:
    for raw in (
        {"answer": "x", "metadata": {name: value}},
        Response("x", metadata={name: value}),
        SystemOutputs([], Response("x", metadata={name: value})),
    ):
        with pytest.raises(OutputShapeError, match=f"{name} is .*; accepted: true, false"):
            to_outputs(raw)


@pytest.mark.parametrize(
    ("value", "read"), [(True, True), (np.bool_(False), False), (0, False), (1, True), (1.0, True)]
)
def test_flags_of_any_library_are_read(value: Any, read: bool) -> None:
    outputs = to_outputs({"answer": "x", "refused": value, "metadata": {"grounded": value}})
    assert outputs.response.metadata == {"refused": read, "grounded": read}
    assert is_refusal(outputs) is read


def test_a_flag_that_is_not_known_is_none() -> None:
    outputs = to_outputs({"answer": "I do not know", "refused": None})
    assert is_refusal(outputs) is True
