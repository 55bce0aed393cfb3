"""What running the system costs: errors, missed deadlines, retries, processor time, memory.

Read from ``outputs.extra``: ``status``, ``retry``, ``tools``, ``resources``; see `core.telemetry.REPORTED`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.metrics_base import CaseScore, Measurement, NotApplicable
from ...core.types import EvaluationSample, MetricResult, SystemOutputs, TargetCategory
from ...errors import MetricError
from ..additional import seconds_of
from ..options import Configured, DoesNotApply, limited, needed
from ..values import nonempty, read_entries, read_list, read_number

CLIENT_ABORT = 499


class Operational(Configured):
    """Base of the metrics over what a service reports; lower is better, and nothing is compared with a baseline."""

    target = TargetCategory.OPERATIONAL
    direction = "lower"
    deterministic = False
    baselined = False
    oracle = "counted"


class ErrorRatePer1k(Operational):
    """Requests of a thousand that end in an error: 4xx, 5xx, or a call that raised; client aborts do not count.

    ``extra["status"]`` is the HTTP status; an answer without one is a success.
    """

    stem = "error_rate_per_1k"
    range = (0.0, 1000.0)
    version = 2
    formula = "1000 * calls that raised or have status 4xx or 5xx / calls, without client aborts"
    source = "operational metrics: 4xx/5xx per 1k requests"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a for a client abort: ``extra["aborted"]``, or 499.  Details: ``status``; an error if none of HTTP."""
        status = outputs.extra.get("status")
        needed(not outputs.extra.get("aborted") and status != CLIENT_ABORT, "aborted by the client")
        if status is None:
            return Measurement(0.0)
        if not isinstance(status, int) or not 100 <= status < 600:
            raise MetricError(f"status must be an HTTP status, got {status!r}")
        return Measurement(1000.0 if status >= 400 else 0.0, details={"status": status})

    def measure_failure(self, error: BaseException) -> CaseScore:
        """Return 1000 for a call that raised; n/a where its ``status`` is that of a client abort."""
        aborted = getattr(error, "status", None) == CLIENT_ABORT
        return NotApplicable("aborted by the client") if aborted else Measurement(1000.0)


class TimeoutRate(Operational):
    """Share of the calls that took longer than their soft deadline.

    Options:
        soft_deadline_ms: the deadline; without it that of ``extra``, then of the case's labels or metadata,
            under the same name.
        timing_key: which timing is held against it.
    """

    soft_deadline_ms: float | None = limited(
        None, lambda ms: ms is None or (isinstance(ms, (int, float)) and 0 < ms < math.inf), "must be a number above 0"
    )
    timing_key: str = "end_to_end"

    stem = "timeout_rate"
    formula = "calls with timings[timing_key] > soft_deadline_ms / calls with both"
    source = "operational metrics: fraction exceeding soft_deadline_ms"

    def not_applicable(self, sample: EvaluationSample) -> NotApplicable | None:
        return NotApplicable("no soft_deadline_ms") if self._deadline(sample, {}) is None else None

    def _deadline(self, sample: EvaluationSample, extra: Mapping[str, Any]) -> Any:
        told = [place.get("soft_deadline_ms") for place in (extra, sample.labels, sample.metadata)]
        return next((ms for ms in (self.soft_deadline_ms, *told) if ms is not None), None)

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        if (deadline := self._deadline(sample, outputs.extra)) is None:
            raise DoesNotApply("no soft_deadline_ms")
        seconds = seconds_of(outputs, self.timing_key)
        return Measurement(float(1000 * seconds > read_number(deadline, "soft_deadline_ms")))


