"""One golden case, one finished call, one `CaseResult` with a score for every metric.

Judged metrics are asked side by side: those of many answers at once, or of one answer before anybody waits for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from ..adapters.systems import System
from ..calls.call import CallResult
from ..calls.caller import Caller
from ..core.metrics_base import Metric
from ..core.progress import Progress
from ..core.run import CaseResult, MetricInfo
from ..core.scoring import Score, failed_scores, score_case, score_cases
from ..core.telemetry import SampledCall
from ..core.types import EvaluationSample, Response, SystemOutputs
from ..errors import NotRecordedError, RecordedError
from ..io.golden.model import GoldenCase
from ..metrics.coverage import note_known_citations
from ..metrics.judge.usage import USAGE, metered, pop_usage, repeated
from ..metrics.ranking.matching import ranks_of_relevant
from ..regression.baseline import metric_key
from .case_result import blank_result, errored_result, shown_outputs, snippet
from .recording import RecordedAnswer

Convert = Callable[[Any, EvaluationSample], SystemOutputs | None]
"""Turns a system's own answer into `SystemOutputs`; None leaves it to the built-in conversion."""


class CaseCall(NamedTuple):
    """A finished call on a case, and what is known of that case.

    Attributes:
        case: the case.
        call: the finished call on it.
        where: ``file:line`` of the case.
        is_known_id: whether the corpus has an id; None where there is no corpus.
        baseline_answer: the answer of the accepted run, or an empty string.
        skipped_metrics: the judged metrics that this answer is not asked about.
    """

    case: GoldenCase
    call: CallResult
    where: str = ""
    is_known_id: Callable[[str], bool] | None = None
    baseline_answer: str = ""
    skipped_metrics: Collection[str] = ()


class Measured(NamedTuple):
    """The scores of one call, and the answer they stand on; None where there is none."""

    result: CaseResult
    answer: SystemOutputs | RecordedAnswer | None


def measure_calls(
    calls: Sequence[CaseCall],
    system: System,
    metrics: Mapping[str, Metric],
    *,
    convert: Convert | None = None,
    timed: bool = True,
    progress: Progress | None = None,
) -> list[Measured]:
    """Turn the finished calls of *system* into scores, all of them before the metrics at once, as models like it.

    An exception of a call, or an answer of a shape nobody can read, gives a result in state ``error``
    with an error score under every metric.  The state is otherwise ``passed`` until somebody judges it.
    Where the value of a call is `RecordedAnswer`, the answer recorded there is what is measured; of a `JudgedAnswer`
    the judged scores are known already.  Judged scores are counted in *progress*, with those no judge is asked for.
    """
    given = [answer_of(one, system, convert, timed=timed) for one in calls]
    good = [(one.case.sample, o) for one, o in zip(calls, given, strict=True) if isinstance(o, SystemOutputs)]
    aside = [metric for metric in metrics.values() if metric.judged]
    plain = [metric for metric in metrics.values() if not metric.judged]
    scores = iter(score_cases(plain, [sample for sample, _ in good], [outputs for _, outputs in good]))
    judged = iter(judge_answers([*_to_judge(calls, given, aside)], progress=progress))
    out = []
    for one, answer in zip(calls, given, strict=True):
        if isinstance(answer, SystemOutputs):
            found = {**next(scores), **next(judged), **_judged_early(one)}
            in_order = {name: found[name] for name in metrics if name in found}
            out.append(Measured(_measured(one, answer, in_order), answer))
            continue
        told = {**next(judged), **_judged_early(one)} if isinstance(answer, RecordedAnswer) else {}
        if progress is not None:
            progress.done(sum(metric.name not in one.skipped_metrics and metric.name not in told for metric in aside))
        if isinstance(answer, RecordedAnswer):
            wanted = {name: metric for name, metric in metrics.items() if name not in one.skipped_metrics}
            out.append(Measured(_measured_again(one, answer, wanted, told), answer))
        else:
            out.append(Measured(errored_result(one.case, answer, metrics, where=one.where, call=one.call), None))
    return out


def _to_judge(calls: Sequence[CaseCall], given: Sequence[Any], aside: Sequence[Metric]) -> Iterator[ToJudge]:
    """Yield what judges are asked about each answer."""
    times: Counter[str] = Counter()
    for one, answer in zip(calls, given, strict=True):
        if not isinstance(answer, BaseException):
            known = _judged_early(one)
            wanted = [m for m in aside if m.name not in known and m.name not in one.skipped_metrics]
            yield to_judge(one, answer, wanted, times[one.case.id])
        times[one.case.id] += 1


def to_judge(one: CaseCall, answer: SystemOutputs | RecordedAnswer, metrics: Sequence[Metric], repeat: int) -> ToJudge:
    """Return which of *metrics* judges are asked for; not those whose scores were recorded with *answer*."""
    if isinstance(answer, SystemOutputs):
        return ToJudge(metrics, one.case.sample, answer, repeat)
    wanted = [m for m in metrics if answer.is_answer and _known(m, answer) is None]
    outputs = _noted(one, answer.parts().restore()) if wanted else SystemOutputs([], Response(""))
    return ToJudge(wanted, answer.relabelled(one.case).sample, outputs, repeat)


def _judged_early(one: CaseCall) -> Mapping[str, Score]:
    return one.call.value.scores if isinstance(one.call.value, JudgedAnswer) else {}


