"""The result of a case before anything was measured: what the golden file knows of it, and why it has no answer."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Literal, NamedTuple

from ..calls.call import CallResult
from ..core.metrics_base import Metric
from ..core.run import CaseResult
from ..core.scoring import failed_scores
from ..core.types import Document, EvaluationSample
from ..errors import message_of
from ..io.golden.model import GoldenCase
from ..metrics.ranking.gold import expected_behaviour, span_of
from .answer_summary import source_key


class Ended(NamedTuple):
    """How a case ended on purpose, without an answer: the system, a fixture or the golden file said so."""

    how: Literal["skip", "xfail"]
    reason: str


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


def ended_result(case: GoldenCase, ended: Ended, *, where: str = "") -> CaseResult:
    """Return the result of a case that was not measured on purpose: skipped, or expected to fail."""
    result = blank_result(case, where=where)
    result.state, result.error = "skipped", ended.reason
    if ended.how == "xfail":
        result.extra["xfail"] = ended.reason
    return result


def errored_result(
    case: GoldenCase,
    error: BaseException,
    metrics: Mapping[str, Metric],
    *,
    where: str = "",
    call: CallResult | None = None,
) -> CaseResult:
    """Return the result of a case that could not be measured because of *error*, an error under every metric."""
    result = blank_result(case, where=where)
    result.state = "error"
    result.error = describe_error(error)
    if call is not None and call.attempts > 1 and error is call.error:
        head, rest, frames = result.error.partition("\n")
        result.error = f"{head} ({call.attempts} attempts){rest}{frames}"
    result.scores = failed_scores(metrics.values(), case.sample, result.error_line, error)
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


_MOST = 3
"""Errors of a group, and causes, that are named."""


def describe_error(error: BaseException, frames: int = 6) -> str:
    """Return ``Type: message``; below, the innermost frames of the user's own code, and what caused the error.

    A group of errors, as ``asyncio.TaskGroup`` raises, says little by itself: the first line has what is in
    it as well, and the frames and causes are those of its first error.
    """
    told, inner = _only(error), error
    if (errors := list(_inside(error))) != [error]:
        named = list(dict.fromkeys(_only(one).partition("\n")[0] for one in errors))
        more = f"; and {len(named) - _MOST} more" if len(named) > _MOST else ""
        told, inner = f"{told}: {'; '.join(named[:_MOST])}{more}", errors[0]
    return "\n".join([told, *(_frames(inner, frames) or _frames(error, frames)), *_causes(inner)])


def _only(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()


def _inside(error: BaseException) -> Iterator[BaseException]:
    """Give the errors of a group, and of groups in it; of any other error itself.  Python 3.10 knows no groups."""
    inner = getattr(error, "exceptions", None)
    if isinstance(inner, tuple) and inner and all(isinstance(one, BaseException) for one in inner):
        for one in inner:
            yield from _inside(one)
    else:
        yield error


def _frames(error: BaseException, most: int) -> list[str]:
    entries = list(_entries(error.__traceback__))
    shown = [i for i, tb in enumerate(entries) if "pytest_auepora" not in tb.tb_frame.f_code.co_filename][-most:]
    if not shown:
        return []
    # a test runner stands before them with dozens of frames, whose sources nobody asks for
    stack = [f for f in traceback.extract_tb(entries[shown[0]]) if "pytest_auepora" not in f.filename]
    return ["".join(traceback.format_list(stack)).rstrip()]


def _entries(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _causes(error: BaseException) -> Iterator[str]:
    """Name what *error* was raised for or amid; libraries that wrap an error in their own repeat its words."""
    seen, said = {id(error)}, {message_of(error)}
    for _ in range(_MOST):
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None or id(cause) in seen:
            return
        if message_of(cause) not in said:
            yield f"{'caused by' if error.__cause__ else 'while handling'} {_only(cause).partition(chr(10))[0]}"
        seen.add(id(cause))
        said.add(message_of(cause))
        error = cause
