"""Judged metrics, asked side by side: those of many answers at once, or of one answer before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial

from ..calls.caller import Caller
from ..core.metrics_base import Metric
from ..core.progress import Progress
from ..core.scoring import Score, score_case
from ..core.types import EvaluationSample, SystemOutputs
from ..metrics.judge.usage import USAGE, metered, repeated
from .recording import RecordedAnswer


@dataclass(eq=False, repr=False)
class ToJudge:
    """An answer, the metrics to ask about it, and which answer to its case it is, counted from 0."""

    metrics: Sequence[Metric]
    sample: EvaluationSample
    outputs: SystemOutputs
    repeat: int = 0


@dataclass(eq=False, repr=False)
class JudgedAnswer:
    """In place of what a system returned: the same as outputs or recorded, and the scores that are known already."""

    outputs: SystemOutputs | RecordedAnswer
    scores: dict[str, Score] = field(default_factory=dict)


def side_by_side(metrics: Iterable[Metric]) -> list[Metric]:
    """Return those of *metrics* that may be asked about several answers at once."""
    return [metric for metric in metrics if metric.judged and metric.concurrency > 1]


def judge_answers(work: Sequence[ToJudge], *, progress: Progress | bool | None = False) -> list[dict[str, Score]]:
    """Return the scores of each answer by metric, with what they cost; asked at once as far as the judges allow.

    They are counted in *progress*, or in a bar of their own.
    """
    if not any(one.metrics for one in work):
        return [{} for _ in work]
    jobs = [(i, group) for i, one in enumerate(work) for group in _groups(one.metrics)]
    together = [(i, group) for i, group in jobs if _at_once(group)]
    out: list[dict[str, Score]] = [{} for _ in work]
    with _bar(progress, sum(len(group) for _, group in jobs)) as bar:
        for i, group in jobs:
            if not _at_once(group):
                out[i] |= _scores(work[i], group)
                bar.done(len(group))
        most = max((metric.concurrency for _, group in together for metric in group), default=1)
        with Caller(max(1, min(most, len(together)))) as caller:
            calls = caller.map(partial(_scores, work[i], group) for i, group in together)
            for (i, group), call in zip(together, calls, strict=True):
                if call.error is not None:
                    raise call.error
                out[i] |= call.value
                bar.done(len(group))
    return out


def _bar(progress: Progress | bool | None, scores: int) -> AbstractContextManager[Progress]:
    if isinstance(progress, Progress):
        return nullcontext(progress)
    return Progress("judged scores", scores, show=progress if scores else False)


def _groups(metrics: Sequence[Metric]) -> list[list[Metric]]:
    """What may be asked at once about one answer; metrics that share what they ask follow one after the other."""
    shared = [metric for metric in metrics if metric.shares]
    return [[metric] for metric in metrics if not metric.shares] + ([shared] if shared else [])


def _at_once(metrics: Sequence[Metric]) -> bool:
    return min(metric.concurrency for metric in metrics) > 1


def _scores(one: ToJudge, metrics: Sequence[Metric]) -> dict[str, Score]:
    out: dict[str, Score] = {}
    for metric in metrics:
        with repeated(one.repeat), metered() as usage:
            out |= score_case([metric], one.sample, one.outputs)
        if spent := usage.to_dict():
            score = out[metric.name]
            score.details = {**score.details, USAGE: spent}
    return out
