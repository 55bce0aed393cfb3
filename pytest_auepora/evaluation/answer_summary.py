"""What reports show of an answer: its text, what was retrieved with grades, times; capped in size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from ..core.metrics_base import Measurement
from ..core.types import Document, EvaluationSample, RetrievedDocument, SystemOutputs
from ..errors import MetricError
from ..metrics.coverage import citations_of
from ..metrics.operational import Retries
from ..metrics.ranking.gold import source_of, span_of
from ..metrics.ranking.matching import grades_of_retrieved

ANSWER_CAP = 20_000
SNIPPET_CAP = 200
RETRIEVED_CAP = 100
_RETRIES = Retries()


def shown_outputs(sample: EvaluationSample, outputs: SystemOutputs, *, whole: bool = False) -> dict[str, Any]:
    """Return ``answer``, ``retrieved``, ``timings``; ``retries``, ``refused``, ``grounded``, ``citations`` where said.

    *whole* leaves texts and lists as long as they are.
    """
    grades = grades_of_retrieved(sample, outputs)
    out: dict[str, Any] = {
        "answer": outputs.response.text,
        "retrieved": _hits(outputs.retrieved if whole else outputs.retrieved[:RETRIEVED_CAP], grades, whole=whole),
        "timings": {k: float(v) for k, v in outputs.timings.items()},
    }
    if isinstance(again := _RETRIES.measure(sample, outputs), Measurement):
        out["retries"] = again.value
    said = outputs.response.metadata
    out.update({key: bool(said[key]) for key in ("refused", "grounded") if said.get(key) is not None})
    with suppress(MetricError):  # the metric that needs them says what is wrong with them
        if cited := citations_of(outputs):
            out["citations"] = [c if isinstance(c, int) else str(c) for c in cited]
    return out if whole else _with_short_texts(out)


def _hits(retrieved: Iterable[RetrievedDocument], grades: Iterable[int], *, whole: bool) -> list[dict[str, Any]]:
    out = []
    for r, grade in zip(retrieved, grades, strict=False):
        doc, text = r.doc, r.doc.text
        score: float | None = r.score
        if not whole and text and len(text) > SNIPPET_CAP:
            # of most a snippet is shown, cut here and not by two calls for each
            text = _cropped_text(text, grade) if grade else _broken_off(text[: SNIPPET_CAP - 1])
        if type(score) is not float or score - score != 0:  # else there is nothing to do
            score = _plain(score)
        hit: dict[str, Any] = {"id": doc.doc_id, "score": score, "grade": grade, "text": text}
        if doc.metadata:
            hit.update(source_key(doc))
            hit.update(_offsets(doc))
        out.append(hit)
    return out


@lru_cache(maxsize=2048)
def _broken_off(beginning: str) -> str:
    """Return *beginning* with an ellipsis; many answers show the same few documents, and then the same object.

    Encoding it, once for each object, takes ten times as long as finding it here.
    """
    return beginning + "…"


def cropped(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `shown_outputs` gave with its texts and lists cut to what reports have room for."""
    out = _with_short_texts(dict(shown))
    if "retrieved" in out:
        hits = out["retrieved"][:RETRIEVED_CAP]
        out["retrieved"] = [
            {**h, "text": _cropped_text(h["text"], h.get("grade"))} if h.get("text") else h for h in hits
        ]
    return out


def _with_short_texts(out: dict[str, Any]) -> dict[str, Any]:
    """Cut what the answer says; *out* itself is changed."""
    if isinstance(answer := out.get("answer"), str):
        out["answer"] = _cap(answer, ANSWER_CAP)
    if "citations" in out:
        out["citations"] = [c if isinstance(c, int) else _cap(c, SNIPPET_CAP) for c in out["citations"][:RETRIEVED_CAP]]
    return out


def _cropped_text(text: str, grade: Any) -> str:
    """Relevant ones whole: they tell what a label meant once its chunk id is gone."""
    return _cap(text, ANSWER_CAP if grade else SNIPPET_CAP)


def snippet(text: str) -> str:
    """Return the beginning of *text*, as long as what is shown of an irrelevant document."""
    return _cap(text, SNIPPET_CAP)


def source_key(document: Document) -> dict[str, str]:
    """Name the document that a chunk was cut from, where that is another."""
    source = source_of(document)
    return {} if source == document.doc_id else {"doc": source}


def _offsets(document: Document) -> dict[str, list[int]]:
    """Say where in its document a chunk is, where it knows."""
    place = span_of(document)
    return {} if place is None else {"span": list(place)}


def _plain(score: Any) -> float | None:
    """A builtin float (a numpy one would break the report's journey between processes); NaN becomes None."""
    try:
        value = float(score)
    except (TypeError, ValueError):
        return None
    return value if value - value == 0 else None


def _cap(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
