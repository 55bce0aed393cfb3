"""Everything the plugin stores on pytest's objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..io.golden.load import GoldenCase, GoldenSuite
    from .out_of_sight import OutOfSight
    from .session import AueporaSession
    from .xdist import Parcel

__all__ = ["CASE", "CORPUS", "OUT_OF_SIGHT", "PARCELS", "SESSION", "SUFFIXES", "SUITE"]

SUFFIXES = (".yaml", ".yml", ".jsonl")
"""How the names of golden files end."""
CORPUS = "auepora_corpus_ids"
"""The fixture that says what the system can return."""

SESSION: pytest.StashKey[AueporaSession] = pytest.StashKey()
"""On the config: what one process knows."""
OUT_OF_SIGHT: pytest.StashKey[OutOfSight] = pytest.StashKey()
"""On the config: what keeps a large run from the garbage collector."""
CASE: pytest.StashKey[GoldenCase] = pytest.StashKey()
"""On an item: its golden case."""
SUITE: pytest.StashKey[GoldenSuite] = pytest.StashKey()
"""On an item: the suite of its case."""
PARCELS: pytest.StashKey[list[Parcel]] = pytest.StashKey()
"""On an item: what it measured, to travel with its report."""
