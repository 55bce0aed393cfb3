"""What pytest needs of a project: a fixture called ``rag`` that returns the system under test."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_auepora.core.rag_interface import SimpleRAGSystem
from pytest_auepora.core.types import Document

from .corpus import CHUNK_CHARS, LONG_CHUNK_CHARS
from .simple_rag import K1, B, Breakage, build_rag, chunks_for


@pytest.fixture(scope="session")
def rag() -> SimpleRAGSystem:
    """The system under test, built once; whole unless AUEPORA_EXAMPLE_BREAK says otherwise."""
    return build_rag(Breakage.from_environment())


@pytest.fixture(scope="session")
def auepora_corpus_ids() -> list[Document]:
    """What can be retrieved, with texts: labels that moved are told from chunks that were not found."""
    return chunks_for(Breakage.from_environment())


@pytest.hookimpl(optionalhook=True)
def pytest_auepora_provenance() -> dict[str, Any]:
    """Say what the answers stand on.  Stored with the baseline, and shown where it differs from it."""
    chars = LONG_CHUNK_CHARS if Breakage.from_environment() is Breakage.RECHUNK else CHUNK_CHARS
    return {
        "chunker_version": f"paragraphs up to {chars} characters",
        "corpus": f"Python language reference {sys.version_info.major}.{sys.version_info.minor}",
        "retriever": f"BM25 k1={K1} b={B}, Porter stems",
    }
