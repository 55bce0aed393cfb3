"""Outcomes of gates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_auepora.core.run import Run
from pytest_auepora.regression.outcomes import GateOutcome, Test

from ..builders import infos_of

RUN = Run("shop", metrics=infos_of(["recall@5", "token_f1", "mean_latency", "p95_latency"]))
TEST = Test(
    alpha=0.05, p=0.004, p_adjusted=0.0132, p_gain=1.0, drop=0.21, min_effect=0.01, margin=0.05, clusters=60, members=6,
    n_worse=15, n_better=2, lower=-0.3, detectable=0.05, detectable_answers=6,
)  # fmt: skip


def gate(**changes: Any) -> GateOutcome:
    return GateOutcome(
        **{"kind": "regression", "state": "passed", "metric": "token_f1", "n": 60, "total": 60, **changes}
    )


def member(word: str, state: str = "passed", **changes: Any) -> GateOutcome:
    return gate(
        state=state, word=word, before=0.92, value=0.71, method="statistical", test=replace(TEST, **changes)
    )  # fmt: skip
