"""Data sets of other tools to golden files, and back where the format can hold it."""

from __future__ import annotations

from .golden import golden_text, write_golden
from .model import ImportedSuite, ImportProblem
from .registry import FORMATS, export_cases, import_cases

__all__ = [
    "FORMATS",
    "ImportProblem",
    "ImportedSuite",
    "export_cases",
    "golden_text",
    "import_cases",
    "write_golden",
]
