"""Scores labelled items: asks the judge about those without a score, or copies the scores of a stored run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..base.progress import Progress
from ..base.text import did_you_mean
from ..calls.caller import Caller
from ..core.metrics_base import Metric, NotApplicable
from ..core.run import Run
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import MetricError
from ..metrics.annotation.labels import answer_hash
from ..metrics.judge.critic import JudgeReplyError
from .labels import Item

_MOST_REASONS = 3  # reasons in an error


def fill_from_run(items: Sequence[Item], run: Run, metric: str) -> None:
    """Give each item the answer and the score of its case in *run*; raises `MetricError` where the two do not fit."""
    if metric not in run.metrics:
        raise MetricError(f"the run of {run.title} has no {metric}{did_you_mean(metric, run.metrics)}")
    for item in items:
        where = f"line {item.line}"
        if not item.case:
            raise MetricError(f"{where}: no case; which of the run's answers was labelled?")
        case_id = str(item.case)
        result = run.cases.get(case_id)
        if result is None:
            raise MetricError(f"{where}: the run has no case {case_id!r}{did_you_mean(case_id, run.cases)}")
        answer = str(result.outputs.get("answer", ""))
        if item.answer_hash and item.answer_hash != answer_hash(answer):
            raise MetricError(
                f"{where}: the answer to {case_id} is not the one that was labelled "
                f"(hash {answer_hash(answer)}, labelled {item.answer_hash}); which run was it?"
            )
        item.query, item.answer = item.query or result.query, item.answer or answer
        score = result.scores.get(metric)
        if item.score is not None or item.error or score is None:
            continue
        if score.value is not None:
            item.score = score.value
        elif score.state == "error":
            item.error = score.reason


def ask(metric: Metric, items: Sequence[Item], *, again: bool = False) -> list[str]:
    """Let *metric* score the items that have no score yet, or with *again* all of them; return why some are left out.

    A reply that is no score becomes the item's ``error``; an item to which the metric does not apply is left out.

    Raises:
        MetricError: an item has no answer, or the metric has nothing to say about all that it is asked.
        AueporaError: the judge cannot be reached.
    """
    unscored = [item for item in items if again or (item.score is None and not item.error)]
    for item in unscored:
        if not item.answer.strip():
            raise MetricError(f"line {item.line}: neither a score nor an answer to ask the judge about")
        item.score, item.error = None, ""
    if unscored:
        with Progress("questions", len(unscored)) as bar, Caller(max(1, metric.concurrency)) as caller:
            for call in caller.map(partial(_fill, item, metric, bar) for item in unscored):
                bar.draw()
                if call.error is not None:
                    raise call.error
    left_out = [f"line {item.line}: {item.left_out}" for item in items if item.left_out]
    if left_out and not any(item.score is not None or item.error for item in items):
        raise MetricError(f"{metric.name} has nothing to say: {'; '.join(left_out[:_MOST_REASONS])}")
    return left_out


def _fill(item: Item, metric: Metric, bar: Progress) -> None:
    """Ask for the score of *item*."""
    try:
        score = _ask(item, metric, bar)
    except JudgeReplyError as exc:
        item.error = str(exc)
    else:
        if isinstance(score, NotApplicable):
            item.left_out = score.reason
        else:
            item.score = score


def _ask(item: Item, metric: Metric, bar: Progress) -> float | NotApplicable:
    documents = [Document(f"evidence-{n}", text) for n, text in enumerate(item.texts, 1)]
    sample = EvaluationSample(item.name, item.query, relevant_docs=[*documents] or None)
    retrieved = [RetrievedDocument(document, 0.0, rank) for rank, document in enumerate(documents, 1)]
    try:
        score = metric.measure(sample, SystemOutputs(retrieved, Response(item.answer)))
    finally:
        bar.done()
    if isinstance(score, NotApplicable):
        return score
    if score.value is None:
        raise MetricError(f"line {item.line}: {metric.name} has no score of a single answer")
    return float(score.value)
