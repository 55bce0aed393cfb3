"""Scores labelled items: asks the judge about those without a score, or copies the scores of a stored run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
from ..metrics.judge.usage import repeated
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
        result = run.cases.get(item.case)
        if result is None:
            raise MetricError(f"{where}: the run has no case {item.case!r}{did_you_mean(item.case, run.cases)}")
        answer = str(result.outputs.get("answer", ""))
        if item.answer_hash and item.answer_hash != answer_hash(answer):
            raise MetricError(
                f"{where}: the answer to {item.case} is not the one that was labelled "
                f"(hash {answer_hash(answer)}, labelled {item.answer_hash}); which run was it?"
            )
        item.query, item.answer = item.query or result.query, item.answer or answer
        score = result.scores.get(metric)
        if item.scores or item.error or score is None:
            continue
        if score.value is not None:
            item.scores = [score.value]
        elif score.state == "error":
            item.error = score.reason


def ask(
    metric: Metric, items: Sequence[Item], *, repeats: int = 1, swap: bool = False, again: bool = False
) -> list[str]:
    """Let *metric* score the items that have no score yet, or with *again* all of them; return why some are left out.

    Each is asked *repeats* times, each time with replies of its own in the cache, and with *swap* once more with the
    evidence in the opposite order.  A reply that is no score becomes the item's ``error``; an item to which the metric
    does not apply is left out.

    Raises:
        MetricError: an item has no answer, or the metric has nothing to say about all that it is asked.
        AueporaError: the judge cannot be reached.
    """
    unscored = [item for item in items if again or not (item.scores or item.error)]
    for item in unscored:
        if not item.answer.strip():
            raise MetricError(f"line {item.line}: neither a score nor an answer to ask the judge about")
        item.scores, item.error, item.swapped = [], "", None
    without_error = [item for item in items if not item.error]
    n_questions = sum(max(0, repeats - len(item.scores)) + _lacks_swapped(item, swap=swap) for item in without_error)
    if n_questions:
        with Progress("questions", n_questions) as bar, Caller(max(1, metric.concurrency)) as caller:
            for call in caller.map(partial(_fill, item, metric, repeats, swap, bar) for item in without_error):
                bar.draw()
                if call.error is not None:
                    raise call.error
    left_out = [f"line {item.line}: {item.left_out}" for item in items if item.left_out]
    if left_out and not any(item.scores or item.error for item in items):
        raise MetricError(f"{metric.name} has nothing to say: {'; '.join(left_out[:_MOST_REASONS])}")
    return left_out


def _lacks_swapped(item: Item, *, swap: bool) -> bool:
    return swap and len(item.evidence) > 1 and item.swapped is None


def _fill(item: Item, metric: Metric, repeats: int, swap: bool, bar: Progress) -> None:
    """Ask for the scores that *item* lacks, until a reply is no score or the metric does not apply."""
    documents = [Document(f"evidence-{n}", text) for n, text in enumerate(item.evidence, 1)]
    while len(item.scores) < repeats:
        try:
            with repeated(len(item.scores)):
                score = _ask(item, metric, documents, bar)
        except JudgeReplyError as exc:
            item.error = str(exc)
            return
        if isinstance(score, NotApplicable):
            item.left_out = score.reason
            return
        item.scores.append(score)
    if _lacks_swapped(item, swap=swap):
        with suppress(JudgeReplyError):
            score = _ask(item, metric, documents[::-1], bar)
            item.swapped = None if isinstance(score, NotApplicable) else score


def _ask(item: Item, metric: Metric, documents: Sequence[Document], bar: Progress) -> float | NotApplicable:
    sample = EvaluationSample(item.id, item.query, relevant_docs=[*documents] or None)
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
