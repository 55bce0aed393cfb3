"""What has to be equal for two scores of one metric to compare: its definition, its judge, the ruler it is read off.

What a system is made of (prompt, model, retriever, corpus) is what a run measures, so a change of it is shown and
judged.  What a score is read off is another matter: scores under two rulers say nothing about each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.metrics_base import CHUNK_KEYS
from ...core.run import CaseResult, Run
from ..baseline.model import GIT_COMMIT, Baseline, metric_key

__all__ = ["changed_since", "incomparable_metrics", "names_passages", "provenance_changes", "recut_metrics"]

_MOST = 40


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


def recut_metrics(run: Run, baseline: Baseline) -> frozenset[str]:
    """Return the metrics of `incomparable_metrics` that compare in cases whose labels name passages.

    Nothing is in their way but that documents are cut otherwise.
    """
    moved = changed_since(baseline, run).keys()
    return frozenset(
        name for name, info in run.metrics.items()
        if info.passages and (others := moved & set(info.ruler)) and others <= set(CHUNK_KEYS)
        and metric_key(info).items() <= baseline.metrics.get(name, {}).items()
    )  # fmt: skip


def names_passages(result: CaseResult) -> bool:
    """Whether every relevant label of the case is a quote, a span or a document, whatever chunks there are."""
    labels = [label for label in result.expected.get("relevant", ()) if label.get("grade", 1) >= 1]
    return bool(labels) and all(label.get("match") in ("quote", "span", "doc") for label in labels)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    keys = sorted({*before, *after})
    return {k: (before.get(k), after.get(k)) for k in keys if before.get(k) != after.get(k)}


def _told(before: Mapping[str, Any], after: Mapping[str, Any], inside: str = "") -> Iterator[str]:
    """Yield what differs between two mappings; of mappings within them what differs there: ``judge model a → b``."""
    for key, (old, new) in _differences(before, after).items():
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _told(old, new, f"{inside}{key} ")
        else:
            yield _arrow(f"{inside}{key}", old, new)


def _arrow(key: str, old: Any, new: Any) -> str:
    return f"{key} {_short(old)} \u2192 {_short(new)}"


def _short(value: Any) -> str:
    if value is None:
        return "(nothing)"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
