"""`RecordedOutputs`: what a metric may read of an answer, as plain data that JSON carries, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from ..base.json import encode
from ..base.records import Free, Number, Record
from ..base.text import shorten
from ..core.metrics_base import AnswerPart
from ..core.types import Document, Response, RetrievedDocument, SystemOutputs
from ..metrics.ranking.gold import SOURCE_KEYS
from .shown_outputs import without_text

Loss = Literal["cut", "changed", "unseen", "not JSON"]
"""Why a part of an answer is not as it was: for its size; changed by the project's redaction, or not shown to it; it
held what JSON cannot carry."""

_PLACE_KEYS = (*SOURCE_KEYS, "start", "end")  # metadata of a document that labels are matched by; never cut
_FLAGS = ("refused", "grounded", "citations")


@dataclass(slots=True)
class RecordedDocument(Record):
    """A document of a ranking."""

    id: str | int
    text: str | None
    score: Number | str | None
    """A text where JSON has no such number: ``inf``, ``nan``."""
    rank: int
    metadata: dict[str, Free] = field(default_factory=dict)


@dataclass(slots=True)
class RecordedOutputs(Record):
    """The fields of `SystemOutputs` and its response."""

    answer: str | None
    retrieved: list[RecordedDocument]
    timings: dict[str, Number]
    structured: dict[str, Free] | None = None
    metadata: dict[str, Free] = field(default_factory=dict)
    extra: dict[str, Free] = field(default_factory=dict)
    lost: dict[AnswerPart, Loss] = field(default_factory=dict)
    """The parts that are not as they were."""

    @classmethod
    def of(cls, outputs: SystemOutputs) -> RecordedOutputs:
        """Return *outputs* as plain data, without what JSON cannot carry."""
        response = outputs.response
        out = cls(response.text, [], {})
        for name, seconds in outputs.timings.items():
            if isinstance(number := _score(seconds), float):
                out.timings[str(name)] = number
            else:
                out.lost["timings"] = "not JSON"
        out.metadata = out._plain(response.metadata, "metadata")
        out.structured = None if response.structured is None else out._plain(response.structured, "structured")
        out.extra = out._plain(outputs.extra, "extra")
        for r in outputs.retrieved:
            metadata = out._plain(r.doc.metadata, "document_metadata") if r.doc.metadata else {}
            out.retrieved.append(RecordedDocument(r.doc.doc_id, r.doc.text, _score(r.score), r.rank, metadata))
        return out

    def _plain(self, mapping: Mapping[str, Any] | None, part: AnswerPart) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in (mapping or {}).items():
            try:
                out |= plain({key: value})
            except TypeError:
                self.lost[part] = "not JSON"
        return out

    def restore(self) -> SystemOutputs:
        """Return the answer, as far as it is there."""
        retrieved = [
            RetrievedDocument(
                Document(hit.id, hit.text, dict(hit.metadata)),  # type: ignore[arg-type]  # as the system gave them
                float(hit.score) if isinstance(hit.score, str) else hit.score,  # type: ignore[arg-type]
                hit.rank,
            )
            for hit in self.retrieved
        ]
        response = Response(self.answer, self.structured, dict(self.metadata))  # type: ignore[arg-type]
        return SystemOutputs(retrieved, response, dict(self.timings), dict(self.extra))

    def cut(self, cap: int) -> None:
        """Cut what is longest until there are no more than *cap* characters; ids, scores and times do not count."""
        values: list[Any] = [self.answer, self.structured, self.metadata, self.extra]
        values += [hit.text for hit in self.retrieved] + [hit.metadata for hit in self.retrieved]
        longest = _longest(list(map(_size, values)), cap)
        if longest is None:
            return
        if _size(self.answer) > longest:
            self.answer, self.lost["answer"] = shorten(self.answer or "", longest), "cut"
        if _size(self.structured) > longest:
            self.structured, self.lost["structured"] = None, "cut"
        if _size(self.metadata) > longest:
            self.metadata, self.lost["metadata"] = {}, "cut"
        if _size(self.extra) > longest:
            self.extra, self.lost["extra"] = {}, "cut"
        for hit in self.retrieved:
            if _size(hit.text) > longest:
                hit.text, self.lost["documents"] = shorten(hit.text or "", longest), "cut"
            if _size(hit.metadata) > longest:
                hit.metadata = {key: hit.metadata[key] for key in _PLACE_KEYS if key in hit.metadata}
                self.lost["document_metadata"] = "cut"

    def redact(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Change what the project's redaction changed, and leave out what it was not shown.

        *before* and *after* are what `case_result.shown_outputs` gave, whole, and what became of it.
        """
        if after.get("answer") != before["answer"]:
            self.answer, self.lost["answer"] = _text(after.get("answer")), "changed"
        self._redact_ranking(before["retrieved"], after.get("retrieved"))
        if after.get("timings") != before["timings"]:
            self.timings, self.lost["timings"] = {}, "changed"
        if self.metadata:
            self.metadata = {key: before[key] for key in _FLAGS if key in before and after.get(key) == before[key]}
            changed = any(key in before and key not in self.metadata for key in _FLAGS)
            self.lost["metadata"] = "changed" if changed else "unseen"
        if self.structured is not None:
            self.structured, self.lost["structured"] = None, "unseen"
        if self.extra or "extra" in self.lost:
            self.extra, self.lost["extra"] = {}, "unseen"

    def _redact_ranking(self, before: list[dict[str, Any]], after: Any) -> None:
        hits = after if isinstance(after, list) and all(isinstance(hit, dict) for hit in after) else []
        if list(map(without_text, hits)) != list(map(without_text, before)):
            self.retrieved, self.lost["ranking"] = [], "changed"
            return
        for hit, old, new in zip(self.retrieved, before, hits, strict=True):
            if new.get("text") != old["text"]:
                hit.text, self.lost["documents"] = _text(new.get("text")), "changed"
            if hit.metadata:
                hit.metadata, self.lost["document_metadata"] = {SOURCE_KEYS[0]: old.get("doc", old["id"])}, "unseen"
                hit.metadata |= dict(zip(("start", "end"), old.get("span", ()), strict=False))


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str) else len(encode(value)) if value else 0


def _longest(sizes: Sequence[int], cap: int) -> int | None:
    """Return how long a text may be so that texts of these *sizes* are no more than *cap* together; None for any."""
    left = cap
    for i, size in enumerate(sorted(sizes)):
        n_left = len(sizes) - i
        if size * n_left > left:
            return left // n_left
        left -= size
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _score(score: Any) -> float | str | None:
    with suppress(TypeError, ValueError):
        number = float(score)
        return number if number - number == 0 else str(number)
    return None


def plain(value: Any) -> Any:
    """Return *value* in the types JSON has; raises TypeError where JSON cannot carry all of it unchanged."""
    if value is None or isinstance(value, (str, int)) or (isinstance(value, float) and value - value == 0):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise TypeError(type(value).__name__)
