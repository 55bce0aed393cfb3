"""Whatever a retriever calls a document → `RetrievedDocument`.

A document without an id gets one made from its text (``"sha:<12 hex>"``), so that quotes and spans still match
and equal texts count as one; ``metadata["id_source"]`` says where an id came from when it was not given as one:
``"text"`` (made from the text), ``"string"`` (a bare ASCII string without white space is taken as an id *and* as
the text) or ``"metadata.<key>"``.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ..core.types import Document, Response, RetrievedDocument, id_of_text
from ..errors import OutputShapeError, did_you_mean
from .shapes import describe, fields_of, first_of, short_repr

ACCEPTED_DOCUMENTS = (
    "RetrievedDocument, Document, a mapping or object with id (doc_id, chunk_id, _id) and/or text (page_content, "
    "content) and optionally score and metadata, a string, or a (document, score) pair"
)

ID_KEYS = ("chunk_id", "id", "_id", "node_id", "id_", "uuid", "doc_id", "document_id", "corpus_id", "doc")
PARENT_KEYS = ("document_id", "doc_id", "doc", "source")
TEXT_KEYS = ("text", "page_content", "content", "chunk", "passage", "body", "snippet", "document")
SCORE_KEYS = ("score", "relevance_score", "similarity", "similarity_score", "_score")
NESTED_KEYS = ("doc", "document", "node", "chunk")
METADATA_KEYS = ("metadata", "meta", "payload")
_METADATA_ID_KEYS = ("chunk_id", "id", "_id", "doc_id", "document_id", "source")
_KNOWN = (*ID_KEYS, *TEXT_KEYS, *SCORE_KEYS, *NESTED_KEYS, *METADATA_KEYS)
_NO_METADATA = frozenset((*ID_KEYS, *NESTED_KEYS, *METADATA_KEYS))
_LONGEST_BARE_ID = 200


def to_retrieved(raw: Any) -> list[RetrievedDocument]:
    """Return the documents of *raw* in their order, ranks 1..n; None means none, a lone string is one document.

    A missing score, or one that is no finite number, becomes 0.0.

    Raises:
        OutputShapeError: *raw* is no sequence of documents, or one of them has neither id nor text.
    """
    if raw is None:
        return []
    if type(raw) is list:
        plain = _plain(raw)
        return plain if plain is not None else [_one(item, rank) for rank, item in enumerate(raw, 1)]
    if isinstance(raw, str):
        raw = [raw]
    if _is_lazy(raw):
        raise OutputShapeError(
            f"the documents came as {describe(raw)}, which has not run yet; accepted: a list, list(documents)"
        )
    if isinstance(raw, (Mapping, bytes, Document, RetrievedDocument, Response)) or not isinstance(raw, Iterable):
        raise OutputShapeError(
            f"the documents came as {describe(raw)}; accepted: a list of documents, best first, each one "
            f"{ACCEPTED_DOCUMENTS}"
        )
    return [_one(item, rank) for rank, item in enumerate(raw, 1)]


def to_document(raw: Any) -> Document:
    """Return one document without its rank and score; see `to_retrieved`."""
    return _one(raw, 1).doc


def notes_on(retrieved: Sequence[RetrievedDocument]) -> list[str]:
    """Return what a report should say about documents that came without ids, or scored and in another order."""
    sources = [meta.get("id_source") if (meta := r.doc.metadata) else None for r in retrieved]
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


def with_ids(retrieved: Sequence[RetrievedDocument], ids: Any) -> list[RetrievedDocument] | None:
    """Put *ids* that came in a list of their own on *retrieved*; None where the two do not fit together.

    They fit when there are no documents at all, or as many as ids and none that has one of its own.
    """
    if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Sequence) or not all(map(_is_given, ids)):
        return None
    if not retrieved:
        return [RetrievedDocument(Document(str(i)), 0.0, rank) for rank, i in enumerate(ids, 1)]
    if len(ids) != len(retrieved) or any(r.doc.metadata.get("id_source") not in ("text", "string") for r in retrieved):
        return None
    pairs = zip(ids, retrieved, strict=True)
    return [RetrievedDocument(_renamed(r.doc, str(i)), r.score, r.rank) for i, r in pairs]


def _renamed(doc: Document, doc_id: str) -> Document:
    return Document(doc_id, doc.text, {k: v for k, v in doc.metadata.items() if k != "id_source"})


def _is_lazy(raw: Any) -> bool:
    return inspect.isgenerator(raw) or inspect.isasyncgen(raw) or inspect.isawaitable(raw) or hasattr(raw, "__anext__")


def _one(raw: Any, rank: int) -> RetrievedDocument:
    if type(raw) is dict and (plain := _plain([raw], rank)) is not None:
        return plain[0]
    if isinstance(raw, RetrievedDocument):
        return RetrievedDocument(_whole(raw.doc, rank), _score(raw.score), rank)
    if isinstance(raw, Document):
        return RetrievedDocument(_whole(raw, rank), 0.0, rank)
    if isinstance(raw, str):
        return RetrievedDocument(_from_string(raw, rank), 0.0, rank)
    if isinstance(raw, (tuple, list)) and not hasattr(raw, "_fields"):
        return _from_pair(raw, rank)
    fields = fields_of(raw, _KNOWN)
    if fields is None:
        raise _refuse(raw, rank)
    return _from_fields(raw, fields, rank)


def _plain(raw: list[Any], rank: int = 1) -> list[RetrievedDocument] | None:
    """Read the most frequent list, dicts with the same keys: an id, a text, maybe a score; None where it is another.

    In one go, because a call for each document takes as long as making it.
    """
    keys = _plain_keys(tuple(raw[0])) if raw and type(raw[0]) is dict else None
    if keys is None:
        return None
    id_key, text_key, score_key = keys
    n_keys, score, at = 3 if score_key else 2, 0.0, rank
    out = []
    try:
        for item in raw:
            if type(item) is not dict or len(item) != n_keys:
                return None
            doc_id, text = item[id_key], item[text_key]
            if type(doc_id) is not str or not doc_id or type(text) is not str:
                return None
            if score_key:
                score = item[score_key]
                if type(score) is not float or score - score != 0:  # else it is as it should be: a finite float
                    score = _score(score)
            out.append(RetrievedDocument(Document(doc_id, text, {}), score, at))
            at += 1
    except KeyError:
        return None
    return out


@lru_cache(maxsize=64)
def _plain_keys(keys: tuple[Any, ...]) -> tuple[str, str, str] | None:
    """Return which of *keys* are the id, the text and the score, where there is nothing else."""
    ids, texts, scores = ([k for k in keys if k in known] for known in (ID_KEYS, TEXT_KEYS, SCORE_KEYS))
    if len(ids) != 1 or len(texts) != 1 or len(scores) > 1 or len(keys) != 2 + len(scores):
        return None
    if not set(NESTED_KEYS).isdisjoint(keys):
        return None
    return ids[0], texts[0], scores[0] if scores else ""


def _whole(doc: Any, rank: int) -> Document:
    """Check a document that claims to be one of ours; give it an id where it has none."""
    if not isinstance(doc, Document):
        return _one(doc, rank).doc
    doc_id: Any = doc.doc_id
    text: Any = doc.text
    if type(doc_id) is str and doc_id and type(text) is str:
        return doc
    text = "" if text is None else str(text)
    if doc_id is None or doc_id == "":
        if not text:
            raise _refuse(doc, rank)
        return Document(id_of_text(text), text, {**doc.metadata, "id_source": "text"})
    return Document(str(doc_id), text, dict(doc.metadata))


def _from_string(text: str, rank: int) -> Document:
    text = str(text)
    if not text.strip():
        raise _refuse(text, rank)
    if text.isascii() and len(text) <= _LONGEST_BARE_ID and not any(c.isspace() for c in text):
        return Document(text, text, {"id_source": "string"})
    return Document(id_of_text(text), text, {"id_source": "text"})


def _from_pair(pair: Sequence[Any], rank: int) -> RetrievedDocument:
    if len(pair) == 2:
        for inner, score in (pair, pair[::-1]):
            if _is_number(score) and not _is_number(inner):
                return RetrievedDocument(_one(inner, rank).doc, _score(score), rank)
    raise _refuse(pair, rank)


def _from_fields(raw: Any, fields: dict[str, Any], rank: int) -> RetrievedDocument:
    score_key = first_of(fields, SCORE_KEYS)
    score = _score(fields[score_key]) if score_key else 0.0
    numbered = [k for k in NESTED_KEYS if k in fields and _is_number(fields[k])]  # the number of a chunk, no document
    held = (k for k in NESTED_KEYS if k in fields and k not in numbered)
    nested = next((k for k in held if fields[k] is not None and not isinstance(fields[k], str)), None)
    if nested is not None:
        inner = _one(fields[nested], rank)
        return RetrievedDocument(inner.doc, score if score_key else inner.score, rank)
    text_key = first_of(fields, [k for k in TEXT_KEYS if k not in numbered])
    text = fields[text_key] if text_key else ""
    if not isinstance(text, str):
        raise OutputShapeError(f"document {rank}: its {text_key!r} is {describe(text)}, not a text")
    metadata = _metadata(raw, fields, (text_key, score_key))
    doc_id = _given_id(fields, metadata)
    if doc_id is None:
        if not text:
            raise _refuse(raw, rank, fields)
        doc_id, metadata["id_source"] = id_of_text(text), "text"
    return RetrievedDocument(Document(doc_id, text, metadata), score, rank)


def _given_id(fields: Mapping[str, Any], metadata: dict[str, Any]) -> str | None:
    """Find the id and, beside it, the document that a chunk belongs to."""
    given = [k for k in ID_KEYS if k in fields and _is_given(fields[k])]
    if len(given) > 1 and given[0] == "chunk_id" and not isinstance(fields["chunk_id"], str):
        given = [*given[1:], "chunk_id"]  # a bare number counts chunks inside a document: no id by itself
    doc_id = str(fields[given[0]]) if given else None
    if doc_id is None and (key := next((k for k in _METADATA_ID_KEYS if _is_given(metadata.get(k))), None)):
        doc_id, metadata["id_source"] = str(metadata[key]), f"metadata.{key}"
    if metadata.get("document_id") is None:
        for key in PARENT_KEYS:
            parent = fields[key] if key in fields else metadata.get(key)
            if _is_given(parent) and str(parent) != doc_id:
                metadata["document_id"] = str(parent)
                break
    return doc_id


def _metadata(raw: Any, fields: Mapping[str, Any], used: tuple[str | None, ...]) -> dict[str, Any]:
    """Collect a mapping's other keys (title, url, start, end, …) and its metadata, which wins."""
    metadata: dict[str, Any] = {}
    if isinstance(raw, Mapping):
        metadata = {k: v for k, v in fields.items() if k not in _NO_METADATA and k not in used}
    for key in METADATA_KEYS:
        if key in fields and isinstance(fields[key], Mapping):
            metadata.update(fields[key])
    return metadata


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value)


def _is_number(value: Any) -> bool:
    if isinstance(value, (str, bytes, bool)) or value is None:
        return False
    return hasattr(value, "__float__")


def _score(value: Any) -> float:
    if type(value) is float:
        return value if math.isfinite(value) else 0.0
    try:
        score = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return score if math.isfinite(score) else 0.0


def _refuse(raw: Any, rank: int, fields: Mapping[str, Any] | None = None) -> OutputShapeError:
    hints = ""
    if isinstance(raw, Mapping):
        wanted = ("id", "doc_id", "chunk_id", "text", "page_content", "content")
        near = [f"{k!r}{hint}" for k in fields or () if (hint := did_you_mean(k, wanted)) and k not in _KNOWN]
        hints = f"; {', '.join(near)}" if near else ""
    what = (
        "has neither an id nor a text" if fields is not None or isinstance(raw, (str, Document)) else "is no document"
    )
    return OutputShapeError(
        f"document {rank} {what}: {describe(raw) if not isinstance(raw, str) else short_repr(raw)}{hints}; "
        f"accepted: {ACCEPTED_DOCUMENTS}"
    )
