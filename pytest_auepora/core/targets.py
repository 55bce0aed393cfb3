"""The targets of Auepora by component: retrieval, generation, or the system as a whole."""

from __future__ import annotations

from .types import TargetCategory as T

__all__ = ["GENERATION", "RETRIEVAL", "component_of"]

RETRIEVAL = frozenset({T.RETRIEVAL_RELEVANCE, T.RETRIEVAL_ACCURACY})
GENERATION = frozenset({T.GENERATION_RELEVANCE, T.GENERATION_FAITHFULNESS, T.GENERATION_CORRECTNESS})


def component_of(target: T) -> str:
    """Return ``"retrieval"``, ``"generation"`` or ``"system"``: where to look when a score of *target* is bad."""
    if target in RETRIEVAL:
        return "retrieval"
    return "generation" if target in GENERATION else "system"
