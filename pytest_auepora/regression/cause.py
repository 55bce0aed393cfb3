"""Why a run is worse, shown and not guessed: today's generator is given the documents that the accepted run had.

Three cells: *accepted* (old documents, old generator), *now* (new, new), *swapped* (old documents, new generator).
The effect of the generator is swapped - accepted, that of retrieval now - swapped; both add up to what changed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..base.records import Number, Place, Record
from ..core.findings import OneAnswer
from ..core.run import CaseResult, MetricInfo, Run
from ..core.targets import component_of
from ..core.types import TargetCategory
from .baseline import BaselineCase
from .checks import ASSERTIONS
from .statistics.intervals import Difference, mean_difference

Culprit = Literal["retrieval", "generator", "both", "neither"]
"""Which part a loss is due to; ``neither``: it is no more than what varies between answers."""

Refusal = Literal[
    "", "no baseline", "nothing worse", "no accepted documents", "no retriever", "no generator", "partial run",
    "workers", "scope", "calls", "raised", "evaluate",
]  # fmt: skip
"""Why nothing could be shown: nothing is accepted; no case is worse; the accepted documents are not there; no retriever
was seen; the generator cannot be called apart (the detail says why, and what to give); not all cases ran; workers run
the cases; the system lives for one test only; no call may be made any more; the generator raised with the accepted
documents; a test evaluates the suite, and asks by ``run.why()``."""

LeftOut = Literal["not kept", "not kept whole", "without texts", "limit", "calls", "raised", "nothing to compare"]
"""Why a case was not asked: its accepted documents are not there, are cut or redacted, or are ids alone; it is beyond
the most cases; no call may be made any more; with these documents the generator raised, as it did not today; nothing
of its answer compares."""

_LEAST = 0.01  # a smaller effect, in a metric that goes from 0 to 1, is none
_SHARE = 0.25  # of the loss of a case that a part must account for
_SUITE_SHARE = 0.1  # of the loss of a suite
_ERRORS = 2.0  # standard errors that the effect of a part in one case must have


@dataclass(slots=True)
class Effect(Record):
    """One metric, or assertion, of one case in the three cells: means over answers, in its own unit."""

    accepted: Number
    """Old documents, old generator."""
    now: Number
    """New documents, new generator."""
    swapped: Number
    """Old documents, new generator."""


@dataclass(slots=True)
class CaseCause(Record):
    """The culprit of one case."""

    culprit: Culprit
    """Which part it got worse by."""
    metric: str = ""
    """The metric, or assertion, of the answer that lost most; empty where only retrieval did."""
    effects: dict[str, Effect] = field(default_factory=dict)
    """By metric of the answer, and by assertion."""
    fell: tuple[str, ...] = ()
    """Metrics of retrieval that fell."""
    calls: Place = 0
    """How often the generator was asked; 0 where the documents of today are the accepted ones."""
    answer: str | None = None
    """What today's generator answered to the accepted documents, the first time."""


@dataclass(slots=True)
class MetricCause(Record):
    """One metric over the cases that were asked."""

    n: Place
    """Cases."""
    effect: Effect
    """Its means."""
    generator: Difference
    """swapped - accepted."""
    retrieval: Difference
    """now - swapped."""


@dataclass(slots=True)
class Cause(Record):
    """What a suite got worse by."""

    culprit: Culprit | None = None
    """Which part; null where nothing was shown."""
    metric: str = ""
    """The metric, or assertion, that lost most."""
    cases: dict[str, CaseCause] = field(default_factory=dict)
    """By id, the cases that were asked."""
    metrics: dict[str, MetricCause] = field(default_factory=dict)
    """By metric of the answer, and by assertion, over these cases."""
    retrieval: dict[str, Number] = field(default_factory=dict)
    """By metric of retrieval that is worse, its mean gain over the whole suite, which is negative."""
    calls: Place = 0
    """Calls of the generator."""
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    """Cases that are worse and were not asked."""
    refusal: Refusal = ""
    """Why nothing could be shown."""
    detail: str = ""
    """What the refusal is about; what the generator raised."""


class Cells(NamedTuple):
    """The answers to a case in the three cells, and what is known of its retrieval.

    ``swapped`` is None where today's documents are the accepted ones: then *now* is swapped as well.
    """

    accepted: Sequence[OneAnswer]
    now: Sequence[OneAnswer]
    swapped: Sequence[OneAnswer] | None
    fell: tuple[str, ...] = ()


