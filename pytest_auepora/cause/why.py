"""Why a run got worse: the generator of today is asked with the documents that the accepted run had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from ..adapters.parts import generator_of, with_documents
from ..adapters.systems import System
from ..core.findings import OneAnswer
from ..core.run import CaseResult, MetricInfo, Run
from ..core.types import RetrievedDocument
from ..errors import NoGeneratorError
from ..evaluation.case_flow import CaseCalls, sum_usage
from ..evaluation.further import Ask, FurtherAnswers, Steps
from ..history.accepted import AcceptedTexts
from ..io.golden.model import GoldenCase
from ..regression.baseline import BaselineCase
from ..regression.cause import (
    Cause,
    Cells,
    LeftOut,
    Refusal,
    answer_noise,
    answers_needed,
    case_cause,
    held_all,
    is_of_answer,
    is_of_retrieval,
    luck_of,
    suite_cause,
)
from ..regression.verdict import Verdict, worse_cases

MOST_CASES = 100
"""Cases that are asked; where none failed by itself, those that lost most."""

_LEAST_FALL = 0.01  # of a metric of retrieval


@dataclass(eq=False, repr=False)
class Question:
    """What has to be known to tell why *run* got worse.

    Attributes:
        run: what was measured.
        verdict: that it is worse.
        cases: the golden cases.
        accepted: the accepted answers, with their documents; None where nobody kept any.
        digests: by case, `documents_digest` of what was retrieved today, as far as it is known.
        looks: further answers to every case, where there are any.
        system: what has the generator, where an earlier run answers in its place.
    """

    run: Run
    verdict: Verdict
    cases: Sequence[GoldenCase]
    accepted: AcceptedTexts | None
    _: KW_ONLY
    digests: Mapping[str, str] = field(default_factory=dict)
    looks: Sequence[Run] = ()
    system: System | None = None


def not_worse(run: Run, verdict: Verdict) -> Refusal:
    """Return why there is nothing to ask; empty where something is worse."""
    return "" if worse_cases(run, verdict) else _nothing_worse(verdict)


def _nothing_worse(verdict: Verdict) -> Refusal:
    return "no baseline" if verdict.comparison is None else "nothing worse"


def find_cause(question: Question, again: FurtherAnswers) -> Steps[Cause]:
    """Ask the generator about the cases that got worse, with their accepted documents, and return the cause."""
    return (yield from _Finder(question, again).find())


@dataclass(eq=False, slots=True)
class _Plan:
    """How a case is asked: with which documents, how often, how often the whole system as well; and what came of it."""

    case: GoldenCase
    result: CaseResult
    before: BaselineCase
    documents: Sequence[RetrievedDocument]
    is_same: bool
    """Whether the documents of today are the accepted ones."""
    now: Sequence[OneAnswer]
    times: int
    more: int
    """How often the whole system is asked: an answer that a case was chosen by is worse than most."""
    swapped: list[CaseResult] = field(default_factory=list)


class _Finder:
    def __init__(self, question: Question, again: FurtherAnswers) -> None:
        self._question, self._again = question, again
        self._run, self._verdict = question.run, question.verdict
        self._system = again.system if question.system is None else question.system
        self._metrics: Mapping[str, MetricInfo] = {
            name: info
            for name, info in self._run.metrics.items()
            if is_of_answer(info) and name not in self._verdict.advisory
        }

    def find(self) -> Steps[Cause]:
        if not (worse := worse_cases(self._run, self._verdict)):
            return Cause(refusal=_nothing_worse(self._verdict))
        cause, plans = Cause(), list[_Plan]()
        cases = {case.id: case for case in self._question.cases}
        for case_id in worse:
            plan = self._plan(cases[case_id]) if len(plans) < MOST_CASES else "limit"
            if isinstance(plan, _Plan):
                plans.append(plan)
            else:
                cause.left_out[case_id] = plan
        if not plans:
            cause.refusal = "calls" if "calls" in cause.left_out.values() else "no accepted documents"
        elif not any(plan.documents or plan.result.outputs.get("retrieved") for plan in plans):
            cause.refusal = "no retriever"
        else:
            try:
                yield from self._ask(cause, plans)
            except NoGeneratorError as exc:
                return Cause(refusal="no generator", detail=str(exc))
            self._conclude(cause, plans)
        return cause

    def _plan(self, case: GoldenCase) -> _Plan | LeftOut:
        """Return how a case is asked, or why it is not."""
        accepted, result = self._question.accepted, self._run.cases[case.id]
        before = self._verdict.case_comparisons[case.id].before
        if accepted is None or before is None or not accepted.is_of(case.id, before):
            return "not kept"
        if not accepted[case.id].has_whole_documents:
            return "not kept whole"
        documents = accepted.documents(case.id)
        if not all(given.doc.text for given in documents):
            return "without texts"
        needed, is_same = answers_needed(before, result, self._metrics), self._is_same(case.id, accepted)
        today = result.each_answer()
        fresh = [*today[1:], *(look.cases[case.id].as_answer() for look in self._question.looks)]
        is_biased = needed > 1 and not fresh
        times = needed if not is_same or is_biased else 0
        more = needed if is_biased and not is_same and self._question.system is None else 0
        if not self._again.budget.take(times + more, (self._run.path, self._run.variant, case.id)):
            return "calls"
        return _Plan(case, result, before, documents, is_same, fresh or today, times, more)

    def _is_same(self, case_id: str, accepted: AcceptedTexts) -> bool:
        """Whether what was retrieved today is what was retrieved then, as far as it is known in full."""
        if case_id in self._question.digests:
            return self._question.digests[case_id] == accepted.digest(case_id)
        today, then = (
            [(hit["id"], hit.get("text") or "", hit.get("cut", False)) for hit in shown.get("retrieved", ())]
            for shown in (self._run.cases[case_id].outputs, accepted.outputs(case_id))
        )
        return today == then and not any(is_cut for *_, is_cut in today)

    def _ask(self, cause: Cause, plans: Sequence[_Plan]) -> Steps[None]:
        """Make the calls, each plan's behind another."""
        asks: list[Ask] = []
        for plan in plans:
            if plan.times:
                generator_of(self._system)
            swapped = with_documents(self._system, plan.documents) if plan.times else self._system
            asks += [self._again.aside(swapped, plan.case, number) for number in range(plan.times)]
            first = plan.result.n_answers
            asks += [self._again.aside(self._system, plan.case, first + number) for number in range(plan.more)]
        cause.calls = len(asks)
        answered, place = self._again.begin(len(asks), "cause"), 0
        for plan in plans:
            calls = yield from self._again.several(asks, range(place, place + plan.times + plan.more), answered)
            place += len(calls)
            for error in (call.error for call in calls):
                if isinstance(error, NoGeneratorError):
                    raise error
            swapped = with_documents(self._system, plan.documents) if plan.times else self._system
            corpus, flow = self._again.corpus, self._again.flow
            plan.swapped = flow.aside(CaseCalls(plan.case, calls[: plan.times], corpus), swapped)
            more = flow.aside(CaseCalls(plan.case, calls[plan.times :], corpus), self._system)
            plan.now = [single.as_answer() for single in more] or plan.now
            sum_usage(plan.result, [plan.result, *plan.swapped, *more])

    def _conclude(self, cause: Cause, plans: Sequence[_Plan]) -> None:
        comparisons = self._verdict.case_comparisons
        of_retrieval = [name for name, info in self._run.metrics.items() if is_of_retrieval(info)]
        noise = dict[str, Mapping[str, tuple[float, float]]]()
        for plan in plans:
            swapped, pair = [single.as_answer() for single in plan.swapped], comparisons[plan.case.id]
            now, other = (swapped or plan.now, None) if plan.is_same else (plan.now, swapped)
            fell = tuple(n for n in of_retrieval if n in pair.changes and pair.changes[n].gain < -_LEAST_FALL)
            comparable = {name: info for name, info in self._metrics.items() if name not in pair.incomparable}
            cells = Cells(plan.before.each_answer(), now, other, fell)
            found = case_cause(cells, comparable)
            if raised := _raised(plan):
                cause.left_out[plan.case.id], cause.detail = "raised", cause.detail or raised
            elif found is None:
                cause.left_out[plan.case.id] = "nothing to compare"
            else:
                found.calls = plan.times + plan.more
                found.answer = plan.swapped[0].outputs.get("answer") if plan.swapped else None
                cause.cases[plan.case.id] = found
                noise[plan.case.id] = answer_noise(cells, comparable)
        if not cause.cases:
            cause.refusal = "raised" if "raised" in cause.left_out.values() else "no accepted documents"
            return
        cause.retrieval = self._worse_retrieval(of_retrieval)
        usual = luck_of((pair.before for pair in comparisons.values() if pair.before is not None), self._metrics)
        held = {plan.case.id for plan in plans if held_all(plan.before.each_answer())}
        luck = {case_id: usual for case_id in cause.cases if case_id in held}
        suite_cause(cause, self._run, noise=noise, luck=luck, metrics=self._metrics)

    def _worse_retrieval(self, of_retrieval: Sequence[str]) -> dict[str, float]:
        """Return the metrics of retrieval that are worse over the suite, or in the cases that failed by them."""
        assert self._verdict.comparison is not None
        names = {gate.metric for gate in self._verdict.gates if gate.is_of_whole and gate.word == "worse"}
        names |= {
            finding.metric
            for case_id in self._verdict.regressed_cases
            for finding in self._run.cases[case_id].failures
            if finding.is_worse
        }
        changes = {name: self._verdict.comparison.metric(name) for name in of_retrieval if name in names}
        return {name: change.gain for name, change in changes.items() if change is not None and change.gain < 0}


def _raised(plan: _Plan) -> str:
    """Return what the generator raised with documents that it should be able to read, as it answered today."""
    errors = (single.error_line for single in plan.swapped if single.state == "error")
    return next(errors, "") if any(one.answered for one in plan.now) else ""
