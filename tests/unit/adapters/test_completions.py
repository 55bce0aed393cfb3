"""Chat completions of OpenAI's form as answers."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.completions import completion_text, is_event
from pytest_auepora.adapters.outputs import to_outputs
from pytest_auepora.errors import OutputShapeError


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ([{"message": {"content": "yes"}}], "yes"),
        ([{"message": {"content": None, "tool_calls": []}}], ""),
        ([{"delta": {"content": "y"}}], "y"),
        ([{"delta": {"role": "assistant"}}], ""),
        ([{"text": "of old"}], "of old"),
        ([], ""),
        (["yes"], None),
        ([{"label": "yes"}], None),
        (None, None),
        ("yes", None),
    ],
)
def test_the_text_of_the_first_choice(choices: Any, text: str | None) -> None:
    assert completion_text(choices) == text


def test_choices_that_are_something_else_are_no_answer() -> None:
    with pytest.raises(OutputShapeError, match="the RAG returned no answer"):
        to_outputs({"choices": ["yes", "no"]})
    assert to_outputs({"answer": "a", "choices": ["yes", "no"]}).response.text == "a"


def test_events_are_known_by_their_type() -> None:
    assert is_event({"type": "response.created"})
    assert not is_event({"type": "text"})
    assert not is_event("response.created")
