"""Everything in a result except its scores and its answer: data from the golden file, the error."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..base.retry import group_members
from ..base.text import message_of
from ..calls.call import CallResult
from ..core.case_texts import CaseTexts
from ..core.conversation import turns_of
from ..core.document_forms import FORBIDDEN_DOCS
from ..core.metrics_base import Metric
from ..core.run import CaseResult
from ..core.scoring import Score, failed_scores
from ..core.types import Document, EvaluationSample
from ..errors import AueporaError, CallTimeoutError, MetricError, OutputShapeError, ShapeError
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import forbidden_labels, label_of, span_of
from ..metrics.values import expected_behaviour
from .shown_outputs import source_key


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
