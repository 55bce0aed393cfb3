"""Which metrics are deterministic (*steady*): an update asks cases again and compares the answers."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..base.grouping import grouped
from ..core.run import CaseResult, MetricInfo, Run
from .baseline import RESOLUTION, Baseline

AGAIN = "again"
"""Key in ``extra``: pairs of answers by metric, and the metrics in which some pair differs."""

_MIN_PAIRS = 100  # pairs of answers that an update compares
_MAX_REPEATS = 4  # how often it asks one case again at most
_MIN_CASES = 10  # fewer cases give no note on luck
_Z = 1.28  # one-sided, for p = 0.10


def repeat_plan(ids: Iterable[str], most: int | None = None) -> dict[str, int]:
    """Return how many more answers to ask for, by case; cases that are left out need none.

    Suites below 100 cases: every case as often as 100 pairs take, at most four times.  Larger suites: 100 cases once,
    chosen by a hash of their ids, so that every run chooses the same.  *most* lowers the limit per case; 0 asks
    nothing.
    """
    names, most = list(ids), _MAX_REPEATS if most is None else min(most, _MAX_REPEATS)
    if not names or not most:
        return {}
    if len(names) < _MIN_PAIRS:
        return dict.fromkeys(names, min(math.ceil(_MIN_PAIRS / len(names)), most))
    chosen = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:_MIN_PAIRS]
    return dict.fromkeys(chosen, 1)


def record_repeats(result: CaseResult, answers: Sequence[CaseResult], metrics: Mapping[str, MetricInfo]) -> None:
    """Record in *result* how two or more *answers* to its case differ; errored answers are ignored.

    Also by how much the first answer, which is accepted, is ahead of the mean of the others.
    """
    usable = [answer for answer in answers if answer.state not in ("error", "skipped")]
    pairs: dict[str, int] = {}
    varied: list[str] = []
    ahead: dict[str, float] = {}
    for name in metrics if len(usable) > 1 else ():
        scores = [a.scores[name] for a in usable if name in a.scores and a.scores[name].state != "error"]
        if len(scores) < 2 or all(score.value is None and score.data is None for score in scores):
            continue
        first, *others = scores
        pairs[name] = len(others)
        if any(_differ(first.value, score.value) or first.data != score.data for score in others):
            varied.append(name)
            numbers = [score.value for score in scores if score.value is not None]
            if len(numbers) == len(scores):
                ahead[name] = numbers[0] - sum(numbers[1:]) / len(others)
    if pairs:
        result.extra[AGAIN] = {"pairs": pairs, "varied": varied} | ({"ahead": ahead} if ahead else {})


def _differ(a: float | None, b: float | None) -> bool:
    return a != b and (a is None or b is None or abs(a - b) > RESOLUTION)


def merge_determinism(new: Baseline, run: Run, before: Mapping[str, Mapping[str, Any]]) -> None:
    """Store in *new* which metrics are steady, over how many pairs of answers; those stored *before* count too.

    A metric stays steady only while no pair of answers to one case differs in it.
    """
    pair_counts, varied = Counter[str](), set[str]()
    for case in run.having(AGAIN):
        pair_counts.update(case.extra[AGAIN]["pairs"])
        varied.update(case.extra[AGAIN]["varied"])
    for name, stored in new.metrics.items():
        new.metrics[name] = definition = metric_definition(stored)
        old = before.get(name, {})
        if metric_definition(old) != definition:
            old = {}
        if pairs := max(pair_counts[name], old.get("pairs", 0)):
            new.metrics[name] = {**definition, "steady": name not in varied and old.get("steady", True), "pairs": pairs}


def metric_definition(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is *stored* of a metric, without what was learned: whether it is steady, over how many pairs."""
    return {key: value for key, value in stored.items() if key not in ("steady", "pairs")}


def lucky_baseline_notes(run: Run) -> list[str]:
    """Note metrics whose accepted answers score clearly better than the repeated answers.

    Such a baseline makes later runs look worse.  Cases with `repeat` are left out: all their answers are accepted.
    """
    cases = (case for case in run.having(AGAIN) if case.repeats == 1)
    leads_by_case = (item for case in cases for item in case.extra[AGAIN].get("ahead", {}).items())
    ahead = grouped((name, run.metrics[name].gain(0.0, lead)) for name, lead in leads_by_case)
    lucky = [
        name
        for name, leads in ahead.items()
        if run.metrics[name].baselined and len(leads) >= _MIN_CASES
        if sum(leads) > _Z * math.sqrt(sum(lead * lead for lead in leads))
    ]
    message = "the accepted answers happen to score better than those asked again, so later runs may look worse"
    return [f"{', '.join(lucky)}: {message}; update once more"] if lucky else []
