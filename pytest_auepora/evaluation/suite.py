"""A whole golden suite against one system: its metrics, an empty run and its baseline before anything is asked, then
all of its cases in one go.  Without pytest, `evaluate` gives an `Evaluation`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..adapters.systems import System, as_system
from ..base.progress import Progress
from ..base.text import names_words, unknown_name
from ..calls.caller import Caller
from ..core.metrics_base import CHUNK_KEYS, Metric
from ..core.run import CaseResult, ComparableScore, MetricInfo, Run
from ..errors import BaselineError
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenCase, GoldenSuite
from ..metrics.catalogue import ALWAYS
from ..metrics.registry import Registry
from ..regression.baseline import Anchor, Baseline, baseline_path, load_anchor, load_baseline
from ..regression.compare import drops_of
from ..regression.guards.calibration import FOLDER, standing_of
from ..regression.guards.case_guard import wants_confirmation
from ..regression.guards.coverage import metrics_without_numbers, nothing_compares
from ..regression.guards.gates import judge_gate
from ..regression.thresholds import PSEUDO_METRICS, Bound, Gate
from .case_flow import CaseCalls, CaseFlow, FinishedCase
from .case_result import Ended
from .measure import Convert, judging_bar
from .replay import Answering, ask_case

if TYPE_CHECKING:
    from ..regression.verdict import Verdict

_MOST_LINES = 20  # of a failed assertion


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
    """

    run: Run
    suite: GoldenSuite
    metrics: Mapping[str, Metric]
    baseline: Baseline | None = None
    baseline_note: str = ""
    accepting: bool = False
    calibrations: Path | None = None
    anchor: Anchor | None = None
    repeat: int = 1

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the run: thresholds, coverage, comparison with the baseline."""
        from ..regression.verdict import judge  # a session makes an empty run long before

        return judge(
            self.run, self.suite.gates, self.suite.policy, self.metrics,
            baseline=self.baseline, baseline_note=self.baseline_note, calibrations=self.calibrations,
            anchor=self.anchor,
        )  # fmt: skip

    @cached_property
    def advisory(self) -> Mapping[str, str]:
        """The judged metrics that may not fail the run, and why not."""
        return standing_of(self.run.metrics, self.suite.policy, self.calibrations).advisory

    def __getitem__(self, name: str) -> ComparableScore:
        """Return the aggregate of metric *name*, errored cases counted as its worst value.

        Raises:
            UnknownNameError: the metric was not measured; the message names those that were.
        """
        if name in PSEUDO_METRICS:
            gate = judge_gate(self.run, Gate(name, Bound("min", 0.0)), self.metrics)
            return ComparableScore(name, gate.value, gate.message, run=self.run)
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
            raise BaselineError(
                f"{self.run.title}: {self.baseline_note}; accept the present state with --auepora-update"
            )
        if self.verdict.comparison is not None:
            for gate in nothing_compares(self.run, self.verdict.comparison, required=True):
                raise BaselineError(f"{self.run.title}: {gate.reason}")
        kinds = ("regression", "coverage", "anchor")
        bad = [g.message for g in self.verdict.gates if g.kind in kinds and g.state == "failed"]
        for case in self.run.cases.values():
            if case.expected_to_fail:
                continue
            if case.state == "error":
                bad.append(f"{case.case_id}: {case.error_line}")
            elif case.case_id in self.verdict.regressed_cases:
                bad += [f"{case.case_id}: {line}" for line in drops_of(case)]
        if bad:
            raise AssertionError(_join_lines(f"{self.run.title} got worse than its baseline", bad))

    def assert_thresholds(self) -> None:
        """Raise AssertionError if a suite threshold or a case's own does not hold, or nothing was measured."""
        __tracebackhide__ = True
        if all(case.state == "skipped" for case in self.run.cases.values()):
            raise AssertionError(f"{self.run.title}: nothing was measured: every case was skipped")
        if unmeasured := metrics_without_numbers(self.run):
            raise AssertionError(f"{self.run.title}: nothing was measured: no number in {names_words(unmeasured)}")
        bad = [g.message for g in self.verdict.gates if g.kind == "threshold" and g.state == "failed"]
        bad += [f"{c.case_id}: {p}" for c in self.run.cases.values() if not c.expected_to_fail for p in c.problems]
        if bad:
            raise AssertionError(_join_lines(f"{self.run.title} misses its thresholds", bad))


def _join_lines(title: str, lines: list[str]) -> str:
    more = [f"… and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    return "\n".join([title, *(f"  {line}" for line in [*lines[:_MOST_LINES], *more])])


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
    registry = registry or Registry()
    suite = golden if isinstance(golden, GoldenSuite) else load_golden(Path(golden), registry)
    times = suite.repeat if repeat is None else repeat
    evaluation = open_evaluation(
        suite, registry, variant=variant, baseline=baseline, calibrations=calibrations, repeat=times
    )
    evaluation.run.provenance = {**system.provenance, **({} if seed is None else {"seed": seed}), **(provenance or {})}
    answers = times * (len(suite.cases) - len(suite.skipped))
    judging = judging_bar(evaluation.metrics, answers, show=progress)
    flow = CaseFlow(
        evaluation.run, evaluation.metrics, suite.policy, baseline=evaluation.baseline, advisory=evaluation.advisory,
        timed=timed, convert=convert, progress=judging,
    )  # fmt: skip
    confirms = _confirmation_rule(suite, live=timed and times == 1 and not isinstance(system, Answering))
    with own_caller if caller is None else nullcontext(), judging:
        for finished in run_suite(
            flow, suite.cases, system, own_caller, repeat=times, seed=seed, progress=progress, confirms=confirms
        ):
            evaluation.run.add([finished.result])
    return evaluation


def _confirmation_rule(suite: GoldenSuite, *, live: bool) -> Callable[[GoldenCase, CaseResult], range]:
    """Return the function that says which repeats ask a failed case again; none where no *live* system answers."""
    asked: list[CaseResult] = []

    def confirms(case: GoldenCase, result: CaseResult) -> range:
        timed = case.benchmark is not None
        wanted = live and wants_confirmation(result, asked, len(suite.cases), suite.policy, timed=timed)
        return range(1, 1 + suite.policy.confirm) if wanted else range(0)

    return confirms


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
    )  # fmt: skip


