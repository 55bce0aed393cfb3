"""Asks the judge about labelled items that have no score yet, and takes those of a run that was kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ..calls.caller import Caller
from ..core.metrics_base import Metric, NotApplicable
from ..core.progress import Progress
from ..core.run import Run
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import MetricError, did_you_mean
from ..metrics.annotation.labels import answer_hash
from ..metrics.judge.critic import JudgeReplyError
from ..metrics.judge.usage import repeated
from .labels import Item

_TOLD = 3  # reasons in an error


def read_run(items: Sequence[Item], run: Run, metric: str) -> None:
    """Give the items that name a case of *run* its answer and the judge's score of it.

    Raises:
        MetricError: a case is not there, has another answer, or *metric* was not measured.
    """
    if metric not in run.metrics:
        raise MetricError(f"the run of {run.title} has no {metric}{did_you_mean(metric, run.metrics)}")
    for item in items:
        if not item.case:
            raise MetricError(f"line {item.line}: no case; which of the run's answers was labelled?")
        result = run.cases.get(item.case)
        if result is None:
            raise MetricError(
                f"line {item.line}: the run has no case {item.case!r}{did_you_mean(item.case, run.cases)}"
            )
        said = str(result.outputs.get("answer", ""))
        if item.answer_hash and item.answer_hash != answer_hash(said):
            raise MetricError(
                f"line {item.line}: the answer to {item.case} is not the one that was labelled "
                f"(hash {answer_hash(said)}, labelled {item.answer_hash}); which run was it?"
            )
        item.query, item.answer = item.query or result.query, item.answer or said
        score = result.scores.get(metric)
        if item.scores or item.error or score is None:
            continue
        if score.value is not None:
            item.scores = [score.value]
        elif score.state == "error":
            item.error = score.reason


def ask(
    metric: Metric,
    items: Sequence[Item],
    *,
    repeats: int = 1,
    swap: bool = False,
    again: bool = False,
    progress: bool | None = False,
) -> list[str]:
    """Let *metric* score the items that have no score yet, or all of them with *again*.

    A reply that is no score becomes the item's ``error``.  Returned is why items are left out, of which the metric
    has nothing to say.

    Args:
        metric: the judged metric.
        items: what is asked about; each needs an answer.
        repeats: how often each is asked; each time has replies of its own in the cache.
        swap: ask once more with the evidence in the opposite order.
        again: forget the scores that are there.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.

    Raises:
        MetricError: an item has no answer, or the metric has nothing to say about all that it is asked.
        AueporaError: the judge cannot be reached.
    """
    todo = [item for item in items if again or not (item.scores or item.error)]
    for item in todo:
        if not item.answer.strip():
            raise MetricError(f"line {item.line}: neither a score nor an answer to ask the judge about")
        item.scores, item.error, item.swapped = [], "", None
    sound = [item for item in items if not item.error]
    turned = [item for item in sound if swap and len(item.evidence) > 1 and item.swapped is None]
    wanted = len(turned) + sum(max(0, repeats - len(item.scores)) for item in sound)
    if wanted:
        with Progress("questions", wanted, show=progress) as bar:
            _ask_repeatedly(metric, sound, repeats, bar)
            turned = [item for item in turned if not item.error and not item.left_out]
            for item, seen in zip(turned, _ask_all(metric, turned, -1, bar), strict=True):
                item.swapped = seen if isinstance(seen, float) else None
    told = [f"line {item.line}: {item.left_out}" for item in items if item.left_out]
    if told and not any(item.scores or item.error for item in items):
        raise MetricError(f"{metric.name} has nothing to say: {'; '.join(told[:_TOLD])}")
    return told


def _ask_repeatedly(metric: Metric, items: Sequence[Item], repeats: int, bar: Progress) -> None:
    for turn in range(repeats):
        left = [item for item in items if not item.error and not item.left_out and len(item.scores) <= turn]
        with repeated(turn):
            replies = _ask_all(metric, left, 1, bar)
        for item, seen in zip(left, replies, strict=True):
            if isinstance(seen, NotApplicable):
                item.left_out = seen.reason
            elif isinstance(seen, JudgeReplyError):
                item.error = item.error or str(seen)
            else:
                item.scores.append(seen)


def _ask_all(
    metric: Metric, items: Sequence[Item], step: int, bar: Progress
) -> list[float | JudgeReplyError | NotApplicable]:
    """Ask about each item once; a *step* of -1 gives the evidence in the opposite order."""
    out: list[float | JudgeReplyError | NotApplicable] = []
    with Caller(max(1, metric.concurrency)) as caller:
        for item, call in zip(items, caller.map(partial(_measure, metric, item, step) for item in items), strict=True):
            if isinstance(call.error, JudgeReplyError):
                out.append(call.error)
            elif call.error is not None:
                raise call.error
            elif isinstance(call.value, NotApplicable):
                out.append(call.value)
            elif call.value.value is None:
                raise MetricError(f"line {item.line}: {metric.name} has no score of a single answer")
            else:
                out.append(float(call.value.value))
            bar.done()
    return out


def _measure(metric: Metric, item: Item, step: int) -> Any:
    documents = [Document(f"evidence-{n}", text) for n, text in enumerate(item.evidence, 1)][::step]
    sample = EvaluationSample(item.id, item.query, relevant_docs=documents or None)
    retrieved = [RetrievedDocument(document, 0.0, rank) for rank, document in enumerate(documents, 1)]
    return metric.measure(sample, SystemOutputs(retrieved, Response(item.answer)))
