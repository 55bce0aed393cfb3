"""A case with labelled chunks, and what a system found of them."""

from __future__ import annotations

from typing import Any

from pytest_auepora.core.types import Document

from .samples import case, gave

CHUNKS: list[dict[str, Any]] = [
    {"id": "a", "topically_relevant": True, "evidence_sufficient": False, "misleading": False},
    {"id": "b", "topically_relevant": True, "evidence_sufficient": True, "misleading": False},
    {"id": "c", "topically_relevant": False, "evidence_sufficient": False, "misleading": True},
    {"id": "d", "topically_relevant": True, "evidence_sufficient": True, "misleading": False},
]
SAMPLE = case(chunk_labels=CHUNKS)


def got(*ids: str) -> Any:
    return gave("x", *(Document(i, f"text of {i}") for i in ids))


ANSWER = "Refunds take 30 days [1]."
