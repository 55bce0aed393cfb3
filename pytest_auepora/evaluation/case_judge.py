"""One measured case to its verdict: repeats merged, held against its own thresholds and its baseline."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..core.run import CaseResult, Run
from ..io.golden.load import GoldenCase
from ..regression.baseline.model import Baseline
from ..regression.compare.cases import CaseComparison, compare_case, flip_of
from ..regression.compare.comparability import incomparable_metrics
from ..regression.guards.case_guard import judge_case
from ..regression.guards.worst_repeat import note_worst
from ..regression.policy import RegressionPolicy
from .repeats import merge_repeats

__all__ = ["CaseJudge"]


class CaseJudge:
    """Judges the cases of *run*, each by itself and beside *baseline*.

    Of the run only its metrics and its provenance are looked at, so it may still be empty.  What *advisory* metrics
    say fails no case.  While *accepting*, cases are compared with the baseline and not held to it.
    """

    def __init__(
        self,
        run: Run,
        policy: RegressionPolicy,
        baseline: Baseline | None,
        advisory: Collection[str],
        *,
        accepting: bool = False,
    ) -> None:
        self.run, self.policy, self.baseline = run, policy, baseline
        self.advisory, self.accepting = advisory, accepting
        self.incomparable = incomparable_metrics(run, baseline) if baseline is not None else {}

    def judge(self, case: GoldenCase, singles: Sequence[CaseResult]) -> tuple[CaseResult, CaseComparison | None]:
        """Merge the repeats of *case* and judge what comes of them; with it how it compares with its baseline."""
        infos, baseline = self.run.metrics, self.baseline
        result = merge_repeats(singles, infos)
        comparison: CaseComparison | None = None
        if baseline is not None:
            comparison = compare_case(result, baseline.cases.get(case.id), infos, self.incomparable)
        held_to = None if self.accepting else comparison
        judge_case(result, case.thresholds, infos, held_to, self.policy, advisory=self.advisory)
        if comparison is not None and comparison.before is not None and comparison.paired:
            comparison.flip = flip_of(comparison.before, result)
        note_worst(result, singles, held_to, infos, policy=self.policy, advisory=self.advisory)
        return result, comparison
