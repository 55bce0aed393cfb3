"""What a golden file says, once it is read: a suite and its cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...base.complaints import Problem
from ...core.types import EvaluationSample
from ...regression.policy import RegressionPolicy
from ...regression.thresholds import Bound, Gate

DRAFT = "a draft: accept it with auepora review"
"""Why a case of ``status: draft`` is not run."""


@dataclass(slots=True)
class GoldenCase:
    """One golden case.

    Attributes:
        sample: the question and everything known about the right answer.
        line, col: where it starts in the file, both 1-based.
        tags: its own tags, or those it inherits; the tags of the suite are not repeated here.
        thresholds: bounds on its own scores; ``case_thresholds`` of the file merged in, the case's own win.
        top_k: how many documents the system is asked for.
        cluster: cases of one cluster are not independent of each other: the explicit key, else the cluster of the
            case it is a variant of, else its own id.
        content_hash: of everything that decides what a score of this case means; equal for equal content, whatever
            the order of keys.  Tags, thresholds, ``skip`` and other matters of running are no part of it.
        must_pass: whether the case may not fail whatever the suite's thresholds tolerate.
        quarantine: ISO date until which the case guard leaves it alone.
        skip: why it is not run, or None.
        xfail: why it is expected to fail, or None.
        timeout: seconds one call may take, or None.
        moved: what became of labels whose chunks have other ids now, and how the case is matched (see
            `labels.check.relabel`); None as long as every label is where it was.
        benchmark: options of the timing (rounds, iterations, warmup_rounds, group), or None if it is not timed.
        resources: whether processor time and memory are sampled around its calls, for metrics of the suite.
    """

    sample: EvaluationSample
    line: int = 0
    col: int = 0
    tags: tuple[str, ...] = ()
    thresholds: dict[str, tuple[Bound, ...]] = field(default_factory=dict)
    top_k: int = 5
    cluster: str = ""
    content_hash: str = ""
    must_pass: bool = False
    quarantine: str | None = None
    skip: str | None = None
    xfail: str | None = None
    timeout: float | None = None
    benchmark: dict[str, Any] | None = None
    moved: dict[str, Any] | None = None
    resources: bool = False

    @property
    def id(self) -> str:
        """The name it goes by everywhere."""
        return self.sample.sample_id


@dataclass(slots=True)
class GoldenSuite:
    """All cases of one golden file, and how they are to be judged.

    ``warnings`` name thresholds that cannot fail; ``line`` is that of ``suite:``, else the first.
    """

    name: str
    path: Path
    owner: str = ""
    top_k: int = 5
    metrics: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    policy: RegressionPolicy = field(default_factory=RegressionPolicy)
    cases: Sequence[GoldenCase] = ()
    fixture: str = "rag"
    tags: tuple[str, ...] = ()
    description: str = ""
    repeat: int = 1
    owners: dict[str, str] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    line: int = 1

    @property
    def skipped(self) -> list[GoldenCase]:
        """The cases that are not run."""
        return [case for case in self.cases if case.skip is not None]

    def case(self, case_id: str) -> GoldenCase:
        """Return the case called *case_id*.

        Raises:
            KeyError: there is none.
        """
        for case in self.cases:
            if case.id == case_id:
                return case
        raise KeyError(case_id)