def answers_needed(before: BaselineCase, result: CaseResult, metrics: Mapping[str, MetricInfo]) -> int:
    """Return how often the generator is asked: once where neither the accepted answers nor today's differ in *metrics*.

    Else as often as the case was asked when it was accepted.
    """
    kept = [*(before.scores.get(name) for name in metrics), *before.assertions.values(), before.answered]
    today = [_known(one, metrics) for one in result.each_answer()]
    varies = any(isinstance(values, list) for values in kept) or any(one != today[0] for one in today)
    return max(before.answers, len(today)) if varies else 1


def case_cause(cells: Cells, metrics: Mapping[str, MetricInfo]) -> CaseCause | None:
    """Return what a case got worse by; None where no metric of its answers is in all cells, and none of retrieval fell.

    *metrics* are those of the answer that compare.
    """
    columns = {name: column for name in _names(cells) if (column := _column(name, cells, metrics)) is not None}
    if not columns and not cells.fell:
        return None
    effects = {name: Effect(*(math.fsum(cell) / len(cell) for cell in column)) for name, column in columns.items()}
    losses = {name: _loss(name, effect.accepted, effect.now, metrics) for name, effect in effects.items()}
    name = max(losses, key=lambda name: losses[name], default="")
    if not name or losses[name] <= _LEAST:
        return CaseCause("retrieval" if cells.fell else "neither", "", effects, cells.fell)
    guilty = [False, False]
    for metric, column in columns.items():
        if losses[metric] > max(_LEAST, _SHARE * losses[name]):
            effect, width = effects[metric], _width(metric, metrics)
            cells_of_parts = ((effect.accepted, effect.swapped), (effect.swapped, effect.now))
            for i, (part, error) in enumerate(zip(cells_of_parts, _errors(column), strict=True)):
                least = max(_LEAST, _SHARE * losses[metric], _ERRORS * error / width)
                guilty[i] |= _loss(metric, *part, metrics) > least
    return CaseCause(_culprit(*guilty), name, effects, cells.fell)


def answer_noise(cells: Cells, metrics: Mapping[str, MetricInfo]) -> dict[str, tuple[float, float]]:
    """Return the standard errors of the effects of generator and retrieval in one case, by what its answers vary by."""
    columns = {name: _column(name, cells, metrics) for name in _names(cells)}
    return {name: _errors(column) for name, column in columns.items() if column is not None}


def luck_of(accepted: Iterable[BaselineCase], metrics: Mapping[str, MetricInfo]) -> dict[str, float]:
    """Return by how much an accepted answer differs from the others of its case, where these held every assertion.

    Only a case of which all accepted answers held can fail, so that the accepted answers of failing cases are better
    than others of the same system would be, by this much.
    """
    differences = defaultdict[str, list[float]](list)
    for before in accepted:
        answers = before.each_answer()
        for i, one in enumerate(answers):
            if held_all(others := [*answers[:i], *answers[i + 1 :]]):
                for name, column in ((n, _column(n, Cells([one], others, None), metrics)) for n in _names_of([one])):
                    if column is not None:
                        differences[name].append(column[0][0] - math.fsum(column[1]) / len(column[1]))
    return {name: math.fsum(values) / len(values) for name, values in differences.items()}


def held_all(answers: Sequence[OneAnswer]) -> bool:
    """Whether there are answers, and each holds every assertion."""
    return bool(answers) and all(one.answered and all(one.assertions.values()) for one in answers)


def suite_cause(
    cause: Cause,
    run: Run,
    *,
    noise: Mapping[str, Mapping[str, tuple[float, float]]],
    luck: Mapping[str, Mapping[str, float]],
    metrics: Mapping[str, MetricInfo],
) -> Cause:
    """Complete *cause*, which has its cases, by what they come to together.

    Args:
        cause: has its cases.
        run: which they are of.
        noise: by case, its `answer_noise`.
        luck: by case, the `luck_of` its accepted answers, for cases of which all held.
        metrics: those of the answer.
    """
    names = dict.fromkeys(name for case in cause.cases.values() for name in case.effects)
    for name in names:
        effects = {i: case.effects[name] for i, case in cause.cases.items() if name in case.effects}
        clusters = {i: run.cases[i].cluster for i in effects if run.cases[i].cluster}
        generator = mean_difference({i: (e.accepted, e.swapped) for i, e in effects.items()}, clusters)
        retrieval = mean_difference({i: (e.swapped, e.now) for i, e in effects.items()}, clusters)
        cells = zip(*((e.accepted, e.now, e.swapped) for e in effects.values()), strict=True)
        means = (math.fsum(cell) / len(effects) for cell in cells)
        cause.metrics[name] = MetricCause(len(effects), Effect(*means), generator, retrieval)
    n_cases = len(cause.cases)
    losses = {
        name: _loss(name, one.effect.accepted, one.effect.now, metrics) * one.n / n_cases
        for name, one in cause.metrics.items()
    }
    cause.metric = max(losses, key=lambda name: losses[name], default="")
    if losses.get(cause.metric, 0.0) <= _LEAST:
        cause.metric = ""
    guilty = [False, bool(cause.retrieval)]
    for name, one in cause.metrics.items():
        total = _loss(name, one.effect.accepted, one.effect.now, metrics)
        share = _SUITE_SHARE if name == cause.metric else _SHARE  # metrics are many, and one may be enough by chance
        if cause.metric and total > _LEAST:
            lucky = math.fsum(of.get(name, 0.0) for of in luck.values()) / one.n
            errors = [math.hypot(*(of[name][i] for of in noise.values() if name in of)) / one.n for i in range(2)]
            for i, part in enumerate((one.generator, one.retrieval)):
                value = (part.value or 0.0) - (0.0 if i else lucky)
                least = max(_LEAST, share * total, _ERRORS * errors[i] / _width(name, metrics))
                guilty[i] |= _loss(name, 0.0, value, metrics) > least
    cause.culprit = _culprit(*guilty)
    return cause


