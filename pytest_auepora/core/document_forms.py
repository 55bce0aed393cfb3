"""Documents and passages as people name them in golden files: an id, or a mapping that says more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .types import Document, id_of_text

FORBIDDEN_DOCS = "forbidden_docs"
"""Label of a case: documents that must not be returned for it, as such forms."""


def document_of(form: str | Mapping[str, Any]) -> Document:
    """Return the label that *form* stands for, an id or a mapping.

    ``{id, doc}`` is a chunk of a document, ``{doc}`` any chunk of it, ``{doc, quote}`` and ``{doc, span}`` a passage,
    ``{quote}`` one of any document; ``grade``, ``text`` and ``metadata`` may stand beside them.
    """
    if isinstance(form, str):
        return Document(form, "", {})
    metadata, text = dict(form.get("metadata") or ()), form.get("text", "")
    doc_id, quote = form.get("id"), form.get("quote")
    if doc_id is not None:
        metadata |= {"document_id": form["doc"]} if "doc" in form else {}
    elif quote is not None:
        text = quote
        metadata |= {"match": "quote"} if "doc" in form else {"match": "quote", "anywhere": True}
        doc_id = form.get("doc") or id_of_text(quote)
    else:
        doc_id = form["doc"]
        place = {"match": "span", **dict(zip(("start", "end"), form["span"], strict=True))} if "span" in form else {}
        metadata |= place or {"match": "doc"}
    if "grade" in form:
        metadata["grade"] = form["grade"]
    return Document(doc_id, text, metadata)
