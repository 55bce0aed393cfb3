"""One golden case, one finished call, one `CaseResult` with a score for every metric.

Judged metrics are asked side by side: those of many answers at once, or of one answer before anybody waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from ..adapters.systems import System
from ..base.progress import Progress
from ..base.text import shorten
from ..calls.call import CallResult
from ..calls.caller import Caller
from ..core.metrics_base import Metric
from ..core.model_calls import USAGE as SYSTEM_USAGE
from ..core.run import CaseResult
from ..core.scoring import Score, failed_scores, score_case, score_cases
from ..core.telemetry import SampledCall
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import RecordedError
from ..io.golden.model import GoldenCase
from ..metrics.coverage import note_known_citations
from ..metrics.judge.usage import USAGE, metered, pop_usage, repeated
from ..metrics.ranking.matching import ranks_of_relevant
from ..metrics.service.system_usage import spending_of
from ..regression.checks import held_assertions
from .answer_codec import Loss
from .case_result import blank_result, errored_result
from .recording import RecordedAnswer
from .shown_outputs import shown_outputs

Convert = Callable[[Any, EvaluationSample], SystemOutputs | None]
"""Turns a system's own answer into `SystemOutputs`; None leaves it to the built-in conversion."""

_LOSSES: Mapping[Loss, str] = {
    "cut": "cut when they were recorded, see auepora_keep",
    "changed": "changed by pytest_auepora_redact",
    "unseen": "not shown to pytest_auepora_redact",
    "not JSON": "held what JSON cannot carry",
}


class JudgedAnswer(NamedTuple):
    """An answer as it was read, with the scores that judges gave early."""

    outputs: SystemOutputs | RecordedAnswer
    scores: Mapping[str, Score] = {}


class CaseCall(NamedTuple):
    """A finished call on a case, and what is known of that case.

    ``is_known_id`` says whether the corpus has an id, None where there is no corpus; ``baseline_answer`` is that of the
    accepted run, or empty; ``skipped_metrics`` are the judged metrics that this answer is not asked about; ``early`` is
    the answer as it was read and judged before anybody waited for it.
    """

    case: GoldenCase
    call: CallResult
    is_known_id: Callable[[str], bool] | None = None
    baseline_answer: str = ""
    skipped_metrics: Collection[str] = ()
    early: JudgedAnswer | None = None

    @property
    def early_scores(self) -> Mapping[str, Score]:
        """The scores that judges gave early."""
        return self.early.scores if self.early is not None else {}


class MeasuredAnswer(NamedTuple):
    """The scores of one call, and the answer they stand on, or the error of the call; None where there is none."""

    result: CaseResult
    answer: SystemOutputs | RecordedAnswer | None = None
    error: BaseException | None = None


def measure_calls(
    calls: Sequence[CaseCall],
    system: System,
    metrics: Mapping[str, Metric],
    *,
    convert: Convert | None = None,
    timed: bool = True,
    progress: Progress | None = None,
) -> list[MeasuredAnswer]:
    """Score the finished calls of *system*; each metric gets all answers at once, so that models work in batches.

    An exception of a call, or an answer of an unknown shape, gives a result in state ``error``
    with an error score under every metric.  The state is otherwise ``passed`` until the case is checked.
    A call's value may be a `RecordedAnswer`, which is measured in its place.  *progress* counts all judged scores, also
    those that no judge has to be asked for.
    """
    answers = [answer_of(case_call, system, convert, timed=timed) for case_call in calls]
    answered = [
        (case_call.case.sample, answer)
        for case_call, answer in zip(calls, answers, strict=True)
        if isinstance(answer, SystemOutputs)
    ]
    judge_metrics = [metric for metric in metrics.values() if metric.judged]
    other_metrics = [metric for metric in metrics.values() if not metric.judged]
    other_scores = iter(score_cases(other_metrics, [sample for sample, _ in answered], [out for _, out in answered]))
    judge_scores = judge_answers(_judge_tasks(calls, answers, judge_metrics), progress=progress)
    measured = []
    for case_call, answer, judged in zip(calls, answers, judge_scores, strict=True):
        scores = {**judged, **case_call.early_scores}
        skipped = case_call.skipped_metrics
        if judge_metrics and progress is not None:
            progress.done(sum(m.name not in scores and m.name not in skipped for m in judge_metrics))
        if isinstance(answer, BaseException):
            result = errored_result(case_call.case, answer, metrics, case_call.call)
            measured.append(MeasuredAnswer(result, error=case_call.call.error))
        elif isinstance(answer, RecordedAnswer):
            asked_metrics = {name: metric for name, metric in metrics.items() if name not in skipped}
            measured.append(MeasuredAnswer(_rescored_result(case_call, answer, asked_metrics, scores), answer))
        else:
            scores = {**next(other_scores), **scores}
            in_order = {name: scores[name] for name in metrics if name in scores}
            measured.append(MeasuredAnswer(_scored_result(case_call, answer, in_order, metrics), answer))
    return measured


