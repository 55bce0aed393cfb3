"""What has to be equal for two scores of one metric to compare: its definition, its judge, the ruler it is read off.

What a system is made of (prompt, model, retriever, corpus) is what a run measures, so a change of it is shown and
judged.  What a score is read off is another matter: scores under two rulers say nothing about each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...core.metrics_base import CHUNK_KEYS
from ...core.run import CaseResult, Run
from ..baseline.model import GIT_COMMIT, Baseline, BaselineCase, metric_key

_MOST = 40
_FINGERPRINT = re.compile(r"\w+:[0-9a-f]{16}")
_HASHES = re.compile(r": \w+:[0-9a-f]{8}\b[^,]*")
_PASSAGES = ("quote", "span", "doc")


def provenance_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs, with both values; the commit does so nearly always and explains nothing by itself."""
    return {k: pair for k, pair in _differences(before, after).items() if k != GIT_COMMIT}


def changed_since(baseline: Baseline, run: Run) -> dict[str, tuple[Any, Any]]:
    """Return what is said of the provenance of *run* otherwise than of the baseline's.

    Nothing for a run that never got to its system, as its fixture failed: nothing is known of what it would have been.
    """
    unknown = run.cases and not run.provenance.keys() - {GIT_COMMIT}
    if unknown and all(case.state in ("error", "skipped") for case in run.cases.values()):
        return {}
    return provenance_changes(baseline.provenance, run.provenance)


def incomparable_metrics(run: Run, baseline: Baseline) -> dict[str, str]:
    """Return the metrics of *run* that the baseline measured differently, each with what changed: ``k 5 → 10``."""
    moved = changed_since(baseline, run)
    out: dict[str, str] = {}
    for name, info in run.metrics.items():
        if (old := baseline.metrics.get(name)) is None:
            continue
        new = metric_key(info)
        if old.get("version") != new["version"]:
            out[name] = f"metric version {old.get('version')} \u2192 {new['version']}"
        elif changed := list(_told(old.get("params", {}), new["params"])):
            out[name] = ", ".join(changed)
        elif other := {key: moved[key] for key in sorted(info.ruler) if key in moved}:
            out[name] = ", ".join(_arrow(key, *pair) for key, pair in other.items())
    return out


class Recut(NamedTuple):
    """Documents are cut otherwise than for the baseline: what changed, and the metrics that may compare even so."""

    why: str = ""
    metrics: Mapping[str, str] = MappingProxyType({})
    """Name → its ``survives``."""

    def compares(self, name: str, result: CaseResult, before: BaselineCase) -> bool:
        """Whether metric *name* compares in a case.

        A quote, a span and a document are found in whatever chunks there are.  A label that was found by its id before
        and is no more was that of a chunk; nobody says to which document it belongs.
        """
        labels = [label for label in result.expected.get("relevant", ()) if label.get("grade", 1) >= 1]
        if self.metrics[name] == "passages":
            return bool(labels) and all(label.get("match") in _PASSAGES for label in labels)
        hits = result.outputs.get("retrieved", ())
        there = {str(hit[key]) for hit in hits for key in ("id", "doc") if key in hit}
        return all(
            "match" in label or "doc" in label or label["id"] in there or before.ranks.get(label["id"]) is None
            for label in labels
        )


def recut_of(run: Run, baseline: Baseline) -> Recut:
    """Return what another way to cut documents means for the comparison; nothing where that is the same."""
    moved = {key: pair for key, pair in changed_since(baseline, run).items() if key in CHUNK_KEYS}
    names = {
        name: info.survives for name, info in run.metrics.items()
        if info.survives and metric_key(info).items() <= baseline.metrics.get(name, {}).items()
        and not (changed_since(baseline, run).keys() - moved) & set(info.ruler)
    }  # fmt: skip
    return Recut(", ".join(_arrow(key, *pair) for key, pair in moved.items()), names) if moved else Recut()


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*before, *after})
    return {k: (before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)}


def _told(before: Mapping[str, Any], after: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Yield what differs between two mappings; of mappings within them what differs there: ``judge model a → b``."""
    for key, (old, new) in _differences(before, after).items():
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _told(old, new, f"{inside}{key} ")
        else:
            yield changed_words(f"{inside}{key}", old, new)


def changed_words(key: str, old: Any, new: Any) -> str:
    """Return ``k 5 → 10``; of prompts, of which only version and hash are known, ``another prompt: 1:0f… → 1:a3…``."""
    if all(map(_are_fingerprints, (old, new))):
        return f"another prompt: {_short_hash(old)} \u2192 {_short_hash(new)}"
    return _arrow(key, old, new)


def without_hashes(told: str) -> str:
    """Return what differs without the hashes of prompts: ``another prompt``."""
    return _HASHES.sub("", told)


def _are_fingerprints(value: Any) -> bool:
    some = value if isinstance(value, list) else [value]
    return bool(some) and all(isinstance(one, str) and _FINGERPRINT.fullmatch(one) for one in some)


def _short_hash(value: Any) -> str:
    return " ".join(one[: one.index(":") + 9] for one in (value if isinstance(value, list) else [value]))


def _arrow(key: str, old: Any, new: Any) -> str:
    return f"{key} {_short(old)} \u2192 {_short(new)}"


def _short(value: Any) -> str:
    if value is None:
        return "(nothing)"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
