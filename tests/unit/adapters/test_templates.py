"""What is sent to a system, with placeholders filled in."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.templates import fill_json, fill_text, taken_by, values_of
from pytest_auepora.core.types import EvaluationSample

TURNS = [{"role": "user", "content": "hi {top_k}"}, {"role": "assistant", "content": "hello"}]
SAMPLE = EvaluationSample("c", "why {query}?", labels={"as": "intern"}, chat_history=TURNS)
QUERY = {"role": "user", "content": "why {query}?"}
VALUES = {**values_of(SAMPLE), "top_k": 3}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{chat_history}", TURNS),
        ("{messages}", [*TURNS, QUERY]),
        ({"messages": "{messages}", "user": "{principal}"}, {"messages": [*TURNS, QUERY], "user": "intern"}),
        ("Before:\n{chat_history}", "Before:\nuser: hi {top_k}\nassistant: hello"),
        ([{"who": "{role}", "said": "{content}"}], [{"who": t["role"], "said": t["content"]} for t in TURNS]),
        (["{query}", "{content}"], ["why {query}?", "{content}"]),
        ("{top_k}", 3),
        ("{top_k} of {unknown}", "3 of {unknown}"),
    ],
)
def test_each_placeholder_is_filled_once(template: Any, filled: Any) -> None:
    assert fill_json(template, VALUES) == filled


def test_what_is_all_of_a_text_has_its_form() -> None:
    template = {"turns": "{chat_history}", "text": ["{query} {chat_history}"]}
    filled = fill_json(template, VALUES, len)
    assert filled == {"turns": 2, "text": ["why {query}? user: hi {top_k}\nassistant: hello"]}


def test_each_call_has_a_session_of_its_own() -> None:
    first, second = (fill_json("{session_id}", values_of(SAMPLE)) for _ in range(2))
    assert first != second


def test_what_goes_into_a_url_is_encoded_and_nothing_else() -> None:
    filled = fill_text("/ask?h={chat_history}&u={principal}", VALUES, lambda text: text.replace("\n", "%0A"))
    assert filled == "/ask?h=user: hi {top_k}%0Aassistant: hello&u=intern"


@pytest.mark.parametrize(
    ("template", "taken"),
    [
        ({"question": "{query}"}, set()),
        ({"history": "{chat_history}"}, {"chat_history"}),
        (["x", {"messages": ["{messages}"]}], {"chat_history"}),
        ({"history": [{"text": "{content}"}]}, {"chat_history"}),
        ("/ask?user={principal}", {"principal"}),
    ],
)
def test_what_a_template_has_a_place_for(template: Any, taken: set[str]) -> None:
    assert taken_by(template) == taken
