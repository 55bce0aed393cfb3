"""Whatever a retriever calls a document → `RetrievedDocument`.

A document without an id gets one made from its text (``"sha:<12 hex>"``), so that quotes and spans still match
and equal texts count as one; ``metadata["id_source"]`` says where an id came from when it was not given as one:
``"text"`` (made from the text), ``"string"`` (a bare ASCII string without white space is taken as an id *and* as
the text) or ``"metadata.<key>"``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, MappingView, Sequence, Set
from numbers import Integral
from typing import Any

from ..base.text import did_you_mean
from ..core.types import Document, Response, RetrievedDocument, id_of_text
from ..errors import OutputShapeError
from .shapes import describe, fields_of, first_of, short_repr

_ACCEPTED_DOCUMENTS = (
    "RetrievedDocument, Document, a mapping or object with id (doc_id, chunk_id, _id) and/or text (page_content, "
    "content) and optionally score and metadata, a string, a whole number (an id), or a (document, score) pair"
)

_ID_KEYS = ("chunk_id", "id", "_id", "node_id", "id_", "uuid", "doc_id", "document_id", "corpus_id", "doc")
PARENT_KEYS = ("document_id", "doc_id", "doc", "source")
TEXT_KEYS = ("text", "page_content", "content", "chunk", "passage", "body", "snippet", "document")
SCORE_KEYS = ("score", "relevance_score", "similarity", "similarity_score", "_score")
NESTED_KEYS = ("doc", "document", "node", "chunk")
METADATA_KEYS = ("metadata", "meta", "payload")
_METADATA_ID_KEYS = ("chunk_id", "id", "_id", "doc_id", "document_id", "source")
KNOWN_KEYS = (*_ID_KEYS, *TEXT_KEYS, *SCORE_KEYS, *NESTED_KEYS, *METADATA_KEYS)
_PLAIN_KEYS = frozenset(("id", "text", "score"))
_NOT_METADATA_KEYS = frozenset((*_ID_KEYS, *NESTED_KEYS, *METADATA_KEYS))
_LONGEST_BARE_ID = 200
ID_SOURCE = "id_source"
"""Key of the metadata that says where an id comes from that was not given as one."""


def to_retrieved(raw: Any) -> list[RetrievedDocument]:
    """Return the documents of *raw* in their order, ranks 1..n; None means none, a lone string is one document.

    A missing score, or one that is no finite number, becomes 0.0.  Raises `OutputShapeError` where *raw* has no order
    (a set), is a table or no sequence of documents, or one of them has neither id nor text.
    """
    if raw is None:
        return []
    if isinstance(raw, str):
        raw = [raw]
    return [_to_retrieved_document(item, rank) for rank, item in enumerate(_listed(raw), 1)]


def _listed(raw: Any, what: str = "documents") -> list[Any]:
    """Return what *raw* holds, in its order; raises `OutputShapeError` for one value, a table and what has no order."""
    if inspect.isgenerator(raw) or inspect.isawaitable(raw) or hasattr(raw, "__anext__"):
        hint = f"which has not run yet; accepted: a list, list({what})"
    elif isinstance(raw, Set) and not isinstance(raw, MappingView):
        hint = "which has no order; accepted: a list, best first"
    elif not callable(getattr(raw, "columns", len)):  # a DataFrame of pandas, polars, …: its parts are column names
        hint = "a table; accepted: a list of its rows, frame.to_dict('records')"
    elif isinstance(raw, (str, bytes, Mapping, Document, RetrievedDocument, Response)):
        hint = f"accepted: a list of documents, best first, each one {_ACCEPTED_DOCUMENTS}"
    else:
        try:
            items = iter(raw)
        except TypeError as exc:  # no iterable, or an array without dimensions
            hint = f"which is no list ({exc}); accepted: a list, best first, of {_ACCEPTED_DOCUMENTS}"
        else:
            return list(items)
    raise OutputShapeError(f"the {what} came as {describe(raw)}, {hint}")


def to_document(raw: Any) -> Document:
    """Return one document without its rank and score; see `to_retrieved`."""
    return _to_retrieved_document(raw, 1).doc


def document_notes(retrieved: Sequence[RetrievedDocument]) -> list[str]:
    """Return what a report should say about documents that came without ids, or scored and in another order."""
    sources = [r.doc.metadata.get(ID_SOURCE) for r in retrieved]
    notes = []
    if (n_bare := sources.count("text")) and n_bare == len(sources):
        notes.append("documents carry no ids; matched by quote or text only")
    elif n_bare:
        notes.append(f"{n_bare} of {len(sources)} documents carry no id")
    if sources and sources.count("string") == len(sources):
        notes.append("documents are bare strings without white space; taken as ids")
    scores = [r.score for r in retrieved]
    if scores != sorted(scores) and scores != sorted(scores, reverse=True):
        notes.append("documents came scored and not in the order of their scores; the order they came in counts")
    return notes


def assign_ids(retrieved: Sequence[RetrievedDocument], ids: Any) -> list[RetrievedDocument] | None:
    """Give *ids*, which came in a list of their own, to *retrieved*; None where the two do not fit together.

    They fit when there are no documents at all, or as many as ids and none that has one of its own.
    """
    if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable):
        return None
    ids = _listed(ids, "ids")
    if not all(map(_is_given, ids)):
        return None
    if not retrieved:
        return [RetrievedDocument(Document(str(i)), 0.0, rank) for rank, i in enumerate(ids, 1)]
    if len(ids) != len(retrieved) or any(
        hit.doc.metadata.get(ID_SOURCE) not in ("text", "string") for hit in retrieved
    ):
        return None
    renamed = []
    for doc_id, hit in zip(ids, retrieved, strict=True):
        metadata = {k: v for k, v in hit.doc.metadata.items() if k != ID_SOURCE}
        renamed.append(RetrievedDocument(Document(str(doc_id), hit.doc.text, metadata), hit.score, hit.rank))
    return renamed


def name_of_source(metadata: Mapping[str, Any], source_id: Any) -> Any:
    """Return what people call the document that a chunk is from: its file or address; *source_id* is mostly random."""
    key = first_of(metadata, ("file_path", "file_name", "url", "source"))
    return source_id if key is None else metadata[key]


def _to_retrieved_document(raw: Any, rank: int) -> RetrievedDocument:
    if type(raw) is dict and raw.keys() <= _PLAIN_KEYS:  # the most common form, for the budget of 10,000 cases
        doc_id, text = raw.get("id"), raw.get("text")
        if type(doc_id) is str and doc_id and type(text) is str:
            return RetrievedDocument(Document(doc_id, text, {}), _read_score(raw.get("score", 0.0)), rank)
    if isinstance(raw, RetrievedDocument):
        return RetrievedDocument(_with_id(raw.doc, rank), _read_score(raw.score), rank)
    if isinstance(raw, Document):
        return RetrievedDocument(_with_id(raw, rank), 0.0, rank)
    if isinstance(raw, str):
        return RetrievedDocument(_from_string(raw, rank), 0.0, rank)
    if isinstance(raw, Integral) and not isinstance(raw, bool):  # indexes count their documents
        return RetrievedDocument(Document(str(int(raw))), 0.0, rank)
    if isinstance(raw, (tuple, list)) and not hasattr(raw, "_fields"):
        return _from_pair(raw, rank)
    fields = fields_of(raw, KNOWN_KEYS)
    if fields is None:
        raise _shape_error(raw, rank)
    return _from_fields(raw, fields, rank)


def _with_id(doc: Any, rank: int) -> Document:
    """Check a `Document`; give it an id where it has none."""
    if not isinstance(doc, Document):
        return _to_retrieved_document(doc, rank).doc
    doc_id: Any = doc.doc_id
    text: Any = doc.text
    if type(doc_id) is str and doc_id and type(text) is str:
        return doc
    text = str(text) if _is_given(text) else ""
    if not _is_given(doc_id):
        if not text:
            raise _shape_error(doc, rank)
        return Document(id_of_text(text), text, {**doc.metadata, ID_SOURCE: "text"})
    return Document(str(doc_id), text, dict(doc.metadata))


def _from_string(text: str, rank: int) -> Document:
    text = str(text)
    if not text.strip():
        raise _shape_error(text, rank)
    if text.isascii() and len(text) <= _LONGEST_BARE_ID and not any(c.isspace() for c in text):
        return Document(text, text, {ID_SOURCE: "string"})
    return Document(id_of_text(text), text, {ID_SOURCE: "text"})


def _from_pair(pair: Sequence[Any], rank: int) -> RetrievedDocument:
    if len(pair) == 2:
        for inner, score in (pair, pair[::-1]):
            if is_number(score) and not is_number(inner):
                return RetrievedDocument(_to_retrieved_document(inner, rank).doc, _read_score(score), rank)
    raise _shape_error(pair, rank)


def _from_fields(raw: Any, fields: dict[str, Any], rank: int) -> RetrievedDocument:
    score_key = first_of(fields, SCORE_KEYS)
    score = _read_score(fields[score_key]) if score_key else 0.0
    # a number under such a key counts chunks, it is no document
    contents = {k: v for k, v in fields.items() if k not in NESTED_KEYS or not is_number(v)}
    nested = first_of(contents, [k for k in NESTED_KEYS if not isinstance(contents.get(k), str)])
    if nested is not None:
        inner = _to_retrieved_document(contents[nested], rank)
        return RetrievedDocument(inner.doc, score if score_key else inner.score, rank)
    text_key = first_of(contents, TEXT_KEYS)
    text = fields[text_key] if text_key else ""
    if not isinstance(text, str):
        raise OutputShapeError(f"document {rank}: its {text_key!r} is {describe(text)}, not a text")
    metadata: dict[str, Any] = {}
    if isinstance(raw, Mapping):  # its other keys: title, url, start, end, …
        metadata = {k: v for k, v in fields.items() if k not in _NOT_METADATA_KEYS and k not in (text_key, score_key)}
    for key in METADATA_KEYS:
        if isinstance(fields.get(key), Mapping):
            metadata.update(fields[key])
    doc_id = _find_id(fields, metadata)
    if doc_id is None:
        if not text:
            raise _shape_error(raw, rank, fields)
        doc_id, metadata[ID_SOURCE] = id_of_text(text), "text"
    return RetrievedDocument(Document(doc_id, text, metadata), score, rank)


def _find_id(fields: Mapping[str, Any], metadata: dict[str, Any]) -> str | None:
    """Return the id; note the document that a chunk belongs to in *metadata*."""
    id_key = key_of_id(fields)
    doc_id = None if id_key is None else str(fields[id_key])
    if doc_id is None and (key := next((k for k in _METADATA_ID_KEYS if _is_given(metadata.get(k))), None)):
        doc_id, metadata[ID_SOURCE] = str(metadata[key]), f"metadata.{key}"
    if metadata.get("document_id") is None:
        for key in PARENT_KEYS:
            parent = fields[key] if key in fields else metadata.get(key)
            if _is_given(parent) and str(parent) != doc_id:
                metadata["document_id"] = str(parent)
                break
    return doc_id


def key_of_id(fields: Mapping[str, Any]) -> str | None:
    """Return the key under which *fields* hold the id of a document; None where there is none."""
    keys = [k for k in _ID_KEYS if _is_given(fields.get(k))]
    if len(keys) > 1 and keys[0] == "chunk_id" and not isinstance(fields["chunk_id"], str):
        return keys[1]  # a bare number counts chunks inside a document: no id by itself
    return keys[0] if keys else None


def _is_given(value: Any) -> bool:
    """Whether *value* is something: not None, no empty text, none of NaN, NaT and NA, as tables say it."""
    if value is None or isinstance(value, str):
        return bool(value)
    if type(value).__name__ == "NAType":  # of pandas, which cannot be compared
        return False
    try:
        return bool(value == value)  # noqa: PLR0124 - NaN and NaT do not equal themselves
    except Exception:  # an array, which is something
        return True


def is_number(value: Any) -> bool:
    """Whether *value* is a number; a text or a truth value is none."""
    if isinstance(value, (str, bytes, bool)) or value is None:
        return False
    return hasattr(value, "__float__")


def _read_score(value: Any) -> float:
    if type(value) is float:
        return value if math.isfinite(value) else 0.0
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return score if math.isfinite(score) else 0.0


def _shape_error(raw: Any, rank: int, fields: Mapping[str, Any] | None = None) -> OutputShapeError:
    expected = ("id", "doc_id", "chunk_id", "text", "page_content", "content")
    keys = [key for key in fields or () if key not in KNOWN_KEYS] if isinstance(raw, Mapping) else []
    suggestions = [f"{key!r}{hint}" for key in keys if (hint := did_you_mean(key, expected))]
    hints = f"; {', '.join(suggestions)}" if suggestions else ""
    is_empty = fields is not None or isinstance(raw, (str, Document))
    fault = "has neither an id nor a text" if is_empty else "is not a document"
    shown = short_repr(raw) if isinstance(raw, str) else describe(raw)
    return OutputShapeError(f"document {rank} {fault}: {shown}{hints}; accepted: {_ACCEPTED_DOCUMENTS}")