_ASSERTED = {"assertion_pass": {"must_contain", "forbidden"}, "json_schema_valid": {"answer_schema"}}
"""The metrics that measure assertions, with the labels that make one: a contract holds whatever the file lists."""
_LABELLED = {"coverage_entities": {"entities"}, "redaction_efficacy": {"sensitive"}}
"""The metrics that read only these labels."""


def suite_metrics(suite: GoldenSuite, registry: Registry) -> dict[str, Metric]:
    """Return the metrics of *suite* by name: those listed, those of assertions and labels, those always measured."""
    labels_used = {label for case in suite.cases for label in case.sample.labels}
    asserted = _ASSERTED if suite.policy.assertions == "fail" else {}
    labelled = [name for name, labels in {**asserted, **_LABELLED}.items() if not labels.isdisjoint(labels_used)]
    listed = {name.partition("[")[0] for name in suite.metrics}
    names = dict.fromkeys([*suite.metrics, *(name for name in labelled if name not in listed), *ALWAYS])
    return {name: registry.get(name) for name in names}


def blank_run(suite: GoldenSuite, metrics: Mapping[str, Metric], variant: str = "", path: str = "") -> Run:
    """Return a run of *suite* in which nothing has been measured yet.

    What is measured only because it costs nothing is shown and can be gated, but is no part of the baseline; nor are
    times and costs, unless the golden file gives them a policy of their own.
    """
    infos = {name: MetricInfo.of(metric) for name, metric in metrics.items()}
    for name, info in infos.items():
        asked_for = suite.policy.metrics.get(name, {}).get("policy", "report") != "report"
        info.baselined = (info.baselined and name in suite.metrics) or asked_for
        info.owner = suite.owners.get(name, "")
        policy_keys = suite.policy.provenance_keys_of(name)
        info.provenance_keys += [key for key in policy_keys if key not in info.provenance_keys]
        info.across_chunkers = "" if set(policy_keys).intersection(CHUNK_KEYS) else info.across_chunkers
    ids = tuple([case.id for case in suite.cases])
    return Run(suite.name, path or str(suite.path), variant, metrics=infos, expected_ids=ids, owner=suite.owner)


def find_baseline(suite: GoldenSuite, variant: str = "", override: Path | None = None) -> tuple[Baseline | None, str]:
    """Return the baseline of *suite*, or None and why; a broken one raises `BaselineError`."""
    path = baseline_path(suite.path, suite.name, variant, override)
    baseline = load_baseline(path, suite.name, variant)
    if baseline is not None:
        return baseline, ""
    plain = baseline_path(suite.path, suite.name, "", override)
    other = f"; {plain.name} is of no variant" if variant and plain.exists() else ""
    place = path.name if override in (None, path) else f"{path.parent.name}/{path.name}"  # it may be mistyped
    return None, f"no baseline yet ({place}{other})"


def calibrations_of(suite: GoldenSuite, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return where the calibrations of *suite*'s judges lie: *folder*, or ``__calibrations__`` beside it."""
    return Path(folder) if folder is not None else suite.path.parent / FOLDER


_BATCH_SIZE = 32  # cases that are measured at once: enough for a model, not many to hold


def run_suite(
    flow: CaseFlow,
    cases: Sequence[GoldenCase],
    system: System,
    caller: Caller,
    *,
    repeat: int = 1,
    corpus: Any = None,
    seed: int | None = None,
    progress: bool | None = False,
    again: Mapping[str, int] = MappingProxyType({}),
    confirms: Callable[[GoldenCase, CaseResult], range] | None = None,
) -> Iterator[FinishedCase]:
    """Put *cases* to *system* as `evaluate` does; yield each as *flow* ends it, those that are skipped first.

    *corpus* is what labels that moved are looked up in, as the project gave it.  *again* says by case how many more
    answers to ask for, which count for nothing but what varies; *confirms* which repeats, counted from 0, ask a failed
    case again before it fails: for most none.
    """
    from ..base.batches import in_batches  # a pytest session needs none of it

    todo = [case for case in cases if case.skip is None]
    times = {case.id: repeat + again.get(case.id, 0) for case in todo}
    ask = partial(ask_case, system, seed=seed)
    asks = (ask(case, i) for case in todo for i in range(times[case.id]))
    calls = caller.map(asks, (case.timeout for case in todo for _ in range(times[case.id])))
    for case in cases:
        if case.skip is not None:
            yield flow.leave_out(case, Ended("skip", case.skip))
    with closing(calls), Progress("cases", len(todo), show=progress) as bar:
        for batch in in_batches(todo, _BATCH_SIZE):
            batch_calls = [
                CaseCalls(case, list(islice(calls, times[case.id])), corpus, times[case.id] - repeat) for case in batch
            ]
            for asked_case, finished in zip(batch_calls, flow.finish_all(batch_calls, system), strict=True):
                case = asked_case.case
                if numbers := confirms(case, finished.result) if confirms is not None else ():
                    retries = [caller.call((case.id, i), ask(case, i), timeout=case.timeout) for i in numbers]
                    flow.confirm(finished, CaseCalls(case, retries, corpus), system)
                yield finished
                bar.done()
