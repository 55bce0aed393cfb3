"""A suite of simulated cases: asked, scored, accepted and judged by the functions that a run of pytest goes through.

Only the answers are made up: each brings the scores that it is to get.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_auepora.adapters.systems import as_system
from pytest_auepora.api.evaluation import Evaluation, further_numbers
from pytest_auepora.calls.caller import Caller
from pytest_auepora.core.metrics_base import CaseScore, Measurement, Metric, NotApplicable
from pytest_auepora.core.run import Run
from pytest_auepora.core.types import EvaluationSample, Response, SystemOutputs, TargetCategory
from pytest_auepora.evaluation.case_flow import CaseFlow
from pytest_auepora.evaluation.further import FurtherAnswers
from pytest_auepora.evaluation.suite import blank_run, run_suite
from pytest_auepora.evaluation.update import UpdatePlan, deciding_metrics
from pytest_auepora.io.golden.model import GoldenCase, GoldenSuite
from pytest_auepora.metrics.registry import Registry
from pytest_auepora.regression.accept import Acceptance, merge
from pytest_auepora.regression.baseline import Baseline
from pytest_auepora.regression.guards.case_trial import Confirmed
from pytest_auepora.regression.policy import RegressionPolicy
from pytest_auepora.regression.thresholds import Gate

from .verdict_scenarios import ASSERTION, RAISES, System

__all__ = ["SimulatedSuite", "Told", "first_scores"]

FACT = "the fact"


class GivenScore(Metric):
    """A score that the answer brings along; n/a or an exception where the answer says so."""

    target = TargetCategory.GENERATION_CORRECTNESS

    def __init__(self, name: str) -> None:
        self.name = name

    def measure(self, _sample: EvaluationSample, outputs: SystemOutputs) -> CaseScore:
        value = outputs.response.metadata[self.name]
        if value == RAISES:
            raise RuntimeError("the judge does not answer")
        return NotApplicable("nothing to measure in this answer") if value is None else Measurement(value)


class Told(NamedTuple):
    """What one run came to.

    Attributes:
        red: exit code 1, whether by a case, a gate of the suite, or both.
        by_case, by_suite: by which of them.
        word: the comparison with the baseline in a word.
        calls: answers beyond the first of each case.
        scores: by metric, the first answer to each case in order; None for n/a, errors as 0.
        regressed: the cases that are named as worse.
    """

    red: bool
    by_case: bool
    by_suite: bool
    word: str
    calls: int
    scores: Mapping[str, Sequence[float | None]]
    regressed: Sequence[str]


class SimulatedSuite:
    """The cases of some *systems*, and what was accepted of them; nothing comes back in a run that *looks_once*."""

    def __init__(
        self, systems: Sequence[System], policy: RegressionPolicy | None = None, *, looks_once: bool = False
    ) -> None:
        self.systems, self._looks_once, self.calls = systems, looks_once, 0
        names = [name for name in systems[0].before() if name != ASSERTION]
        self.metrics: dict[str, Metric] = {name: GivenScore(name) for name in names}
        asserts = ASSERTION in systems[0].before()
        if asserts:
            self.metrics["assertion_pass"] = Registry().get("assertion_pass")
        cases = []
        for i, system in enumerate(systems):
            labels = {**system.labels, "must_contain": [FACT]} if asserts else dict(system.labels)
            sample = EvaluationSample(f"c{i:03}", f"Question {i}?", labels=labels)
            cases.append(GoldenCase(sample, cluster=system.cluster or sample.sample_id, content_hash=str(i)))
        self.suite = GoldenSuite(
            "simulated", Path("simulated.golden.yaml"), metrics=tuple(names), cases=cases,
            policy=policy or RegressionPolicy(),
        )  # fmt: skip
        self._system, self._changed = as_system(self._answer), False
        self._caller = Caller()
        self.accepted = self._accept()
        self.baseline, _ = merge(None, self.accepted, Acceptance(["all"], policy=self.suite.policy))

    def _answer(self, sample: EvaluationSample) -> SystemOutputs:
        self.calls += 1
        system = self.systems[int(sample.sample_id[1:])]
        scores = system.after() if self._changed else system.before()
        text = f"{FACT if scores.get(ASSERTION) else 'a guess'}, {self.calls}"  # no answer is given twice
        return SystemOutputs([], Response(text, metadata=dict(scores)))

    def _further(self, run: Run, baseline: Baseline | None = None) -> FurtherAnswers:
        cases = self.suite.cases
        flow = CaseFlow(
            run, self.metrics, self.suite.policy, baseline=baseline, accepting=baseline is None, cases=cases,
            confirmed=Confirmed(len(cases)),
        )  # fmt: skip
        return FurtherAnswers(flow, self._system, self._caller)

    def _accept(self) -> Run:
        """Return the run of an update, which asks as often as it takes."""
        run = blank_run(self.suite, self.metrics)
        plan = UpdatePlan(deciding_metrics(run.metrics, ()), can_return=not self._looks_once)
        for finished in run_suite(self._further(run), self.suite.cases, plan=plan):
            run.add([finished.result])
        return run

    def measured(self, answers: int) -> Run:
        """Return a run with so many repeats of each case."""
        run = blank_run(self.suite, self.metrics)
        for finished in run_suite(self._further(run), self.suite.cases, repeat=answers):
            run.add([finished.result])
        return run

    def run(self, systems: Sequence[System] | None = None, gates: Sequence[Gate] = ()) -> Told:
        """Run the candidate, which is what the *systems* are after the change, and take the verdict."""
        self.systems, self.suite.gates, self._changed = systems or self.systems, tuple(gates), True
        before = self.calls
        run = blank_run(self.suite, self.metrics)
        evaluation = Evaluation(run, self.suite, self.metrics, self.baseline)
        further = self._further(run, self.baseline)
        for finished in run_suite(further, self.suite.cases, numbers=further_numbers(1)):
            run.add([finished.result])
        if not self._looks_once:
            evaluation.look_again(further)
        self._changed, verdict = False, evaluation.verdict
        return Told(
            verdict.outcome == "failed", bool(verdict.failed_cases),
            any(gate.state == "failed" and gate.kind == "regression" for gate in verdict.gates), verdict.word,
            self.calls - before - len(self.suite.cases), first_scores(run), tuple(verdict.regressed_cases),
        )  # fmt: skip


def first_scores(run: Run) -> dict[str, list[float | None]]:
    """Return by metric the score of each case's first answer, in order: None for n/a, errors as 0."""

    def first(case: Any, name: str) -> float | None:
        if case.answers is not None and name in case.answers.values:
            value = case.answers.values[name][0]
            return 0.0 if value == "error" else value
        score = case.scores[name]
        return 0.0 if score.state == "error" else score.value

    return {name: [first(case, name) for case in run.cases.values()] for name in run.metrics}
