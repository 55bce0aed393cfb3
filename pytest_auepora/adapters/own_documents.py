"""A document in the form of a system's own: noise, and documents that an earlier run retrieved."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.types import Document, RetrievedDocument
from ..errors import OutputShapeError
from .documents import (
    ID_SOURCE,
    KNOWN_KEYS,
    METADATA_KEYS,
    NESTED_KEYS,
    PARENT_KEYS,
    SCORE_KEYS,
    TEXT_KEYS,
    is_number,
    key_of_id,
)
from .shapes import describe, fields_of, first_of

Convert = Callable[[Document | RetrievedDocument], Any]


def converter_for(examples: Any, what: str = "noise_docs") -> Convert:
    """Return a function that converts a document to the type of *examples*, a retriever's own list.

    Without examples it returns the document; it raises `OutputShapeError`, which begins with *what* is converted, where
    an example has no text to replace.
    """
    example = next(iter(() if examples is None else examples), None)

    def convert(given: Document | RetrievedDocument) -> Any:
        document, score = (given.doc, given.score) if isinstance(given, RetrievedDocument) else (given, None)
        return document if example is None else _in_form(example, document, score, what)

    return convert


def own_metadata(document: Document) -> dict[str, Any]:
    """Return the metadata of *document* as the system gave them, without what was added when it was read."""
    metadata = {key: value for key, value in document.metadata.items() if key != ID_SOURCE}
    parent = PARENT_KEYS[0]
    if any(metadata.get(key) == metadata.get(parent) for key in PARENT_KEYS[1:] if key in metadata):
        metadata.pop(parent, None)
    return metadata


def _in_form(example: Any, document: Document, score: float | None, what: str) -> Any:
    if isinstance(example, RetrievedDocument):
        return RetrievedDocument(document, score or 0.0, example.rank)
    if isinstance(example, Document):
        return document
    if isinstance(example, str):
        return document.text
    if isinstance(example, (tuple, list)) and not hasattr(example, "_fields"):
        return _pair(example, document, score, what)
    fields = fields_of(example, KNOWN_KEYS) or {}
    nested_key, text_key, score_key = (first_of(fields, keys) for keys in (NESTED_KEYS, TEXT_KEYS, SCORE_KEYS))
    changes: dict[str, Any] = {}
    if nested_key is not None and not isinstance(fields[nested_key], str):
        changes[nested_key] = _in_form(fields[nested_key], document, score, what)
    elif text_key is not None and isinstance(fields[text_key], str):
        changes = _changes(example, fields, document) | {text_key: document.text}
    else:
        raise OutputShapeError(f"{what}: no text can be put into what the retriever gives, {describe(example)}")
    if score_key is not None and score is not None:
        changes[score_key] = score
    try:
        return _replace_fields(example, changes)
    except (AttributeError, TypeError, ValueError) as exc:
        raise OutputShapeError(f"{what}: {describe(example)} cannot be changed: {exc}") from None


def _pair(example: Sequence[Any], document: Document, score: float | None, what: str) -> Any:
    """Return a document and its score, in the order and the type of *example*."""
    if sum(map(is_number, example)) != len(example) - 1:
        raise OutputShapeError(f"{what}: no text can be put into what the retriever gives, {describe(example)}")
    parts = [
        (part if score is None else score) if is_number(part) else _in_form(part, document, score, what)
        for part in example
    ]
    return tuple(parts) if isinstance(example, tuple) else parts


def _changes(example: Any, fields: Mapping[str, Any], document: Document) -> dict[str, Any]:
    """Return id and metadata of *document* by the fields of *example* that hold them."""
    own, metadata_key, id_key = own_metadata(document), first_of(fields, METADATA_KEYS), key_of_id(fields)
    changes: dict[str, Any] = {id_key: document.doc_id} if id_key else {}
    if PARENT_KEYS[0] in own and (parent_keys := [k for k in PARENT_KEYS if k != id_key and fields.get(k) is not None]):
        changes |= dict.fromkeys(parent_keys, own.pop(PARENT_KEYS[0]))
    if isinstance(example, Mapping):  # its other keys were read as metadata
        changes |= {key: value for key, value in own.items() if key in example or metadata_key is None}
    if metadata_key is not None:
        changes[metadata_key] = {key: value for key, value in own.items() if key not in changes}
    return changes


def _replace_fields(example: Any, changes: Mapping[str, Any]) -> Any:
    if isinstance(example, Mapping):
        return {**example, **changes}
    if dataclasses.is_dataclass(example) and not isinstance(example, type):
        return dataclasses.replace(example, **changes)
    changed = copy.copy(example)
    for key, value in changes.items():
        setattr(changed, key, value)
    return changed
