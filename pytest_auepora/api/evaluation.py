"""A whole golden suite against one system: without pytest, `evaluate` gives an `Evaluation`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..adapters.parts import retriever_of
from ..adapters.systems import System, as_system
from ..base.files import shown_path
from ..base.text import names_words, unknown_name
from ..calls.caller import Caller
from ..core.comparable_score import ComparableScore
from ..core.metrics_base import Metric
from ..core.run import Run
from ..errors import AueporaWarning, BaselineError
from ..evaluation.case_flow import CaseFlow, FinishedCase
from ..evaluation.further import FurtherAnswers, drive
from ..evaluation.measure import Convert, judging_bar
from ..evaluation.project_hooks import ProjectHooks
from ..evaluation.replay import Answering
from ..evaluation.reuse import Refusal, reusing
from ..evaluation.suite import blank_run, calibrations_of, find_baseline, run_suite, suite_metrics
from ..history.settings import project_place, project_root
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenCase, GoldenSuite
from ..metrics.registry import Registry
from ..regression.baseline import Baseline, baseline_path
from ..regression.baseline_file import Anchor, load_anchor
from ..regression.cause import Cause
from ..regression.guards.calibration import advisory_metrics
from ..regression.guards.case_trial import Confirmed
from ..regression.guards.coverage import metrics_without_numbers, nothing_compares
from ..regression.guards.gates import judge_gate
from ..regression.outcomes import Advisory, BaselineNote
from ..regression.statistics.case_rule import MOST
from ..regression.thresholds import PSEUDO_METRICS, Bound, Gate
from ..regression.verdict import Verdict, judge
from ..reporting.wording.gates import reason_text
from ..reporting.wording.notes import not_reused_text
from ..reporting.wording.verdict import got_worse_text, missed_thresholds_text, no_baseline_text

if TYPE_CHECKING:
    from ..history.accepted import AcceptedTexts


@dataclass(eq=False, repr=False)
class Evaluation:
    """A measured suite.  ``evaluation["recall@5"]`` compares with floats.

    Attributes:
        run: the measured cases.
        suite: the golden file.
        metrics: the metric objects behind the scores.
        baseline: what was accepted, or None; ``baseline_note`` then says why.
        accepting: the run is about to become the baseline, so it is no regression by definition.
        calibrations: the folder that says which judges may fail the run.
        anchor: the older baseline that small steps down add up against, if there is one.
        repeat: how often each case was asked.
        again: asks the system once more; None for recorded answers.
        accepted: reads the accepted answers, where they are kept.
    """

    run: Run
    suite: GoldenSuite
    metrics: Mapping[str, Metric]
    baseline: Baseline | None = None
    baseline_note: BaselineNote = field(default_factory=BaselineNote)
    accepting: bool = False
    calibrations: Path | None = None
    anchor: Anchor | None = None
    repeat: int = 1
    further: list[Run] = field(default_factory=list)
    again: FurtherAnswers | None = None
    accepted: Callable[[], AcceptedTexts | None] = lambda: None

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the run: thresholds, coverage, comparison with the baseline."""
        return self._judge()

    def _judge(self, *, can_look: bool = False) -> Verdict:
        return judge(
            self.run, self.suite.gates, self.suite.policy, self.metrics,
            baseline=self.baseline, baseline_note=self.baseline_note, calibrations=self.calibrations,
            anchor=self.anchor, further=self.further, can_look=can_look,
        )  # fmt: skip

    def look_again(self, further: FurtherAnswers) -> list[FinishedCase]:
        """Ask every case once more, side by side, as long as what was seen would fail too often by chance.

        Return what came of it: nothing for most runs.
        """
        looked: list[FinishedCase] = []
        while True:
            can_look = further.may_look(self.run, self.suite.cases, len(self.further))
            verdict = self._judge(can_look=can_look)
            if not verdict.wants_look:
                self.verdict = verdict
                return looked
            run, finished = drive(further.look(self.run, self.suite.cases, len(self.further)))
            self.further.append(run)
            looked += finished

    @cached_property
    def advisory(self) -> Mapping[str, Advisory]:
        """The judged metrics that may not fail the run, and why not."""
        return advisory_metrics(self.run.metrics, self.suite.policy, self.calibrations)

    def why(self) -> Cause:
        """Ask the generator with the accepted documents, and return by which part the run is worse.

        Once: the cause is part of the verdict from then on.  ``culprit`` is the part; ``refusal`` says why there is
        none: recorded answers have no generator, and documents that nobody kept cannot be given.

        Raises:
            HistoryError: the accepted answers are there and cannot be read.
        """
        from ..cause.why import Question, find_cause

        if self.verdict.cause is None and self.again is not None:
            question = Question(self.run, self.verdict, self.suite.cases, self.accepted(), looks=self.further)
            self.verdict.cause = drive(find_cause(question, self.again))
        return self.verdict.cause or Cause(refusal="no generator", detail="the answers were recorded")

    def __getitem__(self, name: str) -> ComparableScore:
        """Return the aggregate of metric *name*, errored cases counted as its worst value.

        Raises:
            UnknownNameError: the metric was not measured; the message names those that were.
        """
        if name in PSEUDO_METRICS:
            gate = judge_gate(self.run, Gate(name, Bound("min", 0.0)), self.metrics)
            return ComparableScore(name, gate.value, gate.reason, run=self.run)
        if name not in self.metrics:
            raise unknown_name("metric of this run", name, [*self.metrics, *PSEUDO_METRICS])
        aggregate = self.verdict.aggregates[name]
        reasons = sorted({s.reason for s in self.run.scores_of(name) if s.reason})
        reason = aggregate.problem or "; ".join(reasons[:2])
        return ComparableScore(
            name, aggregate.gated, reason, self.run, info=self.run.metrics[name], aggregate=aggregate
        )

    def assert_no_regression(self) -> None:
        """Raise AssertionError if a case or a metric got worse than the baseline, or a metric than the anchor.

        Raises:
            AssertionError: what fell, by how much, in which cases.
            BaselineError: there is no baseline to compare with, or nothing in the run compares with it.
        """
        __tracebackhide__ = True
        if self.accepting:
            return
        if self.baseline is None:
            raise BaselineError(no_baseline_text(self.run, self.verdict))
        if self.verdict.comparison is not None:
            for gate in nothing_compares(self.run, self.verdict.comparison, required=True):
                raise BaselineError(f"{self.run.title}: {reason_text(gate, self.run)}")
        if text := got_worse_text(self.run, self.verdict):
            raise AssertionError(text)

    def assert_thresholds(self) -> None:
        """Raise AssertionError if a suite threshold or a case's own does not hold, or nothing was measured."""
        __tracebackhide__ = True
        if all(case.state == "skipped" for case in self.run.cases.values()):
            raise AssertionError(f"{self.run.title}: nothing was measured: every case was skipped")
        if unmeasured := metrics_without_numbers(self.run):
            raise AssertionError(f"{self.run.title}: nothing was measured: no number in {names_words(unmeasured)}")
        if text := missed_thresholds_text(self.run, self.verdict):
            raise AssertionError(text)


