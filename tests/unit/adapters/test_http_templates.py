"""What is sent to an endpoint, with placeholders filled in."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.adapters.http_templates import fill_json, fill_text, taken_by, values_of
from pytest_auepora.core.types import EvaluationSample

TURNS = [{"role": "user", "content": "hi {top_k}"}, {"role": "assistant", "content": "hello"}]
SAMPLE = EvaluationSample("c", "why {query}?", labels={"as": "intern"}, chat_history=TURNS)
QUERY = {"role": "user", "content": "why {query}?"}


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
    assert fill_json(template, values_of(SAMPLE, 3)) == filled


def test_each_call_has_a_session_of_its_own() -> None:
    first, second = (fill_json("{session_id}", values_of(SAMPLE, 3)) for _ in range(2))
    assert first != second


def test_what_goes_into_a_url_is_encoded_and_nothing_else() -> None:
    filled = fill_text(
        "/ask?h={chat_history}&u={principal}", values_of(SAMPLE, 3), lambda text: text.replace("\n", "%0A")
    )
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
