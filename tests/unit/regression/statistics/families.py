"""Short ways to judge one metric."""

from __future__ import annotations

from typing import Any

from pytest_auepora.regression.statistics import family
from pytest_auepora.regression.statistics.family import MemberVerdict


def binary(n: int, losses: int, wins: int = 0) -> dict[str, float]:
    """n cases of a metric that is 0 or 1: first the losses, then the wins, then the unchanged."""
    return {f"c{i:04}": -1.0 if i < losses else 1.0 if i < losses + wins else 0.0 for i in range(n)}


def judge_member(differences: dict[str, float], **settings: Any) -> MemberVerdict:
    return family.judge_family([family.Member("hit@5", differences, **settings)], {})[0]
