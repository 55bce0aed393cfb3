"""Scores recorded outputs as if they had just been given: in batches, in as many processes as are wanted.

The texts of the results are in a temporary file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from ..adapters.outputs import to_outputs
from ..base.batches import BATCH_SIZE, LostBatch, in_batches, run_batches
from ..base.progress import Progress
from ..calls.call import CallResult
from ..core.case_texts import ResultFile
from ..core.metrics_base import Metric
from ..core.run import CaseResult
from ..core.scoring import Score
from ..errors import RecordedError
from ..evaluation.case_flow import CaseFlow
from ..evaluation.case_result import Ended, blank_result
from ..evaluation.measure import RECORDED, CaseCall, MeasuredAnswer, judging_bar, measure_calls
from ..evaluation.project_hooks import ProjectHooks
from ..io.golden.model import GoldenSuite
from ..io.streams import RecordedCase, read_recorded
from ..metrics.registry import Registry
from .evaluation import Evaluation, open_evaluation


def score_recorded(
    suite: GoldenSuite,
    outputs: str | os.PathLike[str],
    *,
    registry: Registry | None = None,
    executor: Executor | None = None,
    jobs: int = 1,
    in_flight: int | None = None,
    baseline: str | os.PathLike[str] | None = None,
    variant: str = "",
    calibrations: str | os.PathLike[str] | None = None,
    progress: bool | None = False,
) -> Evaluation:
    """Score the outputs recorded for *suite*; a case without any is not in the run.

    Args:
        suite: the golden file.
        outputs: a JSON object a line, or Parquet with such columns: id, answer, documents, timings (seconds); or id
            and error.
        registry: where metric names are looked up.
        executor: scores; see `base.batches.run_batches`.
        jobs: without an executor, how many processes do; one where judges are asked, under one budget.
        in_flight: how many batches are under way at most.
        baseline: directory or ``.json`` file to use instead of ``__baselines__/`` beside the golden file.
        variant: name of the configuration that gave the outputs.
        calibrations: folder of calibration files; by default ``__calibrations__`` beside the golden file.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.

    Raises:
        GoldenFileError: the outputs are wrong.
        UnsendableError: a metric cannot be sent to another process.
        BaselineError: the baseline is there and cannot be read.
    """
    hooks = ProjectHooks()
    evaluation = open_evaluation(
        suite, registry or hooks.registry, variant=variant, baseline=baseline, calibrations=calibrations
    )
    run, metrics = evaluation.run, evaluation.metrics
    flow = CaseFlow(
        run, metrics, suite.policy, baseline=evaluation.baseline, advisory=evaluation.advisory, cases=suite.cases,
        redact=hooks.redact,
    )  # fmt: skip
    run.provenance = hooks.provenance(suite.name, suite.path)
    if any(metric.judged for metric in metrics.values()):
        jobs = 1
    alone = executor is None and jobs == 1
    texts = ResultFile()
    total = len(suite.cases) - len(suite.skipped)
    judging = judging_bar(metrics, total, show=progress if alone else False)
    with Progress("cases", total, show=progress) as bar, judging:
        score = partial(_score_batch, metrics, judging if alone else None)  # it goes to no other process
        records = (record for record in read_recorded(Path(outputs), suite) if record.case.skip is None)
        scored_batches = run_batches(
            score, in_batches(records, BATCH_SIZE), executor=executor, jobs=jobs, in_flight=in_flight,
            parts={f"metric {name!r}": metric for name, metric in metrics.items()},
            name_of=lambda record: record.case.id,
        )  # fmt: skip
        for batch, scored in scored_batches:
            results = _lost_results(batch, scored, metrics) if isinstance(scored, LostBatch) else scored
            run.add(_conclude(flow, record, result, texts) for record, result in zip(batch, results, strict=True))
            bar.done(len(batch))
    run.add(flow.leave_out(c, Ended("skip", c.skip or "")).result for c in suite.skipped)
    run.cases = {i: run.cases[i] for i in run.expected_ids if i in run.cases}
    return evaluation


def _conclude(flow: CaseFlow, record: RecordedCase, result: CaseResult, texts: ResultFile) -> CaseResult:
    """Return the final result of a case, its texts put away."""
    finished = flow.conclude(record.case, [MeasuredAnswer(result)])
    flow.settle(finished)
    finished.result.texts = texts.store(finished.result.texts.read())
    return finished.result


def _score_batch(
    metrics: Mapping[str, Metric], progress: Progress | None, batch: Sequence[RecordedCase]
) -> list[CaseResult]:
    calls = [CaseCall(record.case, _call(record.raw)) for record in batch]
    # the time it takes to look an answer up is no latency: only recorded timings count
    measured = measure_calls(
        calls, RECORDED, metrics, convert=lambda raw, _: to_outputs(raw), timed=False, progress=progress
    )
    return [answer.result for answer in measured]


def _call(raw: Mapping[str, Any]) -> CallResult:
    error = raw.get("error")
    return CallResult(raw, RecordedError(str(error)) if error else None, attempts=1)


def _lost_results(batch: Iterable[RecordedCase], lost: LostBatch, metrics: Mapping[str, Metric]) -> list[CaseResult]:
    """Return errors under every metric; none of them is asked here about what just ended another process."""
    results = [blank_result(record.case) for record in batch]
    reason = f"LostWorkError: not scored, the worker that had it died ({lost.reason})"
    for result in results:
        result.state, result.error = "error", reason
        result.scores = {name: Score.failed(reason) for name in metrics}
    return results
