"""From a stored result back to what a metric takes: the sample and the outputs, as far as they were stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.run import CaseResult
from ..core.types import Document, EvaluationSample, Response, RetrievedDocument, SystemOutputs

__all__ = ["restored"]


def restored(result: CaseResult) -> tuple[EvaluationSample, SystemOutputs] | None:
    """Return the sample and the outputs of a stored case; None where it has no outputs.

    Texts of retrieved documents are the stored beginnings, and everything is as it was after redaction.
    """
    if "answer" not in result.outputs:  # nothing was kept, or no text: of a very large run
        return None
    return _sample(result), _outputs(result.outputs)


def _sample(result: CaseResult) -> EvaluationSample:
    said = result.expected
    labels = {k: v for k, v in result.labels.items() if k != "tags"}
    labels |= {k: said[k] for k in ("expect", "must_contain", "forbidden") if k in said}
    relevant = [_gold(r) for r in said["relevant"]] if "relevant" in said else None
    reference = None
    if "reference" in said:
        reference = Response(said["reference"], metadata={"alternatives": list(said.get("references", ()))[1:]})
    return EvaluationSample(result.case_id, result.query, relevant, None, reference, labels)


def _gold(raw: Mapping[str, Any]) -> Document:
    metadata: dict[str, Any] = {"grade": raw.get("grade", 1)}
    if "quote" in raw or "match" in raw:
        metadata["match"] = raw.get("match", "quote")
    if span := raw.get("span"):
        metadata["start"], metadata["end"] = span
    if raw.get("match") == "moved":
        metadata["ids"] = tuple(raw.get("ids", ()))
    if "doc" in raw:
        metadata["document_id"] = raw["doc"]
    return Document(raw["id"], raw.get("quote", ""), metadata)


def _outputs(raw: Mapping[str, Any]) -> SystemOutputs:
    retrieved = [
        RetrievedDocument(
            Document(hit["id"], hit.get("text", ""), {"document_id": hit["doc"]} if "doc" in hit else {}),
            hit.get("score") or 0.0,
            rank,
        )
        for rank, hit in enumerate(raw.get("retrieved", ()), 1)
    ]
    metadata = {k: raw[k] for k in ("refused", "grounded", "citations") if k in raw}
    return SystemOutputs(retrieved, Response(raw.get("answer", ""), metadata=metadata), dict(raw.get("timings", {})))
