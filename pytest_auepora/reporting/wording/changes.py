"""What is different: settings of a metric or judge, provenance, how documents are chunked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...base.grouping import grouped
from ...base.text import names_words, shorten
from ...regression.compare import Change, Comparison, Incomparable, provenance_changes

_FINGERPRINT = re.compile(r"\w+:[0-9a-f]{16}")
"""A prompt, as its version and hash."""

_LONGEST = 40


def change_text(change: Change, *, hashes: bool = True) -> str:
    """Return ``k 5 → 10``; for prompts, known by version and hash, ``another prompt: 1:0f… → 1:a3…``."""
    old, new = _prints(change.before), _prints(change.after)
    if old and new:
        return f"another prompt: {old} → {new}" if hashes else "another prompt"
    return f"{change.key} {_value(change.before)} → {_value(change.after)}"


def changes_text(changes: Iterable[Change], *, hashes: bool = True) -> str:
    """Return all *changes* in one line."""
    return ", ".join(change_text(change, hashes=hashes) for change in changes)


def incomparable_text(why: Incomparable, *, hashes: bool = True) -> str:
    """Return why something does not compare with the baseline."""
    if why.reason == "not stored":
        return "the baseline does not hold what it is computed from"
    if why.reason == "damaged":
        return f"the baseline's data are damaged{f': {why.detail}' if why.detail else ''}"
    return changes_text(why.changes, hashes=hashes) or why.detail


def by_reason(incomparable: Mapping[str, Incomparable], *, hashes: bool = True) -> dict[str, list[str]]:
    """Return the metrics of each reason why they do not compare."""
    return grouped((incomparable_text(why, hashes=hashes), name) for name, why in incomparable.items())


def provenance_lines(comparison: Comparison | None) -> list[str]:
    """Return ``index v1 → v2`` for everything of the system that changed since the baseline."""
    return _change_texts(comparison.provenance) if comparison is not None else []


def provenance_texts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return ``index v1 → v2`` for everything of the system that differs between two runs."""
    return _change_texts(provenance_changes(before, after))


def _change_texts(changes: Mapping[str, tuple[Any, Any]]) -> list[str]:
    return [change_text(Change(key, old, new)) for key, (old, new) in changes.items()]


def unpaired_text(unpaired: Mapping[str, int], total: int) -> list[str]:
    """Return ``3 of 9 cases were edited`` for each way in which cases cannot be compared."""
    verbs = {"new": "are new", "changed": "were edited", "skipped": "were skipped"}
    return [f"{unpaired[flip]} of {total} cases {verb}" for flip, verb in verbs.items() if unpaired.get(flip)]


def metrics_text(incomparable: Mapping[str, Incomparable]) -> list[str]:
    """Return ``recall@5, mrr@10 (k 5 → 10)`` for each reason."""
    return [f"{names_words(names)} ({reason})" for reason, names in by_reason(incomparable).items()]


def _prints(value: Any) -> str:
    """Return the fingerprints of one or more prompts, shortened; empty if *value* is anything else."""
    prints = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) and _FINGERPRINT.fullmatch(text) for text in prints):
        return ""
    return " ".join(text[: text.index(":") + 9] for text in prints)


def _value(value: Any) -> str:
    if value is None:
        return "(nothing)"
    return shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), _LONGEST)
