"""What an answer cites, wherever it says so."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ..core.types import SystemOutputs
from ..errors import MetricError

__all__ = ["citations_of"]

_MARKER = r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]"
_CITED_BY = ("id", "doc_id", "chunk_id", "document_id", "citation", "source", "path")


def citations_of(outputs: SystemOutputs) -> list[Any]:
    """Return what the answer cites: ids, or ranks as whole numbers; see `coverage.CitationCoverage`.

    Raises:
        MetricError: the citations are no list.
    """
    given = outputs.response.metadata.get("citations")
    if given is None and outputs.response.structured:
        given = outputs.response.structured.get("citations")
    if given is None:
        text = outputs.response.text or ""
        marked = re.findall(_MARKER, text) if "[" in text else ()
        return [int(number) for group in marked for number in re.split(r"\s*[,;]\s*", group)]
    if isinstance(given, (str, Mapping)):
        given = [given]
    if not isinstance(given, Collection):
        raise MetricError(f"citations must be a list, got {type(given).__name__}")
    return [_cited(citation) for citation in given]


def _cited(citation: Any) -> Any:
    if not isinstance(citation, Mapping):
        return citation
    return next((citation[key] for key in _CITED_BY if citation.get(key) not in (None, "")), "")
