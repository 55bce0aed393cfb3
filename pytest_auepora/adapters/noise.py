"""Documents in the form in which a retriever gives its own, so that noise can stand among them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..core.types import Document
from ..errors import OutputShapeError
from .documents import ID_KEYS, METADATA_KEYS, NESTED_KEYS, TEXT_KEYS
from .shapes import describe, fields_of, first_of

__all__ = ["made_like"]


def made_like(found: Any) -> Callable[[Document], Any]:
    """Return a function that makes of a `Document` what *found*, a retriever's own list, holds; of none a `Document`.

    Raises:
        OutputShapeError: from the function: that is nothing whose text can be replaced.
    """
    model = next(iter(found or ()), None)

    def made(document: Document) -> Any:
        if model is None or isinstance(model, Document):
            return document
        if isinstance(model, str):
            return document.text
        fields = fields_of(model, (*TEXT_KEYS, *ID_KEYS, *METADATA_KEYS, *NESTED_KEYS)) or {}
        nested, text, name, about = (first_of(fields, k) for k in (NESTED_KEYS, TEXT_KEYS, ID_KEYS, METADATA_KEYS))
        if nested is not None and not isinstance(fields[nested], str):
            changes = {nested: made_like([fields[nested]])(document)}
        elif text is not None and isinstance(fields[text], str):
            changes = {
                text: document.text,
                **({name: document.doc_id} if name else {}),
                **({about: {}} if about else {}),
            }
        else:
            raise OutputShapeError(f"noise_docs: no text can be put into what the retriever gives, {describe(model)}")
        try:
            return _changed(model, changes)
        except (AttributeError, TypeError, ValueError) as exc:
            raise OutputShapeError(f"noise_docs: {describe(model)} cannot be changed: {exc}") from None

    return made


def _changed(model: Any, changes: Mapping[str, Any]) -> Any:
    if isinstance(model, Mapping):
        return {**model, **changes}
    if dataclasses.is_dataclass(model) and not isinstance(model, type):
        return dataclasses.replace(model, **changes)
    new = copy.copy(model)
    for key, value in changes.items():
        setattr(new, key, value)
    return new
