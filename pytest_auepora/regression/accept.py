"""Accepting results: merging a run into a baseline.  Cases that were not run stay as they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.files import write_atomically
from ..core.run import Run
from ..errors import BaselineError
from .baseline import CONTRACTS, Baseline, BaselineCase, load_baseline, lock_baseline, metric_key
from .compare import compare, provenance_changes
from .determinism import merge_determinism, metric_definition


@dataclass(slots=True)
class Accepted:
    """What an update did.

    ``refused`` says, per case, why it cannot be accepted; ``not_selected`` counts the cases outside the intents.
    """

    path: Path = Path()
    written: bool = False
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unchanged: int = 0
    not_selected: int = 0


def accept(path: Path, run: Run, intents: Collection[str], *, prune: bool = False) -> Accepted:
    """Merge *run* into the baseline at *path*, under a lock, and write it if that changes a byte.

    *intents* say what to accept: ``all`` executed cases, ``new`` ones, those that only ``improved``.  *prune* drops
    baseline cases that the suite no longer has, after a full run.

    Raises:
        BaselineError: the file is broken and this is not a full ``all`` update, or it cannot be written.
    """
    with lock_baseline(path):
        try:
            old = load_baseline(path, run.suite, run.variant)
        except BaselineError:
            if not (run.is_full and "all" in intents):
                raise
            old = None
        new, accepted = merge(old, run, intents, prune=prune)
        accepted.path, text = path, new.dumps()
        accepted.written = path.read_bytes() != text.encode() if old is not None else bool(new.cases)
        if accepted.written:
            write_atomically(path, text)
        return accepted


def merge(
    old: Baseline | None, run: Run, intents: Collection[str], *, prune: bool = False
) -> tuple[Baseline, Accepted]:
    """Return *old* with the executed cases of *run*, and what was accepted.

    An errored case is never accepted.  A metric whose definition changed needs a full run, else old and new numbers
    would stand under one name.

    Raises:
        BaselineError: such a metric is in a run that is partial or not accepted as a whole.
    """
    accepted = Accepted()
    old = old or Baseline(run.suite, run.variant)
    new = Baseline(run.suite, run.variant, dict(old.metrics), dict(old.provenance), dict(old.cases))
    keys = {name: metric_key(info) for name, info in run.metrics.items() if info.baselined}
    whole = run.is_full and "all" in intents
    mixed = [name for name, key in keys.items() if name in old.metrics and metric_definition(old.metrics[name]) != key]
    if mixed and not whole:
        raise BaselineError(
            f"{run.title}: {', '.join(mixed)} changed its definition since the baseline; "
            "accept it with a full run and --auepora-update=all"
        )
    selected = {i for i in run.cases if "all" in intents or ("new" in intents and i not in old.cases)}
    _merge_cases(new, run, accepted, selected | (_improved_cases(old, run) if "improved" in intents else set()))
    if prune and run.is_full:
        expected = set(run.expected_ids)
        accepted.removed = [i for i in new.cases if i not in expected]
        for case_id in accepted.removed:
            del new.cases[case_id]
    _merge_metrics(new, keys, whole=whole or (prune and run.is_full))
    relearn = whole and run.origin.get("kind") != "replayed"  # a replay asks nothing again
    merge_determinism(new, run, {} if relearn else old.metrics)
    if accepted.added or accepted.changed or whole:
        new.provenance = dict(run.provenance)
    if (old.cases, old.metrics) == (new.cases, new.metrics) and not provenance_changes(old.provenance, new.provenance):
        new.provenance = dict(old.provenance)  # another commit alone changes no byte of the file
    return new, accepted


def _merge_cases(new: Baseline, run: Run, accepted: Accepted, selected: Collection[str]) -> None:
    """Put the executed cases that are *selected* into *new*, and count them in *accepted*."""
    for case_id, result in run.cases.items():
        before = new.cases.get(case_id)
        if result.state == "error":
            accepted.refused[case_id] = f"errored: {result.error_line or 'no result'}"
        elif result.state == "skipped":
            accepted.refused[case_id] = "skipped"
        elif case_id not in selected:
            accepted.not_selected += 1
        elif before == (block := BaselineCase.of(result, run.metrics)):
            accepted.unchanged += 1
        else:
            (accepted.added if before is None else accepted.changed).append(case_id)
            new.cases[case_id] = block


def _improved_cases(old: Baseline, run: Run) -> set[str]:
    """Return the cases in which something rose or was fixed, and nothing fell or was lost."""
    cases = compare(run, old).cases.items()
    return {i for i, c in cases if c.paired and not c.lost and c.worst == 0 and (c.best > 0 or c.flip == "fixed")}


def _merge_metrics(new: Baseline, keys: dict[str, dict[str, Any]], *, whole: bool) -> None:
    """Keep the metrics that some case still has a score for."""
    merged = dict(keys) if whole else {**new.metrics, **keys}
    for case in new.cases.values() if whole else ():
        case.scores = {n: v for n, v in case.scores.items() if n in merged or n in CONTRACTS}
        case.data = {n: v for n, v in case.data.items() if n in merged}
    used = {n for c in new.cases.values() for n in (*c.scores, *c.data)}
    new.metrics = {n: k for n, k in merged.items() if n in used}
