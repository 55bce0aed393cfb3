"""What a project's redaction leaves of a recording: nothing that it changed, and nothing that it was not shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..metrics.ranking.gold import SOURCE_KEYS
from .answer_codec import Parts

__all__ = ["CHANGED", "UNSEEN", "conceal"]

CHANGED = "was changed by pytest_auepora_redact before it was recorded"
UNSEEN = "was not recorded, as pytest_auepora_redact is not shown it"

_SAID = ("refused", "grounded", "citations")


def conceal(parts: Parts, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Take out of *parts* whatever the hook changed between *before* and *after*, and what neither of them has.

    Both are what `shown_outputs` gives of the whole answer.
    """
    if after.get("answer") != before["answer"]:
        parts.drop(("answer",), CHANGED)
    _ranking(parts, before["retrieved"], after.get("retrieved"))
    if after.get("timings") != before["timings"]:
        parts.drop(("timings",), CHANGED)
    if parts.metadata:
        known = {key: before[key] for key in _SAID if key in before and after.get(key) == before[key]}
        changed = any(key in before and key not in known for key in _SAID)
        parts.drop(("metadata",), CHANGED if changed else UNSEEN, known)
    if parts.structured is not None or ("structured",) in parts.gaps:
        parts.drop(("structured",), UNSEEN)
    if parts.extra or any(path[0] == "extra" for path in parts.gaps):
        parts.drop(("extra",), UNSEEN)


def _ranking(parts: Parts, before: list[dict[str, Any]], after: Any) -> None:
    if not isinstance(after, list) or _bones(after) != _bones(before):
        parts.drop(("retrieved",), CHANGED)
        return
    for i, (old, new) in enumerate(zip(before, after, strict=True)):
        if new.get("text") != old["text"]:
            parts.drop(("retrieved", i, "text"), CHANGED)
        if parts.retrieved is not None and parts.retrieved[i][-1]:
            shown = {SOURCE_KEYS[0]: old.get("doc", old["id"])}
            if "span" in old:
                shown["start"], shown["end"] = old["span"]
            parts.drop(("retrieved", i, "metadata"), UNSEEN, shown)


def _bones(hits: list[Any]) -> list[Any]:
    """Everything of the hits but their texts."""
    return [{k: v for k, v in hit.items() if k != "text"} if isinstance(hit, dict) else hit for hit in hits]
