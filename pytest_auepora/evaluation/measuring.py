"""Every case of a suite put to a system and judged, asked once or `repeat` times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ..adapters.systems import System
from ..calls.caller import Caller
from ..core.batches.series import in_batches
from ..core.progress import Progress
from ..core.run import CaseResult
from ..io.golden.load import GoldenCase
from .asking import ask_case
from .case import Called, Convert, Observe, measure_cases, skipped_result
from .case_judge import CaseJudge

if TYPE_CHECKING:
    from .suite import Evaluation

__all__ = ["Measuring"]

_TOGETHER = 32  # cases that are measured at once: enough for a model, not many to hold


@dataclass(slots=True)
class Measuring:
    """Fills the run of ``evaluation``."""

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
        out, run, suite = self.evaluation, self.evaluation.run, self.evaluation.suite
        run.add(skipped_result(c, c.skip, self._where(c)) for c in suite.cases if c.skip is not None)
        todo = [c for c in suite.cases if c.skip is None]
        judge = CaseJudge(run, suite.policy, out.baseline, out.advisory)
        with Progress("cases", len(todo), show=self.progress) as bar:
            for case, singles in self._measured(todo, range(out.repeat)):
                result, _ = judge.judge(case, singles)
                run.add([result])
                bar.done()

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
