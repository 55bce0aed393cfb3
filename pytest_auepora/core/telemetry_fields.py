"""Outputs from the fields that an orchestration layer reports: timings in ms, retries, privacy, request ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .types import SystemOutputs

__all__ = ["TIMINGS", "with_orchestration"]

TIMINGS = {
    "parse_ms": ("parse",),
    "retrieval_ms": ("retrieval",),
    "synthesis_ms": ("synthesis", "generation"),
    "total_ms": ("end_to_end",),
}
"""Field in milliseconds → the names its seconds go by in ``SystemOutputs.timings``."""

_EXTRA = ("request_id", "adapter", "surface", "retry", "privacy", "status", "soft_deadline_ms", "aborted")


def with_orchestration(outputs: SystemOutputs, record: Mapping[str, Any]) -> SystemOutputs:
    """Return *outputs* with what an orchestration *record* says about the same request.

    ``timings`` (`TIMINGS`) become seconds and win over those measured around the call; any further field of
    them that ends in ``_ms`` is taken under the rest of its name.  ``retry`` (attempts, last_reason), ``privacy``
    (mode, redacted, blocked), ``request_id``, ``adapter``, ``surface``, ``status``, ``aborted`` and
    ``soft_deadline_ms`` go to ``extra``.  Fields that are missing or None change nothing.

    Raises:
        TypeError: a timing is no number, or ``timings`` is no mapping.
    """
    timings = dict(outputs.timings)
    reported = record.get("timings") or {}
    if not isinstance(reported, Mapping):
        raise TypeError(f"timings must be a mapping, got {type(reported).__name__}")
    for field, milliseconds in reported.items():
        if milliseconds is None or not (field in TIMINGS or field.endswith("_ms")):
            continue
        if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)):
            raise TypeError(f"timings[{field!r}] must be milliseconds, got {milliseconds!r}")
        for name in TIMINGS.get(field, (field.removesuffix("_ms"),)):
            timings[name] = milliseconds / 1000
    said = {key: record[key] for key in _EXTRA if record.get(key) is not None}
    return replace(outputs, timings=timings, extra={**outputs.extra, **said})
