"""Tokens as the APIs of models count them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_auepora.core.model_calls import Tokens, read_tokens


@pytest.mark.parametrize(
    ("raw", "tokens"),
    [
        ({"prompt_tokens": 12, "completion_tokens": 3}, Tokens(12, 3)),
        (
            {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 20},
            Tokens(12, 8),
        ),  # thoughts, in the total alone
        ({"prompt_tokens": 12, "total_tokens": 12}, Tokens(12, 0)),  # an embedding
        ({"input_tokens": 1, "output_tokens": 2, "input_token_details": {"cache_read": 9}}, Tokens(1, 2, 1)),
        ({"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 5}, Tokens(6, 2, 0)),
        ({"prompt_eval_count": 4, "eval_count": 2}, Tokens(4, 2)),
        ({"prompt_tokens": 12}, None),
        ({"completion_tokens": 12, "total_tokens": 12}, None),
        ({"prompt_tokens": True, "completion_tokens": 1}, None),
        ({"prompt_tokens": 1.5, "completion_tokens": 1}, None),
        ({}, None),
    ],
)
def test_tokens_in_the_forms_of_the_apis(raw: dict[str, Any], tokens: Tokens | None) -> None:
    assert read_tokens(raw) == tokens
