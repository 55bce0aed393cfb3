"""One golden case, one call, one `CaseResult`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..adapters.systems import System
from ..calls.call import CallResult
from ..core.metrics_base import Metric
from ..core.run import CaseResult
from ..core.scores import Score
from ..core.scoring import failed_scores, score_case, score_cases
from ..core.types import Document, EvaluationSample, SystemOutputs
from ..io.golden.load import GoldenCase
from ..metrics.ranking.gold import span_of
from ..metrics.ranking.matching import expected_behaviour, ranks_of_relevant
from .answer_summary import shown_outputs, snippet, source_key
from .causes import describe_error
from .recording import RecordedAnswer

__all__ = [
    "Called",
    "Convert",
    "Observe",
    "blank_result",
    "errored_result",
    "measure_case",
    "measure_cases",
    "skipped_result",
]

Convert = Callable[[Any, EvaluationSample], SystemOutputs | None]
"""Turns a system's own answer into `SystemOutputs`; None leaves it to the built-in conversion."""

Observe = Callable[[GoldenCase, CaseResult, "SystemOutputs | RecordedAnswer | None", Mapping[str, Metric]], None]
"""Told of every measured call: the case, its result, the answer it stands on (None: there is none), the metrics."""


def measure_case(
    case: GoldenCase,
    system: System,
    call: CallResult,
    metrics: Mapping[str, Metric],
    *,
    where: str = "",
    convert: Convert | None = None,
    timed: bool = True,
    observe: Observe | None = None,
) -> CaseResult:
    """Turn the finished *call* of *system* on *case* into scores.

    An exception of the call, or an answer of a shape nobody can read, gives a result in state ``error``
    with an error score under every metric.  The state is otherwise ``passed`` until somebody judges it.
    Where the value of the call is `RecordedAnswer`, the answer recorded there is what is measured.
    """
    answer = _answered(case, system, call, convert, timed=timed)
    scores = score_case(metrics.values(), case.sample, answer) if isinstance(answer, SystemOutputs) else {}
    return _result(Called(case, call, where), answer, scores, metrics, observe)


class Called(NamedTuple):
    """A case, the finished call on it, and where it stands."""

    case: GoldenCase
    call: CallResult
    where: str = ""


def measure_cases(
    called: Sequence[Called],
    system: System,
    metrics: Mapping[str, Metric],
    *,
    convert: Convert | None = None,
    timed: bool = True,
    observe: Observe | None = None,
) -> list[CaseResult]:
    """Do the same for several cases, all of them before the metrics at once, which is what models are made for."""
    given = [_answered(one.case, system, one.call, convert, timed=timed) for one in called]
    good = [(one.case.sample, o) for one, o in zip(called, given, strict=True) if isinstance(o, SystemOutputs)]
    scores = iter(score_cases(metrics.values(), [sample for sample, _ in good], [outputs for _, outputs in good]))
    return [
        _result(one, answer, next(scores) if isinstance(answer, SystemOutputs) else {}, metrics, observe)
        for one, answer in zip(called, given, strict=True)
    ]


def _result(
    called: Called, answer: SystemOutputs | RecordedAnswer | BaseException, scores: dict[str, Score],
    metrics: Mapping[str, Metric], observe: Observe | None,
) -> CaseResult:  # fmt: skip
    """Return the result of a case whose call gave *answer*; the *scores* are those of outputs."""
    case, call, where = called
    if isinstance(answer, SystemOutputs):
        result = _measured(case, call, answer, scores, where)
    elif isinstance(answer, RecordedAnswer):
        result = _measured_again(case, answer, metrics, where)
    else:
        result = errored_result(case, answer, metrics, where=where, call=call)
    if observe is not None:
        observe(case, result, None if isinstance(answer, BaseException) else answer, metrics)
    return result


def _measured_again(
    case: GoldenCase, recorded: RecordedAnswer, metrics: Mapping[str, Metric], where: str
) -> CaseResult:
    from .remeasure import remeasured

    case = recorded.settled(case)
    result = remeasured(case, recorded, metrics, blank_result(case, where=where))
    if case.moved is not None:
        _say_why_unlabelled(result, case.moved)
    return result


def _answered(
    case: GoldenCase, system: System, call: CallResult, convert: Convert | None, *, timed: bool
) -> SystemOutputs | RecordedAnswer | BaseException:
    """Return what *call* gave, as outputs, or why there are none."""
    if call.error is not None:
        return call.error
    if isinstance(call.value, RecordedAnswer):
        return call.value
    try:
        outputs = convert(call.value, case.sample) if convert is not None else None
        if outputs is None:
            outputs = system.as_outputs(call.value, call.seconds, case.sample)
        elif timed:
            outputs.timings.setdefault("end_to_end", call.seconds)
    except Exception as exc:
        return exc
    if call.counted:
        outputs.extra.setdefault("retry", {"attempts": call.attempts, "reasons": list(call.retry_reasons)})
    return outputs


