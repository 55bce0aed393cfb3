"""The tokens that a system reports with its answer, in the forms of the APIs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_auepora.adapters.outputs import NOTES, to_outputs
from pytest_auepora.core.model_calls import USAGE
from pytest_auepora.core.types import Response, SystemOutputs

OPENAI = {
    "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 1},
}  # fmt: skip
COUNTED = {"input_tokens": 12, "output_tokens": 3, "cached_tokens": 8}


@pytest.mark.parametrize(
    "usage",
    [
        OPENAI,
        SimpleNamespace(**{**OPENAI, "prompt_tokens_details": SimpleNamespace(cached_tokens=8)}),
        {"input_tokens": 12, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 8}},
        {"input_tokens": 12, "output_tokens": 3, "input_token_details": {"cache_read": 8}},
        {"input_tokens": 4, "output_tokens": 3, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 0},
        {"promptTokenCount": 12, "candidatesTokenCount": 2, "totalTokenCount": 15, "cachedContentTokenCount": 8},
        {"prompt_tokens": 12, "total_tokens": 15, "cached_tokens": 8},
    ],
)
def test_usage_is_read_in_the_form_of_each_api(usage: Any) -> None:
    outputs = to_outputs({"answer": "text", "usage": usage, "model": "m-1"})
    assert outputs.extra[USAGE] == [{"model": "m-1", **COUNTED}]


@pytest.mark.parametrize(
    "raw",
    [
        {"answer": "text", "usage_metadata": {**OPENAI, "model": "m-1"}},
        {"answer": "text", "token_usage": OPENAI, "model_name": "m-1"},
        {"answer": "text", "metadata": {"usage": OPENAI, "model": "m-1"}},
        {"answer": "text", "meta": {"usage": OPENAI, "model": "m-1"}},
        {"answer": "text", "usage": {"m-1": OPENAI}},
        Response("text", metadata={"usage": OPENAI, "model": "m-1"}),
        SystemOutputs([], Response("text"), extra={"usage": {**OPENAI, "model": "m-1"}}),
        SystemOutputs([], Response("text"), extra={"usage": [{**COUNTED, "model": "m-1"}]}),
        {"choices": [{"message": {"role": "assistant", "content": "text"}}], "usage": OPENAI, "model": "m-1"},
        SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(content="text"))],
            usage=SimpleNamespace(**OPENAI), model="m-1",
        ),
    ],
)  # fmt: skip
def test_usage_is_found_beside_the_answer_or_in_its_metadata(raw: Any) -> None:
    outputs = to_outputs(raw)
    assert outputs.response.text == "text"
    assert outputs.extra[USAGE] == [{"model": "m-1", **COUNTED}]


def test_several_model_calls_are_kept_apart() -> None:
    usage = [{"model": "small", "input_tokens": 1, "output_tokens": 2}, {"input_tokens": 3, "output_tokens": 4}]
    assert to_outputs({"answer": "", "usage": usage, "model": "large"}).extra[USAGE] == [
        {"model": "small", "input_tokens": 1, "output_tokens": 2},
        {"model": "large", "input_tokens": 3, "output_tokens": 4},
    ]


def test_a_cost_that_the_system_knows_is_kept() -> None:
    raw = {"answer": "", "usage": {"input_tokens": 1, "output_tokens": 2, "cost": 0.25}}
    assert to_outputs(raw).extra[USAGE] == [{"input_tokens": 1, "output_tokens": 2, "cost": 0.25}]
    assert to_outputs({"answer": "", "usage": {"total_cost": 0.5}}).extra[USAGE] == [{"cost": 0.5}]


@pytest.mark.parametrize("usage", ["premium", 3, {"tokens": 3}, {"input_tokens": -1, "output_tokens": 2}, {}, []])
def test_usage_that_counts_no_tokens_is_left_alone_and_noted(usage: Any) -> None:
    outputs = to_outputs({"answer": "text", "documents": [], "usage": usage})
    assert outputs.extra[USAGE] == usage
    assert outputs.extra[NOTES][0].startswith("usage is ")


def test_an_answer_without_usage_has_none() -> None:
    assert to_outputs({"answer": "text", "documents": [], "model": "m-1"}).extra == {"model": "m-1"}
