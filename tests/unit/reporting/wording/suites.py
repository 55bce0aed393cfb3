"""A suite of twenty cases, one run of it that its gates fail and one that passes."""

from __future__ import annotations

from typing import Any

from pytest_auepora.core.run import Run
from pytest_auepora.regression.verdict import Verdict

from ..builders import Case, accepted_of, run_of, verdict_of

LABELS = {"must_contain": ["30 days"]}
CASES = [Case(f"case-{n:02}", got=["refunds.md", "x"], labels=LABELS) for n in range(20)]
REFUSAL = "I do not know, sorry."


def sampled(*, varying: int = 20) -> Any:
    """Five accepted answers to each case, of which the last differs in its words."""
    others = "Within 30 days of buying it."
    return accepted_of([[c] * 4 + [c.with_(answer=others) if i < varying else c] for i, c in enumerate(CASES)])


def refusing(n: int, **changes: Any) -> list[Case]:
    """The first *n* cases refuse to answer, and answer when they are asked again."""
    lost = [c.with_(answer=f"{REFUSAL} {c.id}", again=[c], **changes) for c in CASES[:n]]
    return [*lost, *CASES[n:]]


def red_by_gates() -> tuple[Run, Verdict]:
    baseline = sampled()
    run = run_of(refusing(9), baseline=baseline)
    return run, verdict_of(run, baseline=baseline)


def green() -> tuple[Run, Verdict]:
    baseline = sampled()
    run = run_of(CASES, baseline=baseline)
    return run, verdict_of(run, baseline=baseline)