def _measured(
    case: GoldenCase, call: CallResult, outputs: SystemOutputs, scores: dict[str, Score], where: str
) -> CaseResult:
    result = blank_result(case, where=where)
    result.seconds, result.concurrency = call.seconds, call.concurrency
    result.scores = scores
    if case.moved is not None:
        _say_why_unlabelled(result, case.moved)
    result.ranks = ranks_of_relevant(case.sample, outputs)
    result.outputs = shown_outputs(case.sample, outputs)
    return result


def _say_why_unlabelled(result: CaseResult, moved: Mapping[str, Any]) -> None:
    """A case whose labels cannot be found is n/a; nobody should have to guess why."""
    if moved["match"] != "none":
        return
    lost = ", ".join(name for name, told in moved["labels"].items() if told["match"] == "none")
    for score in result.scores.values():
        if score.state == "n/a" and score.reason == "no relevant_docs":
            score.reason = f"labels moved: {snippet(lost)}"


def blank_result(case: GoldenCase, *, where: str = "") -> CaseResult:
    """Return the result of a case of which only the golden file is known."""
    sample = case.sample
    return CaseResult(
        case_id=case.id,
        query=sample.query,
        where=where,
        content_hash=case.content_hash,
        cluster=case.cluster,
        labels={**_slicing_labels(sample.labels), "tags": list(case.tags)},
        expected=_expected(sample),
        extra=_terms(case),
    )


def skipped_result(case: GoldenCase, reason: str, where: str = "") -> CaseResult:
    """Return the result of a case that was not run on purpose."""
    result = blank_result(case, where=where)
    result.state, result.error = "skipped", reason
    return result


def errored_result(
    case: GoldenCase,
    error: BaseException,
    metrics: Mapping[str, Metric],
    *,
    where: str = "",
    call: CallResult | None = None,
) -> CaseResult:
    """Return the result of a case that could not be measured because of *error*."""
    result = blank_result(case, where=where)
    result.state = "error"
    result.error = describe_error(error)
    if call is not None and call.attempts > 1 and error is call.error:
        head, rest, frames = result.error.partition("\n")
        result.error = f"{head} ({call.attempts} attempts){rest}{frames}"
    result.scores = failed_scores(metrics.values(), case.sample, result.error.splitlines()[0])
    if call is not None:
        result.seconds, result.concurrency = call.seconds, call.concurrency
    return result


def _terms(case: GoldenCase) -> dict[str, Any]:
    """What the golden file says about judging the case: its bounds, and whether it is held to a baseline."""
    out: dict[str, Any] = {"thresholds": {n: [[b.op, b.limit] for b in bs] for n, bs in case.thresholds.items()}}
    if case.moved is not None:
        out["labels"] = case.moved
    if case.must_pass:
        out["must_pass"] = True
    if case.quarantine is not None:
        out["quarantine"] = case.quarantine
    return out


def _slicing_labels(labels: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the labels that name a slice: single words and numbers."""
    return {k: v for k, v in labels.items() if isinstance(v, (str, int, float, bool))}


def _expected(sample: EvaluationSample) -> dict[str, Any]:
    reference = sample.reference_answer
    out: dict[str, Any] = {"expect": expected_behaviour(sample)}
    if sample.relevant_docs is not None:
        out["relevant"] = [_label(d) for d in sample.relevant_docs]
    if reference is not None:
        out["reference"] = reference.text
        out["references"] = [reference.text, *reference.metadata.get("alternatives", ())]
    for key in ("must_contain", "forbidden"):
        if key in sample.labels:
            out[key] = sample.labels[key]
    return out


def _label(gold: Document) -> dict[str, Any]:
    if not gold.metadata:
        return {"id": gold.doc_id, "grade": 1}
    out: dict[str, Any] = {"id": gold.doc_id, "grade": gold.metadata.get("grade", 1), **source_key(gold)}
    if (match := gold.metadata.get("match", "id")) != "id":
        out["match"] = match  # a passage of a document: how the document is cut up does not matter
    if match == "quote":
        out["quote"] = gold.text
    if match == "moved":
        out["ids"] = list(gold.metadata.get("ids", ()))
    if match == "span":
        out["span"] = list(span_of(gold) or ())
    return out
