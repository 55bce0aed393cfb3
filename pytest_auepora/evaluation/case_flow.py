"""Scores, redacts, records and checks one case after its calls finished.

Golden items, `auepora_case`, `evaluate`, `auepora score`, replays and crashed workers all end their cases here, so that
a case ends the same way whoever ran it: labels matched anew, answers scored, recorded and redacted, repeats merged,
held to its thresholds and its baseline.  What is redacted is redacted before anything is made from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

from ..adapters.systems import System
from ..base.progress import Progress
from ..calls.call import CallResult
from ..core.findings import Answers, OneAnswer
from ..core.metrics_base import Metric
from ..core.run import CaseResult, MetricInfo, Run
from ..core.scoring import REPEAT_DATA, Score
from ..errors import AueporaError
from ..io.golden.model import GoldenCase
from ..metrics.judge.usage import JudgeUsage, summed
from ..metrics.service.system_usage import Spending
from ..regression.baseline import Baseline
from ..regression.checks import accepted_checks, can_fail_alone, case_rules
from ..regression.compare import CaseComparison, Comparability, comparability_of, compare_case
from ..regression.guards.case_trial import CaseTrial, Confirmed
from ..regression.guards.steadiness import note_worst
from ..regression.policy import RegressionPolicy
from .case_result import Ended, blank_result, errored_result
from .measure import CaseCall, Convert, JudgedAnswer, MeasuredAnswer, judge_early, measure_calls
from .recording import RecordedAnswer, Recording, Redact, record
from .replay import CaseEndedError
from .reuse import Reused, accepted_result, digest_of_all
from .shown_outputs import shows_refusal

EndedBy = Callable[[BaseException], "Ended | None"]
"""Returns how an exception ends its case on purpose (skip, xfail), else None; raises one that ends the whole run."""


@dataclass(eq=False, repr=False, slots=True)
class CaseCalls:
    """A case, the finished calls on it, repeats in order, and the corpus that its labels are looked up in.

    The last ``again`` of the calls do not count for its scores: they are asked for by an update, which accepts them as
    well, in all metrics but ``skipped_metrics``.  ``judged`` has those answers that were judged early, by call.
    """

    case: GoldenCase
    calls: Sequence[CallResult]
    corpus: Any = None
    again: int = 0
    skipped_metrics: Collection[str] = ()
    judged: Sequence[JudgedAnswer | None] = ()

    @property
    def counted(self) -> Sequence[CallResult]:
        """The calls whose answers count."""
        return self.calls[: len(self.calls) - self.again]


@dataclass(eq=False, repr=False, slots=True)
class FinishedCase:
    """A finished case: its result, redacted and judged, and what is kept of its answers, repeats in order.

    ``comparison`` is with its baseline; None without one, or where nothing was measured.  ``error`` is what its first
    failed call raised, as it was.  ``trial`` holds its checks; None where nothing was measured.
    """

    result: CaseResult
    comparison: CaseComparison | None = None
    recordings: list[Recording] = field(default_factory=list)
    error: BaseException | None = None
    trial: CaseTrial | None = None

    @property
    def wants_another(self) -> bool:
        """Whether a further answer decides whether the case fails; it is not judged until then."""
        return self.trial is not None and bool(self.trial.open)


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
        cases: all cases of the suite, whose accepted answers say how much varies in it.
        confirmed: how many cases failed after they were asked again, in this process.
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
    cases: Sequence[GoldenCase] = ()
    confirmed: Confirmed = field(default_factory=Confirmed)
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
        measured = iter(self._measured([call for item in started if isinstance(item, list) for call in item], system))
        return [
            item if isinstance(item, FinishedCase)
            else self.conclude(item[0].case, [next(measured) for _ in item], len(case.counted))
            for case, item in zip(cases, started, strict=True)
        ]  # fmt: skip

    def _begin(self, case_calls: CaseCalls) -> FinishedCase | list[CaseCall]:
        """Return the calls to measure, or the finished case where there is nothing to measure."""
        for call in case_calls.counted:
            if call.error is not None and (ended := self._ended_on_purpose(call.error)) is not None:
                return self.leave_out(case_calls.case, ended, call.error)
        case = case_calls.case
        if case_calls.calls and isinstance(reused := case_calls.calls[0].value, Reused):
            return self.serve(case, reused)
        try:
            if self.relabel is not None:
                case = self.relabel(case, case_calls.corpus, bool(self._comparability.rechunking))
            is_known_id = (
                self.id_check_for(case_calls.corpus) if self.id_check_for is not None and self._has_citations else None
            )
        except AueporaError as exc:
            return self.end(case_calls.case, exc)
        n_counted, out = len(case_calls.counted), []
        for i, (call, early) in enumerate(zip_longest(case_calls.calls, case_calls.judged)):
            skipped = case_calls.skipped_metrics if i >= n_counted else ()
            out.append(
                self._case_call(case, call)._replace(is_known_id=is_known_id, skipped_metrics=skipped, early=early)
            )
        return out

    def judge_early(
        self, case: GoldenCase, system: System, metrics: Sequence[Metric], repeat: int, call: CallResult
    ) -> JudgedAnswer | None:
        """Read and judge an answer of *system*, number *repeat* to its case, before anybody waits for it."""
        case_call = self._case_call(case, call)
        return judge_early(case_call, system, metrics, repeat, convert=self.convert, progress=self.progress)

    def _case_call(self, case: GoldenCase, call: CallResult) -> CaseCall:
        """Return *call* with what is known of its case."""
        return CaseCall(case, call, baseline_answer=self.baseline_answers.get((case.id, case.content_hash), ""))

    def take(self, finished: FinishedCase, case_calls: CaseCalls, system: System) -> None:
        """Hold one further answer, by the finished call that asked *system* again, against the checks that failed.

        The scores of the case stay those of the first answer, else asking again would raise the means; the answer is
        kept for a replay.  Advisory judges are not asked.
        """
        (single,) = self._without_advisory._measure(case_calls, system)
        self.take_measured(finished, case_calls.case, single)

    def take_measured(self, finished: FinishedCase, case: GoldenCase, single: MeasuredAnswer) -> None:
        """Do the same with an answer that is measured."""
        assert finished.trial is not None
        finished.recordings += self._record(case, [single])
        self._redact(single.result)
        sum_usage(finished.result, [finished.result, single.result])
        finished.trial.take(single.result.as_answer(), _text_of(single.result))
        self._note_end(finished)

    def settle(self, finished: FinishedCase) -> None:
        """Decide a case of which no further answer is to be had."""
        if finished.trial is not None and finished.trial.open:
            finished.trial.settle()
            self._note_end(finished)

    def extend(self, result: CaseResult, case_calls: CaseCalls, system: System) -> FinishedCase:
        """Add the answers of further *case_calls* to *result*, which is about to be accepted."""
        measured = self._without_advisory._measure(case_calls, system)
        recordings = self._record(case_calls.case, measured)
        for single in measured:
            self._redact(single.result)
        sum_usage(result, [result, *(single.result for single in measured)])
        if result.context and result.context != digest_of_all([single.answer for single in measured]):
            result.context = ""
        return self._judge(
            result, [*result.each_answer(), *(single.result.as_answer() for single in measured)], recordings
        )

    def aside(self, case_calls: CaseCalls, system: System) -> list[CaseResult]:
        """Score answers that are no part of the run, each by itself, and hold them to nothing."""
        results = [measured.result for measured in self._without_advisory._measure(case_calls, system)]
        for result in results:
            self._redact(result)
        return results

    def _measure(self, case_calls: CaseCalls, system: System) -> list[MeasuredAnswer]:
        return self._measured([self._case_call(case_calls.case, call) for call in case_calls.calls], system)

    def _measured(self, calls: Sequence[CaseCall], system: System) -> list[MeasuredAnswer]:
        return measure_calls(
            calls, system, self.metrics, convert=self.convert, timed=self.timed, progress=self.progress
        )

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
            result.xfail = ended.reason
        return self._finish_unmeasured(case, result, error)

    def serve(self, case: GoldenCase, reused: Reused) -> FinishedCase:
        """End a case that the accepted answers serve: nothing changed in it, whatever varied in them."""
        assert self.baseline is not None
        before = self.baseline.cases[case.id]
        result = accepted_result(case, before, self.run.metrics, reused)
        result.path, result.line = self.run.path, case.line
        self._redact(result)
        self._note_expected_failure(case, result)
        finished = self._judge(result, before.each_answer(), [])
        result.findings = [finding for finding in result.findings if finding.status != "varies"]
        return finished

    def conclude(self, case: GoldenCase, measured: Sequence[MeasuredAnswer], counted: int = 0) -> FinishedCase:
        """End a case: record its answers, merge those that are *counted*, by default all, hold it to its checks."""
        counted = counted or len(measured)
        singles = [answer.result for answer in measured]
        for single in singles:
            single.path, single.line = self.run.path, case.line
        recordings = self._record(case, measured)
        for single in singles:
            self._redact(single)
        result = merge_repeats(singles[:counted], self.run.metrics)
        sum_usage(result, singles)
        if self.policy.reuse:
            result.context = digest_of_all([single.answer for single in measured])
        self._note_expected_failure(case, result)
        finished = self._judge(result, [single.as_answer() for single in singles], recordings)
        finished.error = next((answer.error for answer in measured[:counted] if answer.error is not None), None)
        assert finished.trial is not None
        if finished.trial.open:
            finished.trial.texts = [_text_of(single) for single in singles]
        note_worst(result, singles, finished.trial.rules)
        return finished

    def _judge(self, result: CaseResult, answers: Sequence[OneAnswer], recordings: list[Recording]) -> FinishedCase:
        """Hold *answers*, whose first made *result*, to thresholds and baseline."""
        result.answers = Answers.of(answers) if len(answers) > 1 else None
        result.findings = []
        comparison: CaseComparison | None = None
        if self.baseline is not None:
            before = self.baseline.cases.get(result.case_id)
            comparison = compare_case(result, before, self.run.metrics, self._comparability)
        rules = case_rules(result, comparison, self.run.metrics, self.policy, advisory=self.advisory)
        before = comparison.before if comparison is not None and comparison.paired else None
        accepted = accepted_checks(rules, before) if before is not None else None
        trial = CaseTrial(result, rules, accepted, self.varied, self.accepting)
        trial.begin(answers)
        finished = FinishedCase(result, comparison, recordings, trial=trial)
        if trial.open and self.confirmed.is_full:
            trial.settle(self.confirmed)
        self._note_end(finished)
        return finished

    def _note_end(self, finished: FinishedCase) -> None:
        """Once the checks are decided, note what became of the case."""
        if finished.wants_another:
            return
        asked = any(finding.asked > 1 for finding in finished.result.failures)
        self.confirmed.red += asked
        if finished.comparison is not None:
            finished.comparison.note_state(finished.result)

    @cached_property
    def varied(self) -> int:
        """V: over the whole baseline, the checks that held in some accepted answers to their case and not in others."""
        count = 0
        for case in self.cases if self.baseline is not None else ():
            before = self.baseline.cases.get(case.id) if self.baseline is not None else None
            if before is None or not before.varied or before.hash != case.content_hash or case.skip is not None:
                continue
            result = blank_result(case)
            self._note_expected_failure(case, result)
            if can_fail_alone(result):
                incomparable = [*self._comparability.incomparable]
                comparison = CaseComparison(case.id, "unchanged", before=before, incomparable=incomparable)
                rules = case_rules(result, comparison, self.run.metrics, self.policy, advisory=self.advisory)
                count += accepted_checks(rules, before).varied_checks
        return count

    @cached_property
    def _without_advisory(self) -> CaseFlow:
        """Ends cases without advisory judges: nobody reads their scores of an answer that only decides."""
        silent = {name for name, metric in self.metrics.items() if metric.judged and name in self.advisory}
        return replace(self, metrics={n: m for n, m in self.metrics.items() if n not in silent}) if silent else self

    @cached_property
    def _has_citations(self) -> bool:
        return any(getattr(metric, "stem", "") == "citation_coverage" for metric in self.metrics.values())

    @cached_property
    def _comparability(self) -> Comparability:
        return comparability_of(self.run, self.baseline) if self.baseline is not None else Comparability()

    def _note_expected_failure(self, case: GoldenCase, result: CaseResult) -> None:
        if self.xfail and case.xfail is not None:
            result.xfail = case.xfail

    def _finish_unmeasured(self, case: GoldenCase, result: CaseResult, error: BaseException | None) -> FinishedCase:
        result.path, result.line = self.run.path, case.line
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
        """Let the project redact *result*; reasons that repeat its error get the redacted error."""
        if self.redact is None:
            return
        before = result.error_line
        self.redact(result)
        after = result.error_line
        if before and before != after:
            for score in result.scores.values():
                score.reason = score.reason.replace(before, after)
            if result.xfail is not None:
                result.xfail = result.xfail.replace(before, after)


def sum_usage(result: CaseResult, parts: Sequence[CaseResult]) -> None:
    """Let *result* say what all *parts*, answers to its case, cost: those of judges, and those of the system."""
    judges = summed(JudgeUsage, (part.judge_usage for part in parts if part.judge_usage))
    result.judge_usage = {name: usage.to_dict() for name, usage in judges.items()}
    if any(part.system_usage for part in parts):
        models = summed(Spending, (part.system_usage for part in parts))
        result.system_usage = {name: spending.to_dict() for name, spending in models.items()}


def _text_of(result: CaseResult) -> str | None:
    """Return the answer; None where there is none, or one that a system gives in equal words by itself: a refusal."""
    answer = str(result.outputs.get("answer") or "").strip()
    return answer if answer and not shows_refusal(result.outputs) else None


def merge_repeats(results: Sequence[CaseResult], infos: Mapping[str, MetricInfo]) -> CaseResult:
    """Return one result for the repeats of one case; texts and ranks shown are those of the first.

    The mean of its quality scores, the median of its latencies.  A case of which any repeat errored is errored: half
    an outage is not a score.  Ranks that differ are kept in ``ranks_of_repeats``.  A metric that aggregates counts
    instead of values (``bleu``, ``distinct_2``) keeps those of every repeat.  *results* are left as they are.
    """
    first = results[0]
    if len(results) == 1:
        return first
    if errored := [r for r in results if r.state == "error"]:
        return replace(errored[0], errored=len(errored), repeats=len(results))
    scores = {name: _merge_scores([r.scores[name] for r in results], infos.get(name)) for name in first.scores}
    ranks = [r.ranks for r in results] if any(r.ranks != first.ranks for r in results) else []
    import statistics  # with it come fractions and decimal

    seconds = statistics.median(r.seconds for r in results)
    return replace(first, scores=scores, seconds=seconds, repeats=len(results), ranks_of_repeats=ranks)


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
