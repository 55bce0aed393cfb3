"""Accepting results: merging a run into a baseline, so that nothing is ever lost."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..core.files import write_atomically
from ..core.run import CaseResult, Run
from ..errors import BaselineError
from .baseline.file import changing, load_baseline
from .baseline.model import AGAIN, CONTRACTS, LEARNED, AskedAgain, Baseline, BaselineCase, asked_again, metric_key
from .compare.cases import compare
from .compare.comparability import provenance_changes

INTENTS = ("all", "new", "improved")
"""What may be accepted: every executed case, those the baseline lacks, those that only got better."""


_LUCK = 1.28
"""Standard errors by which one update in ten is ahead of the answers asked again, whatever the system."""
_FEWEST = 10
"""Cases from which on luck can be told."""


@dataclass(slots=True)
class Accepted:
    """What an update did.

    ``refused`` says, per case, why it can not be accepted; ``passed_over`` counts those the words did not ask for.
    """

    path: Path
    written: bool = False
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unchanged: int = 0
    passed_over: int = 0


def accept(path: Path, run: Run, intents: Collection[str], *, prune: bool = False) -> Accepted:
    """Merge *run* into the baseline at *path*, under a lock, and write it if that changes a byte.

    Args:
        path: the file of the baseline.
        run: what was measured.
        intents: what of it to accept; some of `INTENTS`.
        prune: whether cases of the baseline go that the suite does not have any more; takes a full run.

    Raises:
        BaselineError: the file is broken and this is not a full ``all`` update, or it cannot be written.
    """
    with changing(path):
        try:
            old = load_baseline(path, run.suite, run.variant)
        except BaselineError:
            if not (run.is_full and "all" in intents):
                raise
            old = None
        new, done = merge(old, run, intents, prune=prune)
        done.path = path
        if not new.cases and old is None:
            return done
        text = new.dumps()
        if not path.exists() or path.read_bytes() != text.encode():
            write_atomically(path, text)
            done.written = True
        return done


def merge(
    old: Baseline | None, run: Run, intents: Collection[str], *, prune: bool = False
) -> tuple[Baseline, Accepted]:
    """Return the baseline that accepting *run* gives; only executed cases are touched.

    An errored case is never accepted.  A metric whose definition changed needs a full run: mixing old and
    new numbers under one name would compare them.

    Raises:
        BaselineError: the run is not full, or not all of it is accepted, and such a metric is in it.
    """
    done = Accepted(Path())
    new = Baseline(run.suite, run.variant)
    if old is not None:
        new.metrics, new.provenance = dict(old.metrics), dict(old.provenance)
        new.cases = dict(old.cases)
    keys = {name: metric_key(info) for name, info in run.metrics.items() if info.baselined}
    whole = run.is_full and "all" in intents
    mixed = [n for n, k in keys.items() if n in new.metrics and _definition(new.metrics[n]) != k]
    if mixed and not whole:
        raise BaselineError(
            f"{run.title}: {', '.join(mixed)} changed its definition since the baseline; "
            "accept it with a full run and --auepora-update=all"
        )
    _take(new, run, done, intents, _only_better(old, run))
    if prune and run.is_full:
        expected = set(run.expected_ids)
        done.removed = [i for i in new.cases if i not in expected]
        for case_id in done.removed:
            del new.cases[case_id]
    _settle_metrics(new, keys, whole=whole or (prune and run.is_full))
    learns = whole and run.origin.get("kind") != "replayed"  # a replay asks nothing again
    _settle_steadiness(new, old, asked_again(run), whole=learns)
    if done.added or done.changed or whole:
        new.provenance = dict(run.provenance)
    if old is not None and _same_but_for_the_commit(old, new):
        new.provenance = dict(old.provenance)
    return new, done


def _take(new: Baseline, run: Run, done: Accepted, intents: Collection[str], better: Collection[str]) -> None:
    """Put the executed cases that may and shall be accepted into *new*, and count them in *done*."""
    for case_id, result in run.cases.items():
        if why := _refusal(result):
            done.refused[case_id] = why
            continue
        if not _wanted(case_id in new.cases, case_id in better, intents):
            done.passed_over += 1
            continue
        block = BaselineCase.of(result, run.metrics)
        if (before := new.cases.get(case_id)) == block:
            done.unchanged += 1
            continue
        (done.added if before is None else done.changed).append(case_id)
        new.cases[case_id] = block


def _same_but_for_the_commit(old: Baseline, new: Baseline) -> bool:
    """Whether accepting changes nothing; then the file stays as it is, byte for byte."""
    same = (old.cases, old.metrics) == (new.cases, new.metrics)
    return same and not provenance_changes(old.provenance, new.provenance)


def luck_notes(run: Run) -> list[str]:
    """Return in which metrics the answers of *run* score better than those that were asked again, if in any.

    Accepted, they make later runs of the same system look worse.  Where cases are repeated, all answers are accepted.
    """
    ahead: dict[str, list[float]] = {}
    for case in run.having(AGAIN):
        for name, by in case.extra[AGAIN].get("ahead", {}).items() if case.repeats == 1 else ():
            ahead.setdefault(name, []).append(by if run.metrics[name].direction == "higher" else -by)
    lucky = [
        name for name, by in ahead.items()
        if run.metrics[name].baselined and len(by) >= _FEWEST and sum(by) > _LUCK * math.sqrt(sum(b * b for b in by))
    ]  # fmt: skip
    if not lucky:
        return []
    told = "the accepted answers happen to score better than those asked again, so later runs may look worse"
    return [f"{', '.join(lucky)}: {told}; update once more"]


def _settle_metrics(new: Baseline, keys: dict[str, dict[str, object]], *, whole: bool) -> None:
    """Describe exactly the metrics that some case still has a score for."""
    merged = {**new.metrics, **keys}
    if whole:
        merged = dict(keys)
        for case in new.cases.values():
            case.scores = {n: v for n, v in case.scores.items() if n in merged or n in CONTRACTS}
            case.data = {n: v for n, v in case.data.items() if n in merged}
    used = {n for c in new.cases.values() for n in (*c.scores, *c.data)}
    new.metrics = {n: k for n, k in merged.items() if n in used}


def _definition(told: Mapping[str, object]) -> dict[str, object]:
    """Return what a metric's scores compare by: all that is stored of it, but for what was learned about it."""
    return {key: value for key, value in told.items() if key not in LEARNED}


