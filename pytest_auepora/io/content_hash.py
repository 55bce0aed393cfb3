"""The content hash: whether two golden cases ask for the same, whatever their order and their ids."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring as _quote
from typing import Any

from ..core.types import Document

__all__ = ["content_hash"]

_MEANING = frozenset((
    "query", "relevant_docs", "candidate_docs", "reference_answer", "must_contain", "forbidden", "match", "expect",
    "expect_change", "entities", "nuggets", "sensitive", "claims", "answer_schema", "labels", "metadata",
))  # fmt: skip
_DOCUMENTS = frozenset(("relevant_docs", "candidate_docs"))
_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str, check_circular=False
).encode


def content_hash(said: Mapping[str, Any]) -> str:
    """Hash what decides the meaning of a case's scores: 12 hexadecimal digits of SHA-256 over canonical JSON.

    Neither the order of keys and of relevant documents counts, nor whether a default is written out.
    """
    parts = []
    for name in _meaningful(tuple(said)):
        value = said[name]
        if name in _DOCUMENTS:
            # most are known by their ids alone, which needs no call
            texts = [_document(doc) if doc.metadata or doc.text else _quote(doc.doc_id) for doc in value]
            texts.sort()
            parts.append(f'"{name}":[{",".join(texts)}]')
        elif value and (name != "match" or value != "word"):
            parts.append(f'"{name}":{_quote(value) if type(value) is str else _json(value)}')
    return hashlib.sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()[:12]


@lru_cache(maxsize=256)
def _meaningful(keys: tuple[str, ...]) -> list[str]:
    """Those of *keys* that count, in the order they are hashed; the cases of a file have few sets of keys."""
    return sorted(_MEANING.intersection(keys))


def _json(value: Any) -> str:
    """Canonical JSON; what most values are, lists of text, is written here: that is faster."""
    if type(value) is list:
        if len(value) == 1 and type(value[0]) is str:
            return f"[{_quote(value[0])}]"
        if all(type(part) is str for part in value):
            return f"[{','.join(map(_quote, value))}]"
    return _encode(value)


def _document(doc: Document) -> str:
    """Canonical JSON of a document of which there is more to say than its id; this may be no more than the default."""
    metadata = doc.metadata
    if not metadata:
        return f"[{_quote(doc.doc_id)},{_quote(doc.text)},{{}}]"
    grade = metadata.get("grade")
    if len(metadata) == 1 and type(grade) is int and grade != 1:  # written here: a JSON encoder costs ten times that
        return f'[{_quote(doc.doc_id)},{_quote(doc.text)},{{"grade":{grade}}}]'
    metadata = {k: v for k, v in metadata.items() if k != "grade" or v != 1}
    return _encode([doc.doc_id, doc.text, metadata]) if metadata or doc.text else _quote(doc.doc_id)