def evaluate(
    golden: str | os.PathLike[str] | GoldenSuite,
    rag: Any,
    *,
    registry: Registry | None = None,
    concurrency: int = 1,
    timeout: float | None = None,
    convert: Convert | None = None,
    baseline: str | os.PathLike[str] | None = None,
    variant: str = "",
    provenance: Mapping[str, Any] | None = None,
    caller: Caller | None = None,
    repeat: int | None = None,
    seed: int | None = None,
    timed: bool = True,
    calibrations: str | os.PathLike[str] | None = None,
    progress: bool | None = False,
) -> Evaluation:
    """Run *rag* on every case of a golden file and score it.

    Args:
        golden: path of a golden file, or a loaded suite.
        rag: the system, in any form `as_system` takes.
        registry: where metric names are looked up.
        concurrency: how many calls may run at once.
        timeout: seconds one call may take.
        convert: turns the system's own answers into `SystemOutputs`.
        baseline: directory or ``.json`` file to use instead of ``__baselines__/`` beside the golden file.
        variant: name of this configuration, where there are several.
        provenance: what produced the answers; stored and compared with the baseline's.
        caller: makes the calls; the default is closed when they are done.
        repeat: how often each case is asked; by default what the golden file says.
        seed: of ``random``, numpy and torch, from which each call's own is derived; takes a concurrency of 1.
        timed: whether the time of a call is the system's; not where *rag* looks recorded answers up.
        calibrations: folder of calibration files; by default ``__calibrations__`` beside the golden file.
        progress: whether a bar is shown on standard error; None: where somebody looks at it.

    Hooks of installed packages apply as under pytest; what is given here goes before what they say.

    Raises:
        GoldenFileError: the golden file is wrong.
        SystemShapeError: *rag* is nothing that can be called.
        BaselineError: the baseline is there and cannot be read.
        ValueError: a seed, and a concurrency under which calls would draw from the generators in any order.
    """
    system = as_system(rag)
    own_caller = caller or Caller(concurrency, timeout=timeout, coroutines=system.is_async)
    if seed is not None and own_caller.concurrency > 1:
        raise ValueError(
            f"calls with a seed are made one at a time, not {own_caller.concurrency}: leave out concurrency"
        )
    hooks = ProjectHooks()
    registry = registry or hooks.registry
    suite = golden if isinstance(golden, GoldenSuite) else load_golden(Path(golden), registry)
    times = suite.repeat if repeat is None else repeat
    evaluation = open_evaluation(
        suite, registry, variant=variant, baseline=baseline, calibrations=calibrations, repeat=times
    )
    evaluation.run.provenance = {
        **system.provenance, **({} if seed is None else {"seed": seed}),
        **hooks.provenance(suite.name, suite.path), **(provenance or {}),
    }  # fmt: skip
    if suite.policy.reuse:
        system = with_reuse(system, suite, evaluation.run, evaluation.baseline, repeat=times)
    answers = times * (len(suite.cases) - len(suite.skipped))
    judging = judging_bar(evaluation.metrics, answers, show=progress)
    flow = CaseFlow(
        evaluation.run, evaluation.metrics, suite.policy, baseline=evaluation.baseline, advisory=evaluation.advisory,
        timed=timed, convert=convert or hooks.convert, redact=hooks.redact, progress=judging, cases=suite.cases,
        confirmed=Confirmed(len(suite.cases)),
    )  # fmt: skip
    is_live = timed and not isinstance(system, Answering)
    with own_caller if caller is None else nullcontext(), judging:
        further = FurtherAnswers(flow, system, own_caller, seed=seed)
        numbers = further_numbers(times if is_live else None)
        for finished in run_suite(further, suite.cases, repeat=times, progress=progress, numbers=numbers):
            evaluation.run.add([finished.result])
        if is_live:
            evaluation.look_again(further)
    if is_live:
        evaluation.again = replace(further, flow=replace(flow, progress=None))
    return evaluation


