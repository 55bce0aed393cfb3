"""Asking cases again: how often, and whether the answers to one case differ."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...core.run import CaseResult, MetricInfo, Run
from .model import RESOLUTION

__all__ = ["AGAIN", "AskedAgain", "again_plan", "asked_again", "note_again"]

AGAIN = "again"
"""Key in ``extra``: pairs of answers by metric, and the metrics in which some pair differs."""

WANTED, MOST = 100, 4
"""Pairs of answers that an update looks at, and how often one case is asked again for them at most."""


class AskedAgain(NamedTuple):
    """Pairs of answers to one case, by metric, and the metrics in which any pair differs."""

    pairs: Counter[str]
    varied: frozenset[str]


def again_plan(ids: Iterable[str], most: int | None = None) -> dict[str, int]:
    """Return how many more answers to ask for, by case; cases that are left out need none.

    A hundred in all: every case of a suite below a hundred as often as that takes, up to four times; of a larger one
    a hundred cases once, chosen by a hash of their ids so that every run chooses the same.

    Args:
        ids: the cases that are run.
        most: a lower limit for each case; 0 asks nothing.
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
    """Note in *result* how the *answers* to its case, two or more, differ; those that errored say nothing."""
    sound = [one for one in answers if one.state not in ("error", "skipped")]
    pairs: dict[str, int] = {}
    varied: list[str] = []
    for name in metrics if len(sound) > 1 else ():
        scores = [one.scores[name] for one in sound if name in one.scores and one.scores[name].state != "error"]
        values = [score.value for score in scores]
        if len(scores) < 2 or (all(v is None for v in values) and all(score.data is None for score in scores)):
            continue
        pairs[name] = len(scores) - 1
        first = scores[0]
        if any(_differ(first.value, one.value) or first.data != one.data for one in scores[1:]):
            varied.append(name)
    if pairs:
        result.extra[AGAIN] = {"pairs": pairs, "varied": varied}


def asked_again(run: Run) -> AskedAgain:
    """Return what the cases of *run* show together."""
    pairs, varied = Counter[str](), set[str]()
    for case in run.having(AGAIN):
        pairs.update(case.extra[AGAIN]["pairs"])
        varied.update(case.extra[AGAIN]["varied"])
    return AskedAgain(pairs, frozenset(varied))


def _differ(a: float | None, b: float | None) -> bool:
    return a != b and (a is None or b is None or abs(a - b) > RESOLUTION)
