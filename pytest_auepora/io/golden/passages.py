"""Documents and passages as golden cases name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.document_forms import document_of
from ...core.types import Document
from ..source import KeyPath, Source
from .kinds import BAD, Field, FieldType, Free, ListOf, Record, Text, Whole

_ID = Field("id", Text(), "Id of a document or chunk, as the system returns it.")
_TEXT = Field("text", Text(), "What the document says; metrics that need evidence read it.")
_METADATA = Field("metadata", Free(), "Anything else about the document.")
_HINTS = {"doc_id": "id", "document": "doc", "score": "grade"}
_RELEVANT = Record(
    "a relevant document",
    _ID,
    Field("doc", Text(), "Id of a source document: any chunk of it, or the one that holds the quote or span; beside "
          "id, that of the chunk."),
    Field("quote", Text(), "Words of the document; a chunk that holds them counts, however it was cut; of any document "
          "without doc."),
    Field("span", ListOf(Whole(0, 10**12)), "Character offsets [start, end) in the document, end exclusive."),
    Field("grade", Whole(-1, 100), "How relevant: 1 = relevant (default), 2 = more so, 0 = judged and not relevant, "
          "-1 = not relevant and not judged, as in TREC's judgments."),
    _TEXT,
    _METADATA,
    hints=_HINTS,
)  # fmt: skip
_CANDIDATE = Record("a candidate document", _ID, _TEXT, _METADATA, hints=_HINTS)
_FORBIDDEN = Record(
    "a forbidden document", *(_RELEVANT.fields[name] for name in ("id", "doc", "quote", "span")), hints=_HINTS
)


class _DocumentType(FieldType):
    """An id, or a mapping that says more; read as what *build* makes of either."""

    def __init__(self, record: Record, build: Callable[[Any], Any] = document_of) -> None:
        self.record, self.build = record, build
        self.expected = "text (an id), or a mapping with id" + (" or doc" if "doc" in record.fields else "")

    def read(self, value: Any, path: KeyPath, source: Source) -> Any:
        if type(value) is str and value and not value.isspace():
            return self.build(value)
        values = self.read_record(self.record, value, path, source)
        return BAD if values is BAD or self._has_problem(values, value, path, source) else self.build(values)

    def _has_problem(self, values: dict[str, Any], value: Any, path: KeyPath, source: Source) -> bool:
        if "id" in values:
            if misplaced := next((key for key in ("quote", "span") if key in values), None):
                message = f"a {misplaced} is looked up in a source document: write doc, not id"
                source.report_key((*path, misplaced), message)
            return misplaced is not None
        if "doc" not in values and values.keys() - {"grade", "metadata"} != {"quote"}:
            source.report(path, f"a document has an id, a doc, or both, got {', '.join(value) or 'nothing'}")
            return True
        if "quote" in values and {"span", "text"} & values.keys():
            source.report_key((*path, "quote"), "a quote stands alone: no span or text beside it")
            return True
        span = values.get("span")
        if span is not None and (len(span) != 2 or span[0] >= span[1]):
            source.report((*path, "span"), f"span: expected [start, end] with start < end, got {span}")
            return True
        return False

    def schema(self) -> dict[str, Any]:
        schema = self.record.schema()
        if "doc" not in self.record.fields:
            return {"anyOf": [Text().schema(), {**schema, "required": ["id"]}]}
        properties = {**schema["properties"], "span": {**schema["properties"]["span"], "minItems": 2, "maxItems": 2}}
        left_out = {"id": ("quote", "span"), "quote": ("id", "span", "text"), "doc": ("id", "quote")}
        forms = [
            {
                "type": "object",
                "properties": {k: v for k, v in properties.items() if k not in names},
                "required": [required],
                "additionalProperties": False,
            }
            for required, names in left_out.items()
        ]
        return {"anyOf": [Text().schema(), *forms]}


class Documents(ListOf):
    """A list of documents, each given once; read as `Document` objects."""

    def __init__(self, *, relevant: bool) -> None:
        super().__init__(_DocumentType(_RELEVANT if relevant else _CANDIDATE), unique=True)
        self.expected = "a list of documents" + (" ([] if the system should refuse)" if relevant else "")

    def key_of(self, item: Document) -> tuple[Any, ...]:
        metadata = item.metadata
        match metadata.get("match"):
            case None:
                return (item.doc_id,)
            case "quote":
                return item.doc_id, item.text
            case kind:
                return item.doc_id, kind, metadata.get("start"), metadata.get("end")


def _as_written(form: str | dict[str, Any]) -> Any:
    return form if isinstance(form, str) or form.keys() != {"id"} else form["id"]


FORBIDDEN_DOCUMENTS = ListOf(_DocumentType(_FORBIDDEN, _as_written), one_ok=True, unique=True)
"""Documents that must not be returned; read as they are written, for ``labels``, an id alone as a text."""
