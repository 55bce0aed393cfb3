"""Phrases that a case lists under one of its labels, with their other wordings, and how they are looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import MetricError
from ..generation.assertions import phrase_finder

__all__ = ["phrase_finder", "wordings"]


def wordings(given: Any, label: str) -> list[list[str]]:
    """Read a label that lists things by name: for each thing its names, the first one being its own.

    Each is a text (``|`` between several names), a list of names, or a mapping with ``name`` or ``text`` and
    perhaps ``aliases``.  None and an empty list give an empty list.

    Raises:
        MetricError: an entry is none of these.
    """
    if given is None:
        return []
    if isinstance(given, (str, Mapping)):
        given = [given]
    if not isinstance(given, Sequence):
        raise MetricError(f"labels[{label!r}] must be a list, got {type(given).__name__}")
    return [_names(entry, label) for entry in given]


def _names(entry: Any, label: str) -> list[str]:
    names: list[Any] = []
    if isinstance(entry, str):
        names = entry.split("|")
    elif isinstance(entry, Mapping):
        aliases = entry.get("aliases") or []
        names = [entry.get("name", entry.get("text")), *([aliases] if isinstance(aliases, str) else aliases)]
    elif isinstance(entry, Sequence):
        names = list(entry)
    kept = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    if not kept or not all(isinstance(name, str) for name in names):
        raise MetricError(f"labels[{label!r}] holds texts, lists of texts or mappings with a name, got {entry!r}")
    return kept
