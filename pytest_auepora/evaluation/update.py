"""How many answers an update asks of each case (SPEC 4.1): two, or five where answers vary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ..core.run import CaseResult, MetricInfo
from ..regression.baseline import Baseline

STEADY_ANSWERS = 2
"""Answers to each case of a system that answers alike."""
VARYING_ANSWERS = 5
"""Answers to each case of a system that varies: the fewest by which the case rule can rule chance out."""

_USAGE = ("LATENCY", "OPERATIONAL")


def deciding_metrics(metrics: Mapping[str, MetricInfo], advisory: Collection[str]) -> frozenset[str]:
    """Return the metrics whose values say whether a system varies: baselined, neither time nor usage, no judge's that
    cannot fail the run.
    """
    return frozenset(
        name for name, info in metrics.items()
        if info.baselined and info.target not in _USAGE and name not in advisory
    )  # fmt: skip


@dataclass(eq=False)
class UpdatePlan:
    """How many answers each case of a suite is asked for, in the order in which they are asked.

    Attributes:
        deciding: the metrics that say whether a system varies.
        baseline: what is accepted so far.
        repeat: how many answers make the scores of a case.
        again: how many more are asked for, where the golden file says so; else two or five answers are.
        can_return: whether earlier cases can be asked again behind the suite.
        only_new: whether only cases that the baseline does not have are accepted, and so asked again.
        varies: whether two answers to a case differed.
    """

    deciding: Collection[str]
    baseline: Baseline | None = None
    repeat: int = 1
    again: int | None = None
    can_return: bool = True
    only_new: bool = False
    varies: bool = field(init=False)

    def __post_init__(self) -> None:
        """See what the baseline says."""
        cases = self.baseline.cases.values() if self.baseline is not None else ()
        self.varies = any(
            isinstance(case.answered, list)
            or any(isinstance(held, list) for held in case.assertions.values())
            or any(isinstance(case.scores.get(name), list) for name in self.deciding)
            for case in cases
        )

    def answers(self, case_id: str) -> int:
        """Return how many answers to ask of a case, those that make its scores included."""
        if self.only_new and self.baseline is not None and case_id in self.baseline.cases:
            return self.repeat
        if self.again is not None:
            return self.repeat + self.again
        return max(self.repeat, VARYING_ANSWERS if self.varies or not self.can_return else STEADY_ANSWERS)

    def notice(self, result: CaseResult) -> None:
        """See whether the answers to a case differ."""
        answers = result.answers
        if self.varies or answers is None:
            return
        scores = [answers.values[name] for name in self.deciding if name in answers.values]
        rounded = [{round(v, 4) if isinstance(v, (int, float)) else v for v in column} for column in scores]
        held = [{*column} for column in (answers.answered, *answers.assertions.values())]
        self.varies = max(map(len, rounded), default=1) > 1 or max(map(len, held)) > 1

    def missing(self, results: Mapping[str, CaseResult]) -> dict[str, int]:
        """Return how many more answers to ask for behind the suite, by case."""
        asked = {case_id: result for case_id, result in results.items() if result.state != "skipped"}
        wanted = {case_id: self.answers(case_id) - result.n_answers for case_id, result in asked.items()}
        return {case_id: n for case_id, n in wanted.items() if n > 0}

    def calls(self, case_ids: Collection[str]) -> tuple[int, int]:
        """Return how many calls the update takes: as far as is known, and at most, where answers turn out to vary."""
        known = sum(map(self.answers, case_ids))
        if self.again is not None or self.varies:
            return known, known
        most = max(self.repeat, VARYING_ANSWERS)
        return known, sum(
            max(self.answers(i), most) if self.answers(i) > self.repeat else self.repeat for i in case_ids
        )
