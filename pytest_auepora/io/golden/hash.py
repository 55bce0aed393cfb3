"""The content hash: whether two golden cases ask for the same, whatever their order and their ids."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring as _quote
from typing import Any

import orjson

from ...core.types import Document

_RUNNING = frozenset((
    "id", "scenario", "variant_of", "cluster", "tags", "thresholds", "top_k", "status", "skip", "xfail", "timeout",
    "must_pass", "quarantine", "benchmark",
))  # fmt: skip
"""Keys that do not change what is asked: what the case is called and grouped by, and how it is run."""

_DOCUMENTS = frozenset(("relevant_docs", "candidate_docs"))
_encode = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str, check_circular=False
).encode


def content_hash(said: Mapping[str, Any]) -> str:
    """Hash what decides the meaning of a case's scores: 12 hexadecimal digits of SHA-256 over canonical JSON.

    Neither the order of keys and of relevant documents counts, nor whether a default is written out.
    """
    parts: dict[str, Any] = {}
    for name in _meaningful(tuple(said)):
        value = said[name]
        if name in _DOCUMENTS:
            # most are known by their ids alone, which needs no call
            texts = [_document(doc) if doc.metadata or doc.text else _quote(doc.doc_id) for doc in value]
            texts.sort()
            parts[name] = orjson.Fragment(f"[{','.join(texts)}]")
        elif value and (name != "match" or value != "word"):
            parts[name] = value if _is_text(value) else orjson.Fragment(_encode(value))
    # of text both write the same, orjson in a tenth of the time; whatever else there is was written by `json`
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:12]


@lru_cache(maxsize=256)
def _meaningful(keys: tuple[str, ...]) -> list[str]:
    """Those of *keys* that count, in the order they are hashed; the cases of a file have few sets of keys."""
    return sorted(set(keys) - _RUNNING)


def _is_text(value: Any) -> bool:
    """Whether it is a text or a list of texts."""
    return type(value) is str or (type(value) is list and all(type(part) is str for part in value))


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