def _judge_tasks(
    calls: Sequence[CaseCall], answers: Sequence[Any], judge_metrics: Sequence[Metric]
) -> list[JudgeTask | None]:
    if not judge_metrics:
        return [None] * len(calls)
    times: Counter[str] = Counter()
    tasks = []
    for case_call, answer in zip(calls, answers, strict=True):
        not_asked = {*case_call.skipped_metrics, *case_call.early_scores}
        asked_metrics = [metric for metric in judge_metrics if metric.name not in not_asked]
        tasks.append(judge_task(case_call, answer, asked_metrics, times[case_call.case.id]))
        times[case_call.case.id] += 1
    return tasks


def judge_task(
    case_call: CaseCall, answer: SystemOutputs | RecordedAnswer | BaseException, metrics: Sequence[Metric], repeat: int
) -> JudgeTask | None:
    """Return what judges are asked about *answer*, without *metrics* whose scores were recorded; None for nothing."""
    if isinstance(answer, SystemOutputs):
        return JudgeTask(metrics, case_call.case.sample, answer, repeat)
    if isinstance(answer, BaseException) or answer.outputs is None:
        return None
    sample = answer.relabelled(case_call.case).sample
    asked_metrics = [m for m in metrics if _reusable_score(m, answer) is None and not answer.lacks(m, sample)]
    if not asked_metrics:
        return None
    return JudgeTask(asked_metrics, sample, _with_notes(case_call, answer.outputs.restore()), repeat)


def _nobody(sample: EvaluationSample, top_k: int) -> Any:  # noqa: ARG001
    raise RecordedError(f"{sample.sample_id} was asked already")


RECORDED = System("recorded answers", False, _nobody)
"""Stands for the system of answers that are there already."""


def answer_of(
    case_call: CaseCall, system: System, convert: Convert | None, *, timed: bool
) -> SystemOutputs | RecordedAnswer | BaseException:
    """Return what the call gave, as outputs, or why there are none."""
    case, call = case_call.case, case_call.call
    if call.error is not None:
        return call.error
    if case_call.early is not None:
        outputs = case_call.early.outputs
        return outputs if isinstance(outputs, RecordedAnswer) else _with_notes(case_call, outputs)
    value, resources = call.value if isinstance(call.value, SampledCall) else (call.value, None)
    if isinstance(value, RecordedAnswer):
        return value
    try:
        converted = convert(value, case.sample) if convert is not None else None
        raw = value if converted is None else converted
        outputs = system.as_outputs(raw, call.seconds if timed else None)
    except Exception as exc:
        return exc
    if call.has_retry_policy:
        outputs.extra.setdefault("retry", {"attempts": call.attempts, "reasons": list(call.retry_reasons)})
    if resources:
        outputs.extra.setdefault("resources", resources)
    return _with_notes(case_call, outputs)


def _with_notes(case_call: CaseCall, outputs: SystemOutputs) -> SystemOutputs:
    """Return *outputs* with notes that metrics may read: known citations, the accepted answer."""
    if case_call.is_known_id is not None:
        note_known_citations(outputs, case_call.is_known_id)
    if case_call.baseline_answer:
        from ..metrics.generation_llm_judge import BASELINE_ANSWER  # brings all that judges need

        outputs.memo[BASELINE_ANSWER] = case_call.baseline_answer
    return outputs


def _scored_result(
    case_call: CaseCall, outputs: SystemOutputs, scores: dict[str, Score], metrics: Mapping[str, Metric]
) -> CaseResult:
    case, call = case_call.case, case_call.call
    result = blank_result(case)
    result.seconds, result.concurrency = call.seconds, call.concurrency
    if SYSTEM_USAGE in outputs.extra:
        result.system_usage = spending_of(outputs)
    _note_scores(result, case, outputs, scores, metrics)
    return result


def _note_scores(
    result: CaseResult,
    case: GoldenCase,
    outputs: SystemOutputs,
    scores: dict[str, Score],
    metrics: Mapping[str, Metric],
) -> None:
    """Put into *result* the *scores* of *outputs*, and what is shown of these."""
    result.judge_usage = pop_usage(scores)
    result.scores, result.assertions = scores, held_assertions(scores, case.sample.labels)
    result.ranks, result.outputs = ranks_of_relevant(case.sample, outputs), shown_outputs(case.sample, outputs)
    if case.moved is None or case.moved["match"] != "none":
        return
    missing = ", ".join(name for name, match in case.moved["labels"].items() if match["match"] == "none")
    for name, score in scores.items():
        if score.state == "n/a" and metrics[name].missing_field(case.sample) == "relevant_docs":
            score.reason = f"labels moved: {shorten(missing, 200)}"


