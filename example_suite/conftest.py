"""What pytest needs of a project: a fixture called ``rag`` that returns the system under test."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_auepora.core.rag_interface import SimpleRAGSystem

from .simple_rag import Breakage, build_rag


@pytest.fixture(scope="session")
def rag() -> SimpleRAGSystem:
    """The system under test, built once; whole unless AUEPORA_EXAMPLE_BREAK says otherwise."""
    return build_rag(Breakage.from_environment())


@pytest.hookimpl(optionalhook=True)
def pytest_auepora_provenance() -> dict[str, Any]:
    """Say what the answers stand on.  Stored with the baseline, and shown where it differs from it."""
    return {
        "corpus": f"Python language reference {sys.version_info.major}.{sys.version_info.minor}",
        "retriever": "bm25s lucene k1=1.2 b=0.75, Porter stems",
    }
