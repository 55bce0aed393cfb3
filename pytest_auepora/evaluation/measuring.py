"""Every case of a suite put to a system and judged, once or as often as its plan says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice

from ..adapters.systems import System
from ..core.batches import in_batches
from ..core.calls import Caller
from ..core.metrics_base import Metric
from ..core.progress import Progress
from ..core.run import CaseResult, Run
from ..io.golden import GoldenCase, GoldenSuite
from ..regression.baseline import Baseline
from ..regression.repeat_plan import RepeatPlan
from ..regression.two_stage import wants_more
from .asking import ask_case
from .case import Called, Convert, Observe, measure_cases, skipped_result
from .case_judge import CaseJudge
from .repeats import merge_repeats, widened

__all__ = ["Measuring"]

_TOGETHER = 32  # cases that are measured at once: enough for a model, not many to hold


@dataclass(slots=True)
class Measuring:
    """Fills ``run``; constant in memory unless the plan may come back to a case."""

    run: Run
    suite: GoldenSuite
    system: System
    metrics: Mapping[str, Metric]
    baseline: Baseline | None
    plan: RepeatPlan
    _: KW_ONLY
    caller: Caller
    convert: Convert | None
    seed: int | None
    timed: bool
    advisory: Collection[str]
    observe: Observe | None = None
    progress: bool | None = False

    def measure(self) -> None:
        """Make all calls, and score and judge every case."""
        run, plan = self.run, self.plan
        run.add(skipped_result(c, c.skip, self._where(c)) for c in self.suite.cases if c.skip is not None)
        answered: dict[str, list[CaseResult]] = {}
        todo = [c for c in self.suite.cases if c.skip is None]
        judge = CaseJudge(run, self.suite.policy, self.baseline, self.advisory)
        with Progress("cases", len(todo), show=self.progress) as bar:
            for case, singles in self._measured(todo, range(plan.first)):
                result, _ = judge.judge(case, singles)
                run.add([result])
                bar.done()
                if plan.two_stage and result.state != "error":
                    answered[case.id] = singles
        if wants_more(run, self.baseline, self.suite.policy, plan, self.advisory):
            again = [c for c in todo if c.id in answered]
            for case, singles in self._measured(again, range(plan.first, plan.total)):
                whole = merge_repeats([*answered[case.id], *singles], run.metrics)
                run.add([widened(run.cases[case.id], whole)])

    def _measured(self, cases: Sequence[GoldenCase], repeats: range) -> Iterator[tuple[GoldenCase, list[CaseResult]]]:
        """Ask *cases* for the *repeats*; yield each with what was measured on every answer."""
        calls = self.caller.map(ask_case(self.system, c, i, seed=self.seed) for c in cases for i in repeats)
        n = len(repeats)
        for batch in in_batches(cases, _TOGETHER):
            called = [Called(case, call, self._where(case)) for case in batch for call in islice(calls, n)]
            measured = iter(
                measure_cases(
                    called, self.system, self.metrics, convert=self.convert, timed=self.timed, observe=self.observe
                )
            )
            for case in batch:
                yield case, list(islice(measured, n))

    def _where(self, case: GoldenCase) -> str:
        return f"{self.run.path}:{case.line}"