class Retries(Operational):
    """How often calls were repeated, on average, and why.

    ``extra["retry"]`` has ``attempts``, counting the first, and ``reasons`` (a list) or ``last_reason``; a number in
    ``extra["retries"]`` does as well.  Where the setting ``auepora_retry`` names exceptions, it is filled in.
    """

    stem = "retries"
    interval = ""  # the mean, with details added
    range = (0.0, math.inf)
    formula = "mean of attempts - 1"
    source = "operational metrics: count and reasons"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a where nobody counted.  Details: ``reasons``."""
        retry = outputs.extra.get("retry")
        if isinstance(count := outputs.extra.get("retries"), int) and retry is None:
            return Measurement(float(max(0, count)))
        if not isinstance(retry, Mapping) or retry.get("attempts") is None:
            raise DoesNotApply("attempts were not counted")
        n_retries = max(0, read_number(retry["attempts"], "attempts in extra['retry']", int) - 1)
        raw: Any = retry.get("reasons") or ([retry["last_reason"]] if retry.get("last_reason") else [])
        reasons = [str(reason) for reason in read_list(raw, "reasons in extra['retry']")] if n_retries else []
        return Measurement(float(n_retries), data=reasons, details=nonempty(reasons=reasons))

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``total`` retries, and ``reasons`` with how often each was given, most frequent first."""
        result = super().aggregate(measurements)
        result.details["total"] = int(sum(m.value for m in measurements if m.value is not None))
        counts = Counter(reason for m in measurements for reason in m.data or ())
        result.details["reasons"] = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        return result


class ToolSuccessRate(Operational):
    """Share of the tool calls of the system that succeeded; higher is better.

    ``extra["tools"]`` lists the calls: mappings with ``ok`` (true or false), or with ``error`` where one failed.
    """

    stem = "tool_success_rate"
    direction = "higher"  # type: ignore[assignment]  # unlike its base
    additive = True
    formula = "tool calls that succeeded / tool calls, over all cases together"
    source = "metric ownership: tool_success_rate of the workshop layer"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        """N/a where no tool was called.  Details: ``failed``, the names of the tools that failed."""
        tools = needed(read_entries(outputs.extra.get("tools"), "extra['tools']"), "no tool was called")
        failed = [str(tool.get("name") or "?") for tool in tools if not _succeeded(tool)]
        n_ok = len(tools) - len(failed)
        return Measurement(n_ok / len(tools), data=[n_ok, len(tools)], details=nonempty(failed=failed))

    def aggregate(self, measurements: Sequence[Measurement]) -> MetricResult:
        """Details: ``calls``, how many there were."""
        n_ok, calls = (sum(m.data[at] for m in measurements) for at in (0, 1))
        details = {"num_samples": len(measurements), "calls": calls}
        return MetricResult(self.name, self.target, n_ok / calls if calls else 0.0, details)


def _succeeded(tool: Any) -> bool:
    says = isinstance(tool, Mapping) and isinstance(tool.get("ok", False), bool) and {"ok", "error"} & tool.keys()
    if not says:
        raise MetricError(f"extra['tools'] must list mappings with ok (true or false) or error, got {tool!r:.80}")
    return bool(tool.get("ok", not tool.get("error")))


class Resource(Operational):
    """Base of the metrics over ``extra["resources"]``, sampled around each call where the suite lists one of them."""

    range = (0.0, math.inf)
    source = "operational metrics: process-level samples"
    oracle = "psutil, and the process clock"

    def score_answer(self, sample: EvaluationSample, outputs: SystemOutputs, _: None) -> CaseScore:
        resources = outputs.extra.get("resources")
        value = resources.get(self.stem) if isinstance(resources, Mapping) else None
        if value is None:
            raise DoesNotApply("no sample of resources")
        return Measurement(read_number(value, f"{self.stem} in extra['resources']"))


class CpuPercent(Resource):
    """Processor time of the process during the call, as a percentage of one core."""

    stem = "cpu_percent"
    formula = "100 * (user + system seconds) / wall seconds"


class MemoryMb(Resource):
    """Largest resident memory of the process seen during the call, in MiB."""

    stem = "memory_mb"
    formula = "largest sample of resident memory / 2^20"