def with_reuse(system: System, suite: GoldenSuite, run: Run, baseline: Baseline | None, *, repeat: int) -> System:
    """Return *system* as one whose accepted answers serve again where they may; a warning says why none of them may.

    Raises:
        NoRetrieverError: it retrieves and answers in one call.
    """
    if isinstance(system, Answering):
        return system
    retriever_of(system)
    found = reusing(system, suite, run, baseline, repeat=repeat)
    if not isinstance(found, Refusal):
        return found
    warnings.warn(not_reused_text(run.title, found), AueporaWarning, stacklevel=2)
    return system


def further_numbers(repeat: int | None) -> Callable[[GoldenCase], Iterable[int]]:
    """Return the function that says by which answers a failing case is asked again, none where *repeat* is None.

    One that is timed is not asked again.
    """
    return lambda case: range(repeat, repeat + MOST) if repeat is not None and case.benchmark is None else ()


def open_evaluation(
    suite: GoldenSuite,
    registry: Registry,
    *,
    variant: str = "",
    baseline: str | os.PathLike[str] | None = None,
    calibrations: str | os.PathLike[str] | None = None,
    repeat: int = 1,
) -> Evaluation:
    """Return the evaluation of *suite* before anything was measured; parameters as of `evaluate`.

    Raises:
        BaselineError: the baseline is there and cannot be read.
    """
    metrics = suite_metrics(suite, registry)
    override = Path(baseline) if baseline is not None else None
    accepted, note = find_baseline(suite, variant, override)
    path = baseline_path(suite.path, suite.name, variant, override)
    anchor = load_anchor(path, suite.name, variant)
    return Evaluation(
        blank_run(suite, metrics, variant), suite, metrics, accepted, note,
        calibrations=calibrations_of(suite, calibrations), anchor=anchor, repeat=repeat,
        accepted=partial(_find_accepted, path, Path(suite.path)),
    )  # fmt: skip


def _find_accepted(baseline: Path, golden: Path) -> AcceptedTexts | None:
    from ..history.accepted import find_accepted

    root = project_root(golden.parent)
    return find_accepted(baseline, shown_path(golden, root), project_place(golden.parent), root)