def is_of_retrieval(info: MetricInfo) -> bool:
    """Whether a metric measures the retriever alone: with given documents it says nothing of the generator."""
    return info.target in TargetCategory.__members__ and component_of(TargetCategory[info.target]) == "retrieval"


def is_of_answer(info: MetricInfo) -> bool:
    """Whether a metric of finite range measures the answer."""
    return not is_of_retrieval(info) and info.target != "LATENCY" and all(map(math.isfinite, info.range))


def _culprit(generator: bool, retrieval: bool) -> Culprit:
    if generator and retrieval:
        return "both"
    return "generator" if generator else "retrieval" if retrieval else "neither"


def _names(cells: Cells) -> Iterable[str]:
    """Return the names of metrics and assertions in any cell."""
    return _names_of([*cells.accepted, *cells.now, *(cells.swapped or ())])


def _names_of(answers: Iterable[OneAnswer]) -> Iterable[str]:
    return dict.fromkeys(name for one in answers for name in (*one.values, *one.assertions))


def _column(
    name: str, cells: Cells, metrics: Mapping[str, MetricInfo]
) -> tuple[list[float], list[float], list[float]] | None:
    """Return the numbers of *name* in each cell, accepted, now, swapped; None where it is not in all of them."""
    if name not in metrics and name not in ASSERTIONS:
        return None
    worst = metrics[name].worst if name in metrics else 0.0
    accepted, now = _numbers(name, cells.accepted, worst), _numbers(name, cells.now, worst)
    swapped = now if cells.swapped is None else _numbers(name, cells.swapped, worst)
    return (accepted, now, swapped) if accepted and now and swapped else None


def _numbers(name: str, answers: Sequence[OneAnswer], worst: float) -> list[float]:
    """Return one number an answer; one that raised has the worst, n/a none."""
    out: list[float] = []
    for one in answers:
        if not one.answered:
            out.append(worst)
        elif name in one.assertions:
            out.append(float(one.assertions[name]))
        elif (value := one.values.get(name)) is not None:
            out.append(worst if isinstance(value, str) else float(value))
    return out


def _known(one: OneAnswer, metrics: Mapping[str, MetricInfo]) -> object:
    """Return what an answer says in *metrics*, rounded as in baselines, and what its assertions did."""
    values = {n: round(v, 4) if isinstance(v, (int, float)) else v for n, v in one.values.items() if n in metrics}
    return values, dict(one.assertions), one.answered


def _errors(column: tuple[list[float], list[float], list[float]]) -> tuple[float, float]:
    """Return the standard errors of the effects of generator and retrieval, by what varies between answers."""
    accepted, now, swapped = column
    squares, free = 0.0, 0
    for cell in {id(cell): cell for cell in column}.values():
        mean = math.fsum(cell) / len(cell)
        squares, free = squares + math.fsum((x - mean) ** 2 for x in cell), free + len(cell) - 1
    variance = squares / free if free else 0.0
    retrieval = 0.0 if now is swapped else math.sqrt(variance * (1 / len(now) + 1 / len(swapped)))
    return math.sqrt(variance * (1 / len(accepted) + 1 / len(swapped))), retrieval


def _loss(name: str, before: float, after: float, metrics: Mapping[str, MetricInfo]) -> float:
    """Return by how much *after* is worse, as a share of the metric's range; a gain is negative."""
    gain = metrics[name].gain(before, after) if name in metrics else after - before
    return -gain / _width(name, metrics)


def _width(name: str, metrics: Mapping[str, MetricInfo]) -> float:
    return metrics[name].range[1] - metrics[name].range[0] if name in metrics else 1.0