def answer_of(
    one: CaseCall, system: System, convert: Convert | None, *, timed: bool
) -> SystemOutputs | RecordedAnswer | BaseException:
    """Return what the call gave, as outputs, or why there are none."""
    case, call = one.case, one.call
    if call.error is not None:
        return call.error
    if isinstance(call.value, JudgedAnswer):
        early = call.value.outputs
        return early if isinstance(early, RecordedAnswer) else _noted(one, early)
    value, resources = call.value if isinstance(call.value, SampledCall) else (call.value, None)
    if isinstance(value, RecordedAnswer):
        return value
    try:
        outputs = convert(value, case.sample) if convert is not None else None
        if outputs is None:
            outputs = system.as_outputs(value, call.seconds, case.sample)
        elif timed:
            outputs.timings.setdefault("end_to_end", call.seconds)
    except Exception as exc:
        return exc
    if call.has_retry_policy:
        outputs.extra.setdefault("retry", {"attempts": call.attempts, "reasons": list(call.retry_reasons)})
    if resources:
        outputs.extra.setdefault("resources", resources)
    return _noted(one, outputs)


def _noted(one: CaseCall, outputs: SystemOutputs) -> SystemOutputs:
    """Note with *outputs* what metrics may want to know beside them."""
    if one.is_known_id is not None:
        note_known_citations(outputs, one.is_known_id)
    if one.baseline_answer:
        from ..metrics.judge.measures import BASELINE_ANSWER  # brings all that judges need

        outputs.memo[BASELINE_ANSWER] = one.baseline_answer
    return outputs


def _measured(one: CaseCall, outputs: SystemOutputs, scores: dict[str, Score]) -> CaseResult:
    case, call, where, *_ = one
    result = blank_result(case, where=where)
    result.seconds, result.concurrency = call.seconds, call.concurrency
    if spent := pop_usage(scores):
        result.extra[USAGE] = spent
    result.scores = scores
    _say_why_unlabelled(result, case)
    result.ranks = ranks_of_relevant(case.sample, outputs)
    result.outputs = shown_outputs(case.sample, outputs)
    return result


def _measured_again(
    one: CaseCall, recorded: RecordedAnswer, metrics: Mapping[str, Metric], judged: Mapping[str, Score]
) -> CaseResult:
    """Measure an answer of an earlier run with the metrics and the golden case of today; times are those of then.

    A score of a metric that is not deterministic, or that reads what was not recorded, is the one it had then if the
    metric has the same version and parameters; where it has none, what was not recorded is an error of that metric.
    What judges said since is in *judged*.
    """
    case = recorded.relabelled(one.case)
    raw, result = recorded.raw, blank_result(case, where=one.where)
    result.seconds, result.concurrency = raw["seconds"], raw["concurrency"]
    if recorded.run_id:
        result.extra["recorded_in"] = recorded.run_id
    if not recorded.is_answer:
        result.state, result.error = "error", raw["error"]
        told = (raw["error"] or "?").splitlines()[0]
        result.scores = failed_scores(metrics.values(), case.sample, told, RecordedError(told))
        return result
    outputs = _noted(one, recorded.parts().restore())
    result.scores = {
        name: _score_again(m, case.sample, outputs, recorded, judged.get(name)) for name, m in metrics.items()
    }
    if spent := pop_usage(result.scores):
        result.extra[USAGE] = spent
    if "shown" in raw:
        result.outputs, result.ranks = raw["shown"], raw["ranks"]
    else:
        result.outputs, result.ranks = shown_outputs(case.sample, outputs), ranks_of_relevant(case.sample, outputs)
    _say_why_unlabelled(result, case)
    return result


def _then(metric: Metric, recorded: RecordedAnswer) -> Score | None:
    """Return what *metric* gave when the answer was recorded, if it is the same today."""
    then = recorded.score(metric.name)
    return then if then and recorded.keys.get(metric.name) == metric_key(MetricInfo.of(metric)) else None


def _known(metric: Metric, recorded: RecordedAnswer) -> Score | None:
    """Return the score that need not be measured again."""
    then = _then(metric, recorded) if not metric.deterministic else None
    return then if then and then.state != "error" else None


def _score_again(
    metric: Metric, sample: EvaluationSample, outputs: SystemOutputs, recorded: RecordedAnswer, judged: Score | None
) -> Score:
    if judged is None and (known := _known(metric, recorded)) is not None:
        return known
    score = judged or score_case([metric], sample, outputs)[metric.name]
    if score.state == "error" and score.reason.startswith(f"{NotRecordedError.__name__}: "):
        return _then(metric, recorded) or Score.failed(f"cannot be measured again: {score.reason.partition(': ')[2]}")
    return score


def _say_why_unlabelled(result: CaseResult, case: GoldenCase) -> None:
    """A case whose labels cannot be found is n/a; nobody should have to guess why."""
    if case.moved is None or case.moved["match"] != "none":
        return
    lost = ", ".join(name for name, told in case.moved["labels"].items() if told["match"] == "none")
    for score in result.scores.values():
        if score.state == "n/a" and score.reason == "no relevant_docs":
            score.reason = f"labels moved: {snippet(lost)}"


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


def judge_answers(work: Sequence[ToJudge], *, progress: Progress | None = None) -> list[dict[str, Score]]:
    """Return the scores of each answer by metric, with what they cost; asked at once as far as the judges allow.

    They are counted in *progress*.
    """
    if not any(one.metrics for one in work):
        return [{} for _ in work]
    jobs = [(i, group) for i, one in enumerate(work) for group in _groups(one.metrics)]
    together = [(i, group) for i, group in jobs if _at_once(group)]
    out: list[dict[str, Score]] = [{} for _ in work]
    bar = progress or Progress("judged scores", show=False)
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


def judging_bar(metrics: Mapping[str, Metric], answers: int, *, show: bool | None) -> Progress:
    """Return a bar for the judged scores of so many *answers*; there is none where no metric is judged."""
    total = answers * sum(metric.judged for metric in metrics.values())
    return Progress("judged scores", total, show=show if total else False)


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