def _settle_steadiness(new: Baseline, old: Baseline | None, seen: AskedAgain, *, whole: bool) -> None:
    """Store which metrics are steady, and over how many pairs of answers; of a part of the suite, merge it.

    A metric stays steady only while no pair of answers to one case differs in it.
    """
    for name, told in new.metrics.items():
        known = old.metrics.get(name, {}) if old is not None and not whole else {}
        known = known if _definition(known) == _definition(told) else {}
        pairs = max(seen.pairs[name], int(known.get("pairs", 0)))
        new.metrics[name] = _definition(told)
        if pairs:
            steady = name not in seen.varied and bool(known.get("steady", True))
            new.metrics[name] |= {"steady": steady, "pairs": pairs}


def _only_better(old: Baseline | None, run: Run) -> set[str]:
    if old is None:
        return set()
    cases = compare(run, old).cases.items()
    return {i for i, c in cases if c.paired and not c.lost and c.worst == 0 and (c.best > 0 or c.flip == "fixed")}


def _wanted(known: bool, better: bool, intents: Collection[str]) -> bool:
    return "all" in intents or ("new" in intents and not known) or ("improved" in intents and better)


def _refusal(result: CaseResult) -> str:
    """Why this case is never accepted; an empty string when it may be."""
    if result.state == "error":
        return f"errored: {result.error_line or 'no result'}"
    if result.state == "skipped":
        return "skipped"
    return ""
