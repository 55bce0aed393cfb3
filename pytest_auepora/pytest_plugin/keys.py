"""Names that all parts of the plugin share: where an item has what is ours, and what a project may name."""

from __future__ import annotations

import pytest

from ..io.golden.model import GoldenCase
from .case_reports import CaseReport

SUFFIXES = (".yaml", ".yml", ".jsonl")
"""How the names of golden files end."""
CASE_PARAMETER = "auepora_case"
"""The fixture whose parameters are golden cases."""
MISTAKES = "auepora_mistakes"
"""The attribute of a collection report that lists the mistakes in its golden file."""
CORPUS = "auepora_corpus_ids"
"""The fixture that says what the system can return."""

CASE: pytest.StashKey[GoldenCase] = pytest.StashKey()
"""On an item: its golden case."""
SYSTEM: pytest.StashKey[str] = pytest.StashKey()
"""On an item: the name of the fixture that is asked."""
CASE_REPORTS: pytest.StashKey[list[CaseReport]] = pytest.StashKey()
"""On an item: what it measured, to travel with its report."""
