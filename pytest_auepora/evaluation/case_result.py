"""Everything in a result except its scores: data from the golden file, the error, and what reports show of the answer
(text, retrieved documents with grades, times), capped in size.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..base.retry import group_members
from ..base.text import message_of, shorten
from ..calls.call import CallResult
from ..core.case_texts import CaseTexts
from ..core.conversation import turns_of
from ..core.document_forms import FORBIDDEN_DOCS
from ..core.metrics_base import Measurement, Metric
from ..core.model_calls import USAGE
from ..core.run import CaseResult
from ..core.scoring import Score, failed_scores
from ..core.telemetry import REQUEST
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import AueporaError, CallTimeoutError, MetricError, OutputShapeError, ShapeError
from ..io.golden.model import GoldenCase
from ..metrics.coverage import citations_of
from ..metrics.ranking.gold import forbidden_labels, label_of, source_of, span_of
from ..metrics.ranking.matching import grades_of_retrieved
from ..metrics.refusal import is_refusal
from ..metrics.service.operational import Retries
from ..metrics.values import expected_behaviour


class Ended(NamedTuple):
    """How a case ended on purpose, without an answer: the system, a fixture or the golden file said so."""

    how: Literal["skip", "xfail"]
    reason: str


def blank_result(case: GoldenCase) -> CaseResult:
    """Return the result of a case that was not measured: data from the golden file alone, without its place there."""
    sample = case.sample
    slices = {k: v for k, v in sample.labels.items() if isinstance(v, (str, int, float, bool))}
    return CaseResult(
        case_id=case.id,
        content_hash=case.content_hash,
        cluster=case.cluster,
        labels={**slices, "tags": list(case.tags)},
        texts=CaseTexts(sample.query, _expected(sample)),
        thresholds={n: [(b.op, b.limit) for b in bs] for n, bs in case.thresholds.items()},
        must_pass=case.must_pass,
        quarantine=case.quarantine or "",
        moved=case.moved,
    )


def errored_result(
    case: GoldenCase, error: BaseException, metrics: Mapping[str, Metric], call: CallResult | None = None
) -> CaseResult:
    """Return the result of a case that could not be measured because of *error*, an error under every metric."""
    result = blank_result(case)
    result.state, result.error = "error", describe_error(error)
    result.timed_out, result.wrong_shape = isinstance(error, TimeoutError), isinstance(error, OutputShapeError)
    result.accepted = error.accepted if isinstance(error, ShapeError) else ""
    if call is not None and error is call.error:
        result.attempts = max(call.attempts, 1)
    result.scores = failed_scores(metrics.values(), case.sample, result.error_line, error)
    if call is not None:
        result.seconds, result.concurrency = call.seconds, call.concurrency
    return result


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
    if FORBIDDEN_DOCS in sample.labels:
        with suppress(MetricError):  # the metric that reads them says what is wrong with them
            out[FORBIDDEN_DOCS] = [label.name for label in forbidden_labels(sample)]
    if sample.chat_history:
        out["chat_history"] = turns_of(sample)
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
    with suppress(MetricError):  # the metric that reads it says what is wrong with it
        if (name := label_of(gold).name) != gold.doc_id:
            out["name"] = name
    return out


_MOST = 3
"""Errors of a group, and causes, that are named."""
_FRAMES = 6
_OWN = f"{__name__.partition('.')[0]}."
_PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"


def withhold(result: CaseResult, why: str) -> None:
    """Make *result* an error, for *why*, and drop every text of it and all that tells one."""
    result.state, result.error = "error", f"HookError: {why}"
    result.scores = {name: Score.failed(result.error) for name in result.scores}
    result.texts, result.labels, result.ranks = CaseTexts(), {}, {}
    result.moved = result.xfail = None


def describe_error(error: BaseException) -> str:
    """Return ``Type: message``; below, the innermost frames of the user's own code, and what caused the error.

    A group of errors, as ``asyncio.TaskGroup`` raises, says little by itself: the first line has what is in
    it as well, and the frames and causes are those of its first error.  Errors that `CaseResult` has a word for
    are their message alone.
    """
    summary, origin = _type_and_message(error), error
    if isinstance(error, (OutputShapeError, CallTimeoutError)):
        summary = error.message if isinstance(error, ShapeError) else str(error)
    if (errors := _leaf_errors(error)) != [error]:
        messages = list(dict.fromkeys(_type_and_message(member).partition("\n")[0] for member in errors))
        more = f"; and {len(messages) - _MOST} more" if len(messages) > _MOST else ""
        summary, origin = f"{summary}: {'; '.join(messages[:_MOST])}{more}", errors[0]
    return "\n".join([summary, *(_frames(origin) or _frames(error)), *_causes(origin)])


def _type_and_message(error: BaseException) -> str:
    if isinstance(error, ShapeError):
        return f"{type(error).__name__}: {error.message}"
    if isinstance(error, AueporaError) and type(error).__module__.startswith(_OWN):
        return f"{type(error).__name__}: {error}"
    return "".join(traceback.format_exception_only(error)).strip()


def _leaf_errors(error: BaseException) -> list[BaseException]:
    """Return the errors of a group, and of groups in it; any other error itself."""
    members = group_members(error)
    return [leaf for member in members for leaf in _leaf_errors(member)] if members else [error]


def _frames(error: BaseException) -> list[str]:
    """Return the innermost frames of the user's own code as one text; nothing where there is none."""
    stack = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_PACKAGE)][-_FRAMES:]
    return ["".join(traceback.format_list(stack)).rstrip()] if stack else []


