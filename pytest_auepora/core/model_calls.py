"""The tokens behind an answer, in one form whatever API counted them.

A *model call* is a mapping with ``input_tokens`` and ``output_tokens``, ``cached_tokens`` (of the input, those that the
server had in its cache), ``model`` and ``cost``; each only where it is known.  ``SystemOutputs.extra["usage"]`` has a
list of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

USAGE = "usage"
"""Key of ``SystemOutputs.extra`` with the model calls behind an answer, and of a case's ``extra`` with their sums."""

_INPUT = (
    "input_tokens", "prompt_tokens", "inputTokens", "prompt_token_count", "promptTokenCount", "prompt_eval_count",
)  # fmt: skip
_OUTPUT = (
    "output_tokens", "completion_tokens", "outputTokens", "candidates_token_count", "candidatesTokenCount",
    "eval_count",
)  # fmt: skip
_TOTAL = ("total_tokens", "totalTokens", "total_token_count", "totalTokenCount")
_CACHED = ("cached_tokens", "cached_content_token_count", "cachedContentTokenCount")
_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_CACHED_DETAILS = ("cached_tokens", "cache_read")
_BESIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")  # which Anthropic's input_tokens leave out

TOKEN_KEYS = (*_INPUT, *_OUTPUT, *_TOTAL, *_CACHED, *_DETAILS, *_BESIDE_INPUT)
"""The keys under which APIs count tokens."""


class Tokens(NamedTuple):
    """Tokens of one model call; ``cached`` are among the ``input``."""

    input: int
    output: int
    cached: int = 0


def read_tokens(raw: Mapping[str, Any]) -> Tokens | None:
    """Return the tokens that *raw*, the usage in a reply of a model's API, counts; None where it counts none.

    Some servers have thoughts in the total alone, and charge them: they are output.
    """
    prompt, output, total = _first_count(raw, _INPUT), _first_count(raw, _OUTPUT), _first_count(raw, _TOTAL)
    if prompt is None or (output is None and total is None):
        return None
    details: Mapping[str, Any] = next((raw[key] for key in _DETAILS if isinstance(raw.get(key), Mapping)), {})
    cached = _first_count(raw, _CACHED) or _first_count(details, _CACHED_DETAILS) or 0
    beside = [_first_count(raw, (key,)) or 0 for key in _BESIDE_INPUT]
    if any(beside):
        prompt, cached = prompt + sum(beside), beside[0]
    return Tokens(prompt, max(output or 0, (total or 0) - prompt), min(cached, prompt))


def _first_count(raw: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    counts = (raw.get(name) for name in names)
    return next((n for n in counts if type(n) is int and n >= 0), None)
