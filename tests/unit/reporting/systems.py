"""Configurations of one system on one golden set, for what shows them side by side."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pytest_auepora.core.run import Run

from .builders import METRICS, Case, run_of


def system(
    variant: str, hits: float, n: int = 60, *, names: Sequence[str] = METRICS, seconds: float = 0.1, seed: int = 1
) -> Run:
    """Answer *n* cases; a share of *hits* finds the document and gives the answer, and more of it finds the same."""
    rng = random.Random(seed)
    cases = [
        Case(
            f"case-{i:03}",
            got=["refunds.md"] if (found := luck < hits) else ["index.md"],
            answer="Within 30 days of purchase." if found else "I do not know.",
            thresholds={"recall@5": 0.5},
            seconds=seconds * (1 + luck),
            line=10 + i,
        )
        for i in range(n)
        for luck in [rng.random()]
    ]
    return run_of(cases, names, variant=variant)
