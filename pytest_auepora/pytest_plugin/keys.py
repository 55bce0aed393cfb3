"""Names that all parts of the plugin share: where pytest's objects have what is ours, and what a project may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..io.golden.model import GoldenCase
    from .session import AueporaSession, SessionSuite
    from .xdist import CaseReport

SUFFIXES = (".yaml", ".yml", ".jsonl")
"""How the names of golden files end."""
CORPUS = "auepora_corpus_ids"
"""The fixture that says what the system can return."""

SESSION: pytest.StashKey[AueporaSession] = pytest.StashKey()
"""On the config."""
CASE: pytest.StashKey[GoldenCase] = pytest.StashKey()
"""On an item: its golden case."""
SUITE: pytest.StashKey[SessionSuite] = pytest.StashKey()
"""On an item: the suite of its case."""
CASE_REPORTS: pytest.StashKey[list[CaseReport]] = pytest.StashKey()
"""On an item: what it measured, to travel with its report."""
