"""What reports show of an answer: its text, the retrieved documents with grades, times; kept up to a size."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..base.text import shorten
from ..core.metrics_base import Measurement
from ..core.model_calls import USAGE
from ..core.telemetry import REQUEST
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs
from ..errors import MetricError
from ..metrics.coverage import citations_of
from ..metrics.ranking.gold import source_of, span_of
from ..metrics.ranking.matching import grades_of_retrieved
from ..metrics.refusal import is_refusal
from ..metrics.service.operational import Retries

_RETRIES = Retries()
_MOST_DOCUMENTS = 100
"""Of those retrieved, and of citations, that are kept."""
_LONGEST_ANSWER = 20_000
"""Characters kept of an answer, and of a relevant document."""
_LONGEST_TEXT = 200
"""Characters kept of any other text."""


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
    out |= {key: shorten(str(value), _LONGEST_TEXT) for key in REQUEST if (value := outputs.extra.get(key)) is not None}
    if isinstance(calls := outputs.extra.get(USAGE), list):
        out["usage"] = [dict(call) for call in calls if isinstance(call, Mapping)]
    metadata = outputs.response.metadata
    out.update({key: bool(metadata[key]) for key in ("refused", "grounded") if metadata.get(key) is not None})
    with suppress(MetricError):  # the metric that needs them says what is wrong with them
        if citations := citations_of(outputs):
            out["citations"] = [c if isinstance(c, int) else str(c) for c in citations]
    if not whole:
        cap_shown(out)
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


def cap_shown(shown: dict[str, Any]) -> None:
    """Cut the texts and lists of what `shown_outputs` gave to what is kept of them, in memory and in the history.

    The texts of relevant documents stay whole: they tell what a label meant once its chunk id is gone.
    """
    if isinstance(answer := shown.get("answer"), str):
        shown["answer"] = shorten(answer, _LONGEST_ANSWER)
    if "citations" in shown:
        cited = shown["citations"][:_MOST_DOCUMENTS]
        shown["citations"] = [one if isinstance(one, int) else shorten(one, _LONGEST_TEXT) for one in cited]
    if "retrieved" in shown:
        shown["retrieved"] = shown["retrieved"][:_MOST_DOCUMENTS]
        for hit in shown["retrieved"]:
            longest = _LONGEST_ANSWER if hit.get("grade") else _LONGEST_TEXT
            if len(text := hit.get("text") or "") > longest:
                hit["text"], hit["cut"] = shorten(text, longest), True


def without_text(hit: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of `shown_outputs` without its text."""
    out = dict(hit)
    out.pop("text", None)
    return out


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
