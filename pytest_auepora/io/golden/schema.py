"""JSON Schema of golden files, for editors: completion, descriptions, and red lines before any run."""

from __future__ import annotations

from typing import Any

from .fields import CASE, SUITE

__all__ = ["golden_schema"]


def golden_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a golden file in YAML, made from the tables the reader uses.

    What takes more than one value to see stays with the reader: unique ids, known metrics, sound thresholds.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Golden file of pytest-auepora",
        "description": "Questions, what is known about the right answers, and the gates a RAG system has to pass.",
        **SUITE.schema(),
        "$defs": {"case": CASE.schema()},
    }