def _causes(error: BaseException) -> Iterator[str]:
    """Name what *error* was raised for or amid; libraries that wrap an error in their own repeat its words."""
    seen_ids, messages = {id(error)}, {message_of(error)}
    for _ in range(_MOST):
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen_ids:
            return
        if message_of(cause) not in messages:
            first_line = _type_and_message(cause).partition("\n")[0]
            yield f"{'caused by' if error.__cause__ else 'while handling'} {first_line}"
        seen_ids.add(id(cause))
        messages.add(message_of(cause))
        error = cause


ANSWER_CAP = 20_000
SNIPPET_CAP = 200
RETRIEVED_CAP = 100
_RETRIES = Retries()


def shown_outputs(sample: EvaluationSample, outputs: SystemOutputs, *, whole: bool = False) -> dict[str, Any]:
    """Return ``answer``, ``retrieved``, ``timings``; if said, ``retries``, ``refused``, ``citations``, `REQUEST`, ….

    *whole* leaves texts and lists as long as they are.
    """
    graded = zip(outputs.retrieved, grades_of_retrieved(sample, outputs), strict=False)
    out: dict[str, Any] = {
        "answer": outputs.response.text,
        "retrieved": [_hit(retrieved, grade) for retrieved, grade in graded],
        "timings": {k: seconds for k, v in outputs.timings.items() if (seconds := _to_float(v)) is not None},
    }
    if isinstance(retries := _RETRIES.measure(sample, outputs), Measurement):
        out["retries"] = retries.value
    out |= {key: snippet(str(value)) for key in REQUEST if (value := outputs.extra.get(key)) is not None}
    if isinstance(calls := outputs.extra.get(USAGE), list):
        out["usage"] = [dict(call) for call in calls if isinstance(call, Mapping)]
    metadata = outputs.response.metadata
    out.update({key: bool(metadata[key]) for key in ("refused", "grounded") if metadata.get(key) is not None})
    with suppress(MetricError):  # the metric that needs them says what is wrong with them
        if citations := citations_of(outputs):
            out["citations"] = [c if isinstance(c, int) else str(c) for c in citations]
    if not whole:
        crop(out)
    return out


def _hit(retrieved: RetrievedDocument, grade: int) -> dict[str, Any]:
    doc = retrieved.doc
    hit: dict[str, Any] = {"id": doc.doc_id, "score": _to_float(retrieved.score), "grade": grade, "text": doc.text}
    if doc.metadata:
        hit |= source_key(doc)
        if (place := span_of(doc)) is not None:
            hit["span"] = list(place)
    return hit


def shows_refusal(shown: Mapping[str, Any]) -> bool:
    """Whether the answer in *shown*, as `shown_outputs` gave it, is a refusal."""
    metadata = {key: shown[key] for key in ("refused",) if key in shown}
    return bool(is_refusal(SystemOutputs([], Response(str(shown.get("answer") or ""), metadata=metadata))))


def crop(shown: dict[str, Any]) -> None:
    """Cut the texts and lists of what `shown_outputs` gave to what reports have room for.

    The texts of relevant documents stay whole: they tell what a label meant once its chunk id is gone.
    """
    if isinstance(answer := shown.get("answer"), str):
        shown["answer"] = shorten(answer, ANSWER_CAP)
    if "citations" in shown:
        shown["citations"] = [c if isinstance(c, int) else snippet(c) for c in shown["citations"][:RETRIEVED_CAP]]
    if "retrieved" in shown:
        shown["retrieved"] = shown["retrieved"][:RETRIEVED_CAP]
        for hit in shown["retrieved"]:
            most = ANSWER_CAP if hit.get("grade") else SNIPPET_CAP
            if len(text := hit.get("text") or "") > most:
                hit["text"], hit["cut"] = shorten(text, most), True


def without_text(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of `shown_outputs` without its text."""
    out = dict(hit)
    out.pop("text", None)
    return out


def snippet(text: str) -> str:
    """Return the beginning of *text*, as long as what is shown of an irrelevant document."""
    return shorten(text, SNIPPET_CAP)


def source_key(document: Document) -> dict[str, str]:
    """Name the document that a chunk was cut from, where that is another."""
    source = source_of(document)
    return {} if source == document.doc_id else {"doc": source}


def _to_float(score: Any) -> float | None:
    """Return a builtin float, as pytest-xdist sends no numpy values; NaN becomes None."""
    try:
        value = float(score)
    except (TypeError, ValueError):
        return None
    return value if value - value == 0 else None
