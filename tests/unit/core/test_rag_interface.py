"""A system of a retriever and a generator."""

from __future__ import annotations

import pytest

from pytest_auepora.core.rag_interface import RAGSystemProtocol
from pytest_auepora.core.types import EvaluationSample

from .test_library import SYSTEM


def test_a_simple_system_times_its_parts() -> None:
    timings = SYSTEM.run(EvaluationSample("1", "red"), top_k=1).timings
    assert timings["retrieval"] + timings["generation"] == pytest.approx(timings["end_to_end"])
    assert isinstance(SYSTEM, RAGSystemProtocol)
