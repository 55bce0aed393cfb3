"""Accepting results: merging a run into a baseline, so that nothing is ever lost.

An update asks cases again, to learn which metrics are steady: `again_plan` says how often, `note_again` whether the
answers differ.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.files import write_atomically
from ..core.run import CaseResult, MetricInfo, Run
from ..errors import BaselineError
from .baseline import (
    AGAIN,
    CONTRACTS,
    LEARNED,
    RESOLUTION,
    Baseline,
    BaselineCase,
    changing,
    load_baseline,
    metric_key,
)
from .compare import compare, provenance_changes

WANTED, MOST = 100, 4
"""Pairs of answers that an update looks at, and how often one case is asked again for them at most."""

_LUCK = 1.28
"""Standard errors by which one update in ten is ahead of the answers asked again, whatever the system."""
_FEWEST = 10
"""Cases from which on luck can be told."""


@dataclass(slots=True)
class Accepted:
    """What an update did.

    ``refused`` says, per case, why it can not be accepted; ``passed_over`` counts those the words did not ask for.
    """

    path: Path = Path()
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
        intents: what of it to accept; ``all`` executed cases, ``new`` ones, those that only ``improved``.
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
    done = Accepted()
    old = old or Baseline(run.suite, run.variant)
    new = Baseline(run.suite, run.variant, dict(old.metrics), dict(old.provenance), dict(old.cases))
    keys = {name: metric_key(info) for name, info in run.metrics.items() if info.baselined}
    whole = run.is_full and "all" in intents
    mixed = [name for name, key in keys.items() if name in old.metrics and _definition(old.metrics[name]) != key]
    if mixed and not whole:
        raise BaselineError(
            f"{run.title}: {', '.join(mixed)} changed its definition since the baseline; "
            "accept it with a full run and --auepora-update=all"
        )
    _merge_cases(new, run, done, intents, _only_better(old, run) if "improved" in intents else ())
    if prune and run.is_full:
        expected = set(run.expected_ids)
        done.removed = [i for i in new.cases if i not in expected]
        for case_id in done.removed:
            del new.cases[case_id]
    _merge_metrics(new, keys, whole=whole or (prune and run.is_full))
    learns = whole and run.origin.get("kind") != "replayed"  # a replay asks nothing again
    _merge_steadiness(new, run, {} if learns else old.metrics)
    if done.added or done.changed or whole:
        new.provenance = dict(run.provenance)
    if (old.cases, old.metrics) == (new.cases, new.metrics) and not provenance_changes(old.provenance, new.provenance):
        new.provenance = dict(old.provenance)  # another commit alone changes no byte of the file
    return new, done


def _merge_cases(new: Baseline, run: Run, done: Accepted, intents: Collection[str], better: Collection[str]) -> None:
    """Put the executed cases that may and shall be accepted into *new*, and count them in *done*."""
    for case_id, result in run.cases.items():
        before = new.cases.get(case_id)
        is_wanted = (
            "all" in intents or ("new" in intents and before is None) or ("improved" in intents and case_id in better)
        )
        if result.state == "error":
            done.refused[case_id] = f"errored: {result.error_line or 'no result'}"
        elif result.state == "skipped":
            done.refused[case_id] = "skipped"
        elif not is_wanted:
            done.passed_over += 1
        elif before == (block := BaselineCase.of(result, run.metrics)):
            done.unchanged += 1
        else:
            (done.added if before is None else done.changed).append(case_id)
            new.cases[case_id] = block


def _only_better(old: Baseline, run: Run) -> set[str]:
    cases = compare(run, old).cases.items()
    return {i for i, c in cases if c.paired and not c.lost and c.worst == 0 and (c.best > 0 or c.flip == "fixed")}


def _merge_metrics(new: Baseline, keys: dict[str, dict[str, Any]], *, whole: bool) -> None:
    """Describe exactly the metrics that some case still has a score for."""
    merged = dict(keys) if whole else {**new.metrics, **keys}
    for case in new.cases.values() if whole else ():
        case.scores = {n: v for n, v in case.scores.items() if n in merged or n in CONTRACTS}
        case.data = {n: v for n, v in case.data.items() if n in merged}
    used = {n for c in new.cases.values() for n in (*c.scores, *c.data)}
    new.metrics = {n: k for n, k in merged.items() if n in used}


def _merge_steadiness(new: Baseline, run: Run, before: Mapping[str, Mapping[str, Any]]) -> None:
    """Store which metrics are steady, and over how many pairs of answers, *before* among them.

    A metric stays steady only while no pair of answers to one case differs in it.
    """
    seen, varied = Counter[str](), set[str]()
    for case in run.having(AGAIN):
        seen.update(case.extra[AGAIN]["pairs"])
        varied.update(case.extra[AGAIN]["varied"])
    for name, told in new.metrics.items():
        new.metrics[name] = definition = _definition(told)
        known = before.get(name, {})
        known = known if _definition(known) == definition else {}
        if pairs := max(seen[name], int(known.get("pairs", 0))):
            steady = name not in varied and bool(known.get("steady", True))
            new.metrics[name] = {**definition, "steady": steady, "pairs": pairs}


def _definition(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a metric's scores compare by: all that is stored of it, but for what was learned about it."""
    return {key: value for key, value in told.items() if key not in LEARNED}


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


def again_plan(ids: Iterable[str], most: int | None = None) -> dict[str, int]:
    """Return how many more answers to ask for, by case; cases that are left out need none.

    A hundred in all: every case of a suite below a hundred as often as that takes, up to four times; of a larger one
    a hundred cases once, chosen by a hash of their ids so that every run chooses the same.  *most* is a lower limit for
    each case; 0 asks nothing.
    """
    names = list(ids)
    if not names or most == 0:
        return {}
    if len(names) < WANTED:
        times = min(MOST, math.ceil(WANTED / len(names)))
        return dict.fromkeys(names, times if most is None else min(times, most))
    chosen = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:WANTED]
    return dict.fromkeys(chosen, 1)


def note_again(result: CaseResult, answers: Sequence[CaseResult], metrics: Mapping[str, MetricInfo]) -> None:
    """Note in *result* how the *answers* to its case, two or more, differ; those that errored say nothing.

    Also by how much the first, which counts, is ahead of the mean of the others.
    """
    sound = [one for one in answers if one.state not in ("error", "skipped")]
    pairs: dict[str, int] = {}
    varied: list[str] = []
    ahead: dict[str, float] = {}
    for name in metrics if len(sound) > 1 else ():
        scores = [one.scores[name] for one in sound if name in one.scores and one.scores[name].state != "error"]
        values = [score.value for score in scores]
        if len(scores) < 2 or (all(v is None for v in values) and all(score.data is None for score in scores)):
            continue
        pairs[name] = len(scores) - 1
        first = scores[0]
        if any(_differ(first.value, one.value) or first.data != one.data for one in scores[1:]):
            varied.append(name)
            numbers = [value for value in values if value is not None]
            if len(numbers) == len(values):
                ahead[name] = numbers[0] - sum(numbers[1:]) / (len(numbers) - 1)
    if pairs:
        result.extra[AGAIN] = {"pairs": pairs, "varied": varied} | ({"ahead": ahead} if ahead else {})


def _differ(a: float | None, b: float | None) -> bool:
    return a != b and (a is None or b is None or abs(a - b) > RESOLUTION)
