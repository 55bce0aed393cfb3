"""The usage that a system reports with its answer, in whatever form its models' API has → `core.model_calls`.

It stands under one of `USAGE_KEYS`, beside the answer or in its metadata: the usage of one model call, a list of such,
or one for each model by its name.  A call's model is the one it names, else that under `MODEL_KEYS` beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.model_calls import TOKEN_KEYS, USAGE, read_tokens
from ..core.types import SystemOutputs
from .shapes import describe, fields_of, first_of

USAGE_KEYS = (USAGE, "usage_metadata", "token_usage")
MODEL_KEYS = ("model", "model_name")
_COST_KEYS = ("cost", "total_cost")
_METADATA_KEYS = ("metadata", "meta")


def has_counts(calls: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any of *calls*, as an API reports them, counts tokens."""
    return any(key in call for call in calls for key in TOKEN_KEYS)


def note_usage(outputs: SystemOutputs) -> str:
    """Put the usage that *outputs* report into ``extra`` in its one form; return why it cannot be read, or nothing."""
    places = [place for place in (outputs.extra, outputs.response.metadata) if place]
    if not places:
        return ""
    nested = (place[key] for place in places for key in _METADATA_KEYS if isinstance(place.get(key), Mapping))
    for place in (*places, *nested):
        if (key := first_of(place, USAGE_KEYS)) is not None:
            calls = list(_calls_of(place[key], _model_of(place)))
            if not calls:
                return f"{key} is {describe(place[key])}, and counts no tokens"
            if place is outputs.extra:
                del outputs.extra[key]
            outputs.extra[USAGE] = calls
            break
    return ""


def _calls_of(raw: Any, model: str) -> Iterable[dict[str, Any]]:
    """Yield the model calls in *raw*; *model* is that of calls that name none."""
    if isinstance(raw, (list, tuple)) and not hasattr(raw, "_fields"):
        for part in raw:  # a call that counts nothing is one all the same
            yield from [*_calls_of(part, model)] or [{}]
        return
    fields = fields_of(raw, (*TOKEN_KEYS, *_COST_KEYS, *MODEL_KEYS)) or {}
    usage = {k: v if _is_plain(v) else fields_of(v, TOKEN_KEYS) for k, v in fields.items()}
    tokens, cost = (
        read_tokens(usage),
        next((c for key in _COST_KEYS if (c := _amount(fields.get(key))) is not None), None),
    )
    if tokens is None and cost is None:
        by_model = [
            call for name, part in fields.items() if isinstance(part, Mapping) for call in _calls_of(part, name)
        ]
        yield from by_model or ([{"model": name}] if (name := _model_of(fields)) else [])
        return
    call: dict[str, Any] = {"model": name} if (name := _model_of(fields) or model) else {}
    if tokens is not None:
        call |= {"input_tokens": tokens.input, "output_tokens": tokens.output}
        call |= {"cached_tokens": tokens.cached} if tokens.cached else {}
    yield call if cost is None else {**call, "cost": cost}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, Mapping))


def _model_of(fields: Mapping[str, Any]) -> str:
    key = first_of(fields, MODEL_KEYS)
    return fields[key] if key is not None and isinstance(fields[key], str) else ""


def _amount(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < math.inf else None
