"""A recorded answer, measured again with the metrics and the golden case of today."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.metrics_base import Metric
from ..core.run import CaseResult, MetricInfo
from ..core.scores import Score
from ..core.scoring import failed_scores
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import NotRecordedError
from ..io.golden.load import GoldenCase
from ..metrics.ranking.matching import ranks_of_relevant
from ..regression.baseline.model import metric_key
from .answer_summary import shown_outputs
from .recording import RecordedAnswer

__all__ = ["remeasured"]


def remeasured(
    case: GoldenCase, recorded: RecordedAnswer, metrics: Mapping[str, Metric], blank: CaseResult
) -> CaseResult:
    """Fill *blank*, the result of a case of which only the golden file is known, from a recorded answer.

    Times are those of the recorded call.  A score of a metric that is not deterministic, or that reads what was not
    recorded, is the one it had then if the metric has the same version and parameters; where it has none, what was
    not recorded is an error of that metric.
    """
    raw, result = recorded.raw, blank
    result.seconds, result.concurrency = raw["seconds"], raw["concurrency"]
    if recorded.run_id:
        result.extra["recorded_in"] = recorded.run_id
    if not recorded.is_answer:
        result.state, result.error = "error", raw["error"]
        result.scores = failed_scores(metrics.values(), case.sample, (raw["error"] or "?").splitlines()[0])
        return result
    outputs = recorded.parts().restore()
    then = {name: score for name, score in recorded.scores().items() if _same(name, recorded, metrics)}
    result.scores = {name: _score(m, case.sample, outputs, then.get(name)) for name, m in metrics.items()}
    if "shown" in raw:
        result.outputs, result.ranks = raw["shown"], raw["ranks"]
    else:
        result.outputs, result.ranks = shown_outputs(case.sample, outputs), ranks_of_relevant(case.sample, outputs)
    return result


def _same(name: str, recorded: RecordedAnswer, metrics: Mapping[str, Metric]) -> bool:
    return name in metrics and recorded.keys.get(name) == metric_key(MetricInfo.of(metrics[name]))


def _score(metric: Metric, sample: EvaluationSample, outputs: SystemOutputs, then: Score | None) -> Score:
    if then is not None and not metric.deterministic and then.state != "error":
        return then
    try:
        return Score.of(metric.measure(sample, outputs))
    except NotRecordedError as exc:
        return then or Score.failed(f"cannot be measured again: {exc}")
    except Exception as exc:
        return Score.failed(f"{type(exc).__name__}: {exc}")
