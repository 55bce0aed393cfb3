"""One golden case, one call, one `CaseResult`."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..adapters.systems import System
from ..core.calls import CallResult
from ..core.metrics_base import Metric
from ..core.run import CaseResult, Score
from ..core.scoring import failed_scores, score_case, score_cases
from ..core.seeding import derive_seed, seeded
from ..core.types import Document, EvaluationSample, SystemOutputs
from ..errors import MetricError
from ..io.golden import GoldenCase
from ..metrics.coverage import citations_of
from ..metrics.gold import source_of, span_of
from ..metrics.relevance import expected_behaviour, grades_of_retrieved, ranks_of_relevant

__all__ = [
    "Called",
    "Convert",
    "ask_case",
    "blank_result",
    "errored_result",
    "measure_case",
    "measure_cases",
    "skipped_result",
]

Convert = Callable[[Any, EvaluationSample], SystemOutputs | None]
"""Turns a system's own answer into `SystemOutputs`; None leaves it to the built-in conversion."""

ANSWER_CAP = 20_000
SNIPPET_CAP = 200
RETRIEVED_CAP = 100


def ask_case(system: System, case: GoldenCase, repeat: int = 0, *, seed: int | None = None) -> Callable[[], Any]:
    """Return the call that puts *case* to *system* for the time *repeat*, counted from 0, its random numbers seeded."""
    fn = partial(system.invoke, case.sample, case.top_k)
    return fn if seed is None else seeded(fn, derive_seed(seed, case.id, repeat), is_async=system.is_async)


def measure_case(
    case: GoldenCase,
    system: System,
    call: CallResult,
    metrics: Mapping[str, Metric],
    *,
    where: str = "",
    convert: Convert | None = None,
    timed: bool = True,
) -> CaseResult:
    """Turn the finished *call* of *system* on *case* into scores.

    An exception of the call, or an answer of a shape nobody can read, gives a result in state ``error``
    with an error score under every metric.  The state is otherwise ``passed`` until somebody judges it.
    """
    outputs = _answered(case, system, call, convert, timed=timed)
    if isinstance(outputs, BaseException):
        return errored_result(case, outputs, metrics, where=where, call=call)
    return _measured(case, call, outputs, score_case(metrics.values(), case.sample, outputs), where)


@dataclass(frozen=True, slots=True)
class Called:
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
) -> list[CaseResult]:
    """Do the same for several cases, all of them before the metrics at once, which is what models are made for."""
    given = [_answered(one.case, system, one.call, convert, timed=timed) for one in called]
    good = [(one.case.sample, o) for one, o in zip(called, given, strict=True) if not isinstance(o, BaseException)]
    scores = iter(score_cases(metrics.values(), [s for s, _ in good], [o for _, o in good]))
    return [
        errored_result(one.case, outputs, metrics, where=one.where, call=one.call)
        if isinstance(outputs, BaseException)
        else _measured(one.case, one.call, outputs, next(scores), one.where)
        for one, outputs in zip(called, given, strict=True)
    ]


def _answered(
    case: GoldenCase, system: System, call: CallResult, convert: Convert | None, *, timed: bool
) -> SystemOutputs | BaseException:
    """Return what *call* gave, as outputs, or why there are none."""
    if call.error is not None:
        return call.error
    try:
        outputs = convert(call.value, case.sample) if convert is not None else None
        if outputs is None:
            outputs = system.as_outputs(call.value, call.seconds, case.sample)
        elif timed:
            outputs.timings.setdefault("end_to_end", call.seconds)
    except Exception as exc:
        return exc
    if call.attempts > 1:
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
    result.outputs = _shown_outputs(case.sample, outputs)
    return result


def _say_why_unlabelled(result: CaseResult, moved: Mapping[str, Any]) -> None:
    """A case whose labels cannot be found is n/a; nobody should have to guess why."""
    if moved["match"] != "none":
        return
    lost = ", ".join(name for name, told in moved["labels"].items() if told["match"] == "none")
    for score in result.scores.values():
        if score.state == "n/a" and score.reason == "no relevant_docs":
            score.reason = f"labels moved: {_cap(lost, SNIPPET_CAP)}"


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
    result.scores = failed_scores(metrics.values(), case.sample, result.error.splitlines()[0])
    if call is not None:
        result.seconds, result.concurrency = call.seconds, call.concurrency
    return result


def describe_error(error: BaseException, frames: int = 6) -> str:
    """Return ``Type: message`` and, below, the innermost frames of the user's own code."""
    first = "".join(traceback.format_exception_only(error)).strip()
    stack = [f for f in traceback.extract_tb(error.__traceback__) if "pytest_auepora" not in f.filename]
    if not stack:
        return first
    return first + "\n" + "".join(traceback.format_list(stack[-frames:])).rstrip()


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
    out: dict[str, Any] = {"id": gold.doc_id, "grade": gold.metadata.get("grade", 1), **_source(gold)}
    if (match := gold.metadata.get("match", "id")) != "id":
        out["match"] = match  # a passage of a document: how the document is cut up does not matter
    if match == "quote":
        out["quote"] = gold.text
    if match == "moved":
        out["ids"] = list(gold.metadata.get("ids", ()))
    if match == "span":
        out["span"] = list(span_of(gold) or ())
    return out


def _source(document: Document) -> dict[str, str]:
    """Name the document that a chunk was cut from, where that is another."""
    source = source_of(document)
    return {} if source == document.doc_id else {"doc": source}


def _offsets(document: Document) -> dict[str, list[int]]:
    """Say where in its document a chunk is, where it knows."""
    place = span_of(document)
    return {} if place is None else {"span": list(place)}


def _shown_outputs(sample: EvaluationSample, outputs: SystemOutputs) -> dict[str, Any]:
    grades: Sequence[int] = grades_of_retrieved(sample, outputs)
    out: dict[str, Any] = {
        "answer": _cap(outputs.response.text, ANSWER_CAP),
        "retrieved": [
            {
                "id": r.doc.doc_id,
                "score": _plain(r.score),
                "grade": grade,
                # relevant ones whole: they tell what a label meant once its chunk id is gone
                "text": _cap(r.doc.text, ANSWER_CAP if grade else SNIPPET_CAP),
                **_source(r.doc),
                **_offsets(r.doc),
            }
            for r, grade in zip(outputs.retrieved[:RETRIEVED_CAP], grades, strict=False)
        ],
        "timings": {k: float(v) for k, v in outputs.timings.items()},
    }
    said = outputs.response.metadata
    out.update({key: bool(said[key]) for key in ("refused", "grounded") if said.get(key) is not None})
    with suppress(MetricError):  # the metric that needs them says what is wrong with them
        if cited := citations_of(outputs):
            out["citations"] = [c if isinstance(c, int) else _cap(str(c), SNIPPET_CAP) for c in cited[:RETRIEVED_CAP]]
    return out


def _plain(score: Any) -> float | None:
    """A builtin float (a numpy one would break the report's journey between processes); NaN becomes None."""
    try:
        value = float(score)
    except (TypeError, ValueError):
        return None
    return value if value - value == 0 else None


def _cap(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