def _rescored_result(
    case_call: CaseCall, recorded: RecordedAnswer, metrics: Mapping[str, Metric], judge_scores: Mapping[str, Score]
) -> CaseResult:
    """Measure an answer of an earlier run with the metrics and the golden case of today; times are those of then.

    A score of a metric that is not deterministic, or that reads what was not recorded whole, is the one it had then if
    the metric has the same version and parameters; where it has none, the metric is not comparable, which is an error.
    *judge_scores* are those that judges gave since.
    """
    case, recording = recorded.relabelled(case_call.case), recorded.recording
    result = blank_result(case)
    result.seconds, result.concurrency = recording.seconds, recording.concurrency
    if recorded.run_id:
        result.recorded_in = recorded.run_id
    if recording.outputs is None:
        result.state, result.error = "error", recording.error or "?"
        message = result.error.splitlines()[0]
        result.scores = failed_scores(metrics.values(), case.sample, message, RecordedError(message))
        return result
    outputs = _with_notes(case_call, recording.outputs.restore())
    scores = {
        name: _score_again(m, case.sample, outputs, recorded, judge_scores.get(name)) for name, m in metrics.items()
    }
    _note_scores(result, case, outputs, scores, metrics)
    if recording.shown is not None:
        result.outputs, result.ranks = recording.shown, dict(recording.ranks)
    return result


def _reusable_score(metric: Metric, recorded: RecordedAnswer) -> Score | None:
    """Return the score that need not be measured again."""
    score = recorded.score(metric) if not metric.deterministic else None
    return score if score and score.state != "error" else None


def _score_again(
    metric: Metric, sample: EvaluationSample, outputs: SystemOutputs, recorded: RecordedAnswer, fresh: Score | None
) -> Score:
    if fresh is None and (reusable := _reusable_score(metric, recorded)) is not None:
        return reusable
    if lacking := recorded.lacks(metric, sample):
        why = ", ".join(f"{part.replace('_', ' ')} {_LOSSES[loss]}" for part, loss in lacking.items())
        return recorded.score(metric) or Score.failed(f"not comparable: {why}")
    return fresh or score_case([metric], sample, outputs)[metric.name]


@dataclass(eq=False, repr=False)
class JudgeTask:
    """An answer, the metrics to ask about it, and which answer to its case it is, counted from 0."""

    metrics: Sequence[Metric]
    sample: EvaluationSample
    outputs: SystemOutputs
    repeat: int = 0


def judge_early(
    case_call: CaseCall, system: System, metrics: Sequence[Metric], repeat: int, *, convert: Convert | None = None,
    progress: Progress | None = None,
) -> JudgedAnswer | None:  # fmt: skip
    """Return what the call gave with its scores by *metrics*, as answer number *repeat*; None where it is no answer."""
    answer = answer_of(case_call, system, convert, timed=True)
    if isinstance(answer, BaseException):
        return None
    (scores,) = judge_answers([judge_task(case_call, answer, metrics, repeat)], progress=progress)
    return JudgedAnswer(answer, scores)


def side_by_side(metrics: Iterable[Metric]) -> list[Metric]:
    """Return those of *metrics* that may be asked about several answers at once."""
    return [metric for metric in metrics if metric.judged and metric.concurrency > 1]


def judge_answers(tasks: Sequence[JudgeTask | None], *, progress: Progress | None = None) -> list[dict[str, Score]]:
    """Return the scores of each answer by metric, with what they cost; asked at once as far as the judges allow.

    They are counted in *progress*.
    """
    out: list[dict[str, Score]] = [{} for _ in tasks]
    jobs = [(task, group, i) for i, task in enumerate(tasks) if task for group in _metric_groups(task.metrics)]
    if not jobs:
        return out
    concurrent_jobs = [job for job in jobs if _allows_concurrency(job[1])]
    bar = progress or Progress("judged scores", show=False)
    for task, group, i in jobs:
        if not _allows_concurrency(group):
            out[i] |= _score_task(task, group)
            bar.done(len(group))
    most = max((metric.concurrency for _, group, _ in concurrent_jobs for metric in group), default=1)
    with Caller(max(1, min(most, len(concurrent_jobs)))) as caller:
        calls = caller.map(partial(_score_task, task, group) for task, group, _ in concurrent_jobs)
        for (_, group, i), call in zip(concurrent_jobs, calls, strict=True):
            if call.error is not None:
                raise call.error
            out[i] |= call.value
            bar.done(len(group))
    return out


def judging_bar(metrics: Mapping[str, Metric], answers: int, *, show: bool | None) -> Progress:
    """Return a bar for the judged scores of so many *answers*; there is none where no metric is judged."""
    total = answers * sum(metric.judged for metric in metrics.values())
    return Progress("judged scores", total, show=show if total else False)


def _metric_groups(metrics: Sequence[Metric]) -> list[list[Metric]]:
    """Return groups of metrics that may be asked at once; metrics that share a request are one group."""
    shared = [metric for metric in metrics if metric.shares]
    return [[metric] for metric in metrics if not metric.shares] + ([shared] if shared else [])


def _allows_concurrency(metrics: Sequence[Metric]) -> bool:
    return min(metric.concurrency for metric in metrics) > 1


def _score_task(task: JudgeTask, metrics: Sequence[Metric]) -> dict[str, Score]:
    out: dict[str, Score] = {}
    for metric in metrics:
        with repeated(task.repeat), metered() as meter:
            out |= score_case([metric], task.sample, task.outputs)
        if usage := meter.to_dict():
            score = out[metric.name]
            score.details = {**score.details, USAGE: usage}
    return out
