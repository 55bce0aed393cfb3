"""Scores, redacts, records and checks one case after its calls finished.

Golden items, `auepora_case`, `evaluate`, `auepora score`, replays and crashed workers all end their cases here, so that
a case ends the same way whoever ran it: labels matched anew, answers scored, recorded and redacted, repeats merged,
held to its thresholds and its baseline.  What is redacted is redacted before anything is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any

from ..adapters.systems import System
from ..base.progress import Progress
from ..calls.call import CallResult
from ..core.metrics_base import Metric
from ..core.model_calls import USAGE as SYSTEM_USAGE
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import REPEAT_DATA, Score
from ..errors import AueporaError
from ..io.golden.model import GoldenCase
from ..metrics.judge.usage import USAGE, add_usage
from ..regression.baseline import Baseline
from ..regression.compare import CaseComparison, Comparability, comparability_of, compare_case
from ..regression.determinism import record_repeats
from ..regression.guards.case_guard import judge_case, merge_confirmed
from ..regression.guards.steadiness import note_worst
from ..regression.policy import RegressionPolicy
from .case_result import Ended, blank_result, errored_result
from .measure import CaseCall, Convert, MeasuredAnswer, measure_calls
from .recording import RecordedAnswer, Recording, Redact, record
from .replay import CONFIRMED, CaseEndedError

EndedBy = Callable[[BaseException], "Ended | None"]
"""Returns how an exception ends its case on purpose (skip, xfail), else None; raises one that ends the whole run."""


@dataclass(eq=False, repr=False, slots=True)
class CaseCalls:
    """A case, the finished calls on it, repeats in order, and the corpus that its labels are looked up in.

    The last ``again`` of the calls count only for what varies between answers, in all metrics but ``skipped_metrics``.
    """

    case: GoldenCase
    calls: Sequence[CallResult]
    corpus: Any = None
    again: int = 0
    skipped_metrics: Collection[str] = ()

    @property
    def counted(self) -> Sequence[CallResult]:
        """The calls whose answers count."""
        return self.calls[: len(self.calls) - self.again]


@dataclass(eq=False, repr=False, slots=True)
class FinishedCase:
    """A finished case: its result, redacted and judged, and what is kept of its answers, repeats in order.

    ``comparison`` is with its baseline; None without one, or where nothing was measured.  ``error`` is what its first
    failed call raised, as it was.
    """

    result: CaseResult
    comparison: CaseComparison | None = None
    recordings: list[Recording] = field(default_factory=list)
    error: BaseException | None = None


@dataclass(eq=False, repr=False)
class CaseFlow:
    """Ends the cases of one suite under one configuration; made once for a run.

    Attributes:
        run: the run they are of; only its path, metrics and provenance are looked at, so it may still be empty.
        metrics: the metric objects by name.
        policy: how strictly cases are held to the baseline.
        baseline: what was accepted, if anything was.
        advisory: metrics that fail no case, as LLM judges before they are calibrated.
        accepting: whether cases are compared with the baseline and not held to it.
        timed: whether the time of a call is the system's.
        xfail: whether golden cases that say `xfail` are expected to fail; not under pytest's ``--runxfail``.
        convert: reads the system's own answers.
        relabel: rematches moved labels by the corpus; gets whether documents are cut otherwise than for the baseline.
        id_check_for: returns, for a corpus, the check of its ids, for citations; None where there is no corpus.
        redact: removes secrets from a result; called for each answer.
        record_cap: characters kept of each answer; 0 keeps none.
        ended_by: what counts as a skip, or as an expected failure.
        baseline_answers: accepted answers by case id and content hash, for metrics that compare with them.
        progress: where judged scores are counted.
    """

    run: Run
    metrics: Mapping[str, Metric]
    policy: RegressionPolicy
    _: KW_ONLY
    baseline: Baseline | None = None
    advisory: Collection[str] = ()
    accepting: bool = False
    timed: bool = True
    xfail: bool = True
    convert: Convert | None = None
    relabel: Callable[[GoldenCase, Any, bool], GoldenCase] | None = None
    id_check_for: Callable[[Any], Callable[[str], bool] | None] | None = None
    redact: Redact | None = None
    record_cap: int = 0
    ended_by: EndedBy | None = None
    progress: Progress | None = None
    baseline_answers: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def finish(self, case_calls: CaseCalls, system: System) -> FinishedCase:
        """End one case that *system* was asked about."""
        return self.finish_all([case_calls], system)[0]

    def finish_all(self, cases: Sequence[CaseCalls], system: System) -> list[FinishedCase]:
        """End several cases; models score their answers together."""
        started = [self._begin(case) for case in cases]
        calls = [call for item in started if not isinstance(item, FinishedCase) for call in item]
        measured = iter(
            measure_calls(calls, system, self.metrics, convert=self.convert, timed=self.timed, progress=self.progress)
        )
        return [
            item if isinstance(item, FinishedCase) else self._end(case, item[0].case, [next(measured) for _ in item])
            for case, item in zip(cases, started, strict=True)
        ]

    def _begin(self, case_calls: CaseCalls) -> FinishedCase | list[CaseCall]:
        """Return the calls to measure, or the finished case where there is nothing to measure."""
        for call in case_calls.counted:
            if call.error is not None and (ended := self._ended_on_purpose(call.error)) is not None:
                return self.leave_out(case_calls.case, ended, call.error)
        case = case_calls.case
        try:
            if self.relabel is not None:
                case = self.relabel(case, case_calls.corpus, bool(self._comparability.rechunking))
            is_known_id = (
                self.id_check_for(case_calls.corpus) if self.id_check_for is not None and self._has_citations else None
            )
        except AueporaError as exc:
            return self.end(case_calls.case, exc)
        counted = [self.case_call(case, call, is_known_id) for call in case_calls.counted]
        others = case_calls.calls[len(counted) :]
        return counted + [self.case_call(case, call, is_known_id, case_calls.skipped_metrics) for call in others]

    def _end(self, case_calls: CaseCalls, case: GoldenCase, measured: list[MeasuredAnswer]) -> FinishedCase:
        counted = measured[: len(case_calls.counted)]
        finished = self.conclude(case, counted)
        finished.error = next((call.error for call in case_calls.counted if call.error is not None), None)
        singles = [answer.result for answer in measured]
        record_repeats(finished.result, singles, self.run.metrics)
        _add_usage(finished.result, singles)
        return finished

    def case_call(
        self, case: GoldenCase, call: CallResult, is_known_id: Any = None, skipped_metrics: Collection[str] = ()
    ) -> CaseCall:
        """Return *call* with what is known of its case."""
        baseline_answer = self.baseline_answers.get((case.id, case.content_hash), "")
        return CaseCall(case, call, is_known_id, baseline_answer, skipped_metrics)

    def confirm(self, finished: FinishedCase, case_calls: CaseCalls, system: System) -> None:
        """Decide a failed case by the finished calls that asked *system* again: it fails if every answer fails.

        Its scores stay those of the first answer; how the answers differ is noted, and they are kept for a replay.
        Advisory judges are not asked.
        """
        flow = self._without_advisory
        retried = [flow.finish(replace(case_calls, calls=[call]), system) for call in case_calls.calls]
        again = [retry.result for retry in retried]
        if recordings := [recording for retry in retried for recording in retry.recordings]:
            finished.recordings += recordings
            finished.result.extra[CONFIRMED] = len(recordings)
        record_repeats(finished.result, [finished.result, *again], self.run.metrics)
        _add_usage(finished.result, [finished.result, *again])
        merge_confirmed(finished.result, again)
        if finished.comparison is not None:
            finished.comparison.note_state(finished.result)

    def end(self, case: GoldenCase, error: BaseException) -> FinishedCase:
        """End a case that was not measured because of *error*: its set-up failed or skipped it, its process died."""
        if (ended := self._ended_on_purpose(error)) is not None:
            return self.leave_out(case, ended, error)
        result = errored_result(case, error, self.metrics)
        self._note_expected_failure(case, result)
        return self._finish_unmeasured(case, result, error)

    def leave_out(self, case: GoldenCase, ended: Ended, error: BaseException | None = None) -> FinishedCase:
        """End a case that is not measured on purpose: skipped, or expected to fail."""
        result = blank_result(case)
        result.state, result.error = "skipped", ended.reason
        if ended.how == "xfail":
            result.extra["xfail"] = ended.reason
        return self._finish_unmeasured(case, result, error)

    def conclude(self, case: GoldenCase, answers: Sequence[MeasuredAnswer]) -> FinishedCase:
        """End a case: record its answers, merge their results, hold them to thresholds and baseline."""
        singles = [answer.result for answer in answers]
        for single in singles:
            single.where = self._where(case)
        recordings = self._record(case, answers)
        for single in singles:
            self._redact(single)
        infos = self.run.metrics
        result = merge_repeats(singles, infos)
        self._note_expected_failure(case, result)
        comparison: CaseComparison | None = None
        if self.baseline is not None:
            before = self.baseline.cases.get(case.id)
            comparison = compare_case(result, before, infos, self._comparability)
        held_to = None if self.accepting else comparison
        judge_case(
            result, case.thresholds, infos, held_to, self.policy, advisory=self.advisory, steady=self._steady,
            accepting=self.accepting,
        )  # fmt: skip
        if comparison is not None:
            comparison.note_state(result)
        note_worst(result, singles, held_to, infos, policy=self.policy, advisory=self.advisory)
        return FinishedCase(result, comparison, recordings)

    def _where(self, case: GoldenCase) -> str:
        return f"{self.run.path}:{case.line}"

    @cached_property
    def _without_advisory(self) -> CaseFlow:
        """Ends cases without advisory judges: nobody reads their scores of an answer that only decides."""
        silent = {name for name, metric in self.metrics.items() if metric.judged and name in self.advisory}
        return replace(self, metrics={n: m for n, m in self.metrics.items() if n not in silent}) if silent else self

    @cached_property
    def _has_citations(self) -> bool:
        return any("citation_coverage" in name for name in self.metrics)

    @cached_property
    def _steady(self) -> Collection[str]:
        return self.baseline.steady if self.baseline is not None else ()

    @cached_property
    def _comparability(self) -> Comparability:
        return comparability_of(self.run, self.baseline) if self.baseline is not None else Comparability()

    def _note_expected_failure(self, case: GoldenCase, result: CaseResult) -> None:
        if self.xfail and case.xfail is not None:
            result.extra["xfail"] = case.xfail

    def _finish_unmeasured(self, case: GoldenCase, result: CaseResult, error: BaseException | None) -> FinishedCase:
        result.where = self._where(case)
        self._redact(result)
        return FinishedCase(result, error=error)

    def _ended_on_purpose(self, error: BaseException) -> Ended | None:
        if isinstance(error, CaseEndedError):
            return error.ended
        return self.ended_by(error) if self.ended_by is not None else None

    def _record(self, case: GoldenCase, singles: Sequence[MeasuredAnswer]) -> list[Recording]:
        """Return what is kept of the answers; of one that was recorded already only the scores are new."""
        if not self.record_cap:
            return []
        return [
            single.answer.rescored(single.result, self.metrics, redact=self.redact)
            if isinstance(single.answer, RecordedAnswer)
            else record(case, single.result, single.answer, self.metrics, redact=self.redact, cap=self.record_cap)
            for single in singles
        ]  # fmt: skip

    def _redact(self, result: CaseResult) -> None:
        """Let the project redact *result*; score reasons that repeat its error get the redacted error."""
        if self.redact is None:
            return
        before = result.error_line
        self.redact(result)
        after = result.error_line
        if before and before != after:
            for score in result.scores.values():
                score.reason = score.reason.replace(before, after)


def _add_usage(result: CaseResult, parts: Sequence[CaseResult]) -> None:
    """Note what the system and its judges spent on all answers to the case."""
    if usage := add_usage(part.extra[USAGE] for part in parts if USAGE in part.extra):
        result.extra[USAGE] = usage
    if any(SYSTEM_USAGE in part.extra for part in parts):
        from ..metrics.service.system_usage import add_spending

        result.extra[SYSTEM_USAGE] = add_spending(part.extra.get(SYSTEM_USAGE, {}) for part in parts)


def merge_repeats(results: Sequence[CaseResult], infos: Mapping[str, MetricInfo]) -> CaseResult:
    """Return one result for the repeats of one case; texts and ranks shown are those of the first.

    The mean of its quality scores, the median of its latencies.  A case of which any repeat errored is errored: half
    an outage is not a score.  The single values are kept in ``extra["repeats"]``, ranks that differ in
    ``extra["ranks"]``.  A metric that aggregates counts instead of values (``bleu``, ``distinct_2``) keeps those of
    every repeat.  *results* are left as they are.
    """
    first = results[0]
    if len(results) == 1:
        return first
    if errored := [r for r in results if r.state == "error"]:
        first_error = errored[0]
        head, _, rest = first_error.error.partition("\n")
        error = f"{head} (in {len(errored)} of {len(results)} repeats)" + (f"\n{rest}" if rest else "")
        return replace(first_error, error=error)
    scores = {name: _merge_scores([r.scores[name] for r in results], infos.get(name)) for name in first.scores}
    singles = {name: [r.scores[name].value for r in results] for name, s in scores.items() if s.value is not None}
    extra = {**first.extra, "repeats": singles}
    if any(r.ranks != first.ranks for r in results):
        extra["ranks"] = [r.ranks for r in results]
    import statistics  # with it come fractions and decimal

    return replace(first, scores=scores, seconds=statistics.median(r.seconds for r in results), extra=extra)


def _merge_scores(scores: Sequence[Score], info: MetricInfo | None) -> Score:
    if errored := [score for score in scores if score.state == "error"]:
        return errored[0]
    measured = [s for s in scores if s.measurement is not None]
    if not measured:
        return scores[0]
    first, *others = measured
    details = first.details
    if any(s.data != first.data for s in others):
        details = {**details, REPEAT_DATA: [s.data for s in others]}
    values = [s.value for s in measured if s.value is not None]
    if not values:
        return replace(first, details=details)
    import statistics

    average = statistics.median if info is not None and info.target == "LATENCY" else statistics.fmean
    return Score("number", average(values), data=first.data, details=details)
