"""Every case of a suite put to a system and judged, once or as often as its plan says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ..adapters.systems import System
from ..core.batches.series import in_batches
from ..core.calls import Caller
from ..core.progress import Progress
from ..core.run import CaseResult
from ..io.golden.load import GoldenCase
from ..regression.two_stage import wants_more
from .asking import ask_case
from .case import Called, Convert, Observe, measure_cases, skipped_result
from .case_judge import CaseJudge
from .repeats import merge_repeats, widened

if TYPE_CHECKING:
    from .suite import Evaluation

__all__ = ["Measuring"]

_TOGETHER = 32  # cases that are measured at once: enough for a model, not many to hold


@dataclass(slots=True)
class Measuring:
    """Fills the run of ``evaluation``; constant in memory unless the plan may come back to a case."""

    evaluation: Evaluation
    system: System
    _: KW_ONLY
    caller: Caller
    convert: Convert | None
    seed: int | None
    timed: bool
    observe: Observe | None = None
    progress: bool | None = False

    def measure(self) -> None:
        """Make all calls, and score and judge every case."""
        out, run, suite, plan = self.evaluation, self.evaluation.run, self.evaluation.suite, self.evaluation.plan
        run.add(skipped_result(c, c.skip, self._where(c)) for c in suite.cases if c.skip is not None)
        answered: dict[str, list[CaseResult]] = {}
        todo = [c for c in suite.cases if c.skip is None]
        judge = CaseJudge(run, suite.policy, out.baseline, out.advisory)
        with Progress("cases", len(todo), show=self.progress) as bar:
            for case, singles in self._measured(todo, range(plan.first)):
                result, _ = judge.judge(case, singles)
                run.add([result])
                bar.done()
                if plan.two_stage and result.state != "error":
                    answered[case.id] = singles
        if wants_more(run, out.baseline, suite.policy, plan, out.advisory):
            again = [c for c in todo if c.id in answered]
            for case, singles in self._measured(again, range(plan.first, plan.total)):
                whole = merge_repeats([*answered[case.id], *singles], run.metrics)
                run.add([widened(run.cases[case.id], whole)])

    def _measured(self, cases: Sequence[GoldenCase], repeats: range) -> Iterator[tuple[GoldenCase, list[CaseResult]]]:
        """Ask *cases* for the *repeats*; yield each with what was measured on every answer."""
        asks = (ask_case(self.system, c, i, seed=self.seed) for c in cases for i in repeats)
        calls = self.caller.map(asks, (c.timeout for c in cases for _ in repeats))
        n, metrics = len(repeats), self.evaluation.metrics
        for batch in in_batches(cases, _TOGETHER):
            called = [Called(case, call, self._where(case)) for case in batch for call in islice(calls, n)]
            measured = iter(
                measure_cases(
                    called, self.system, metrics, convert=self.convert, timed=self.timed, observe=self.observe
                )
            )
            for case in batch:
                yield case, list(islice(measured, n))

    def _where(self, case: GoldenCase) -> str:
        return f"{self.evaluation.run.path}:{case.line}"
