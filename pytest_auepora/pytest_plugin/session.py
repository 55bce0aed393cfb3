"""What one pytest process knows: metrics, golden suites, baselines, the systems it calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System, as_system
from ..core.calls import Caller, CallResult, Fn
from ..core.metrics_base import Metric
from ..core.retry import RetryPolicy
from ..core.run import CaseResult, MetricInfo, Run
from ..core.types import EvaluationSample, SystemOutputs
from ..errors import BaselineError
from ..evaluation.case import ask_case, measure_case
from ..evaluation.repeats import merge_repeats, widened
from ..evaluation.replay import Answering
from ..evaluation.suite import blank_run, calibrations_of, find_baseline, suite_metrics
from ..io.golden import GoldenCase, GoldenSuite, load_golden
from ..metrics.extensions import add_installed
from ..metrics.registry import Registry
from ..regression.accept import INTENTS
from ..regression.anchor import Anchor, load_anchor
from ..regression.baseline import Baseline, baseline_path
from ..regression.calibration import standing_of
from ..regression.case_guard import judge_case
from ..regression.comparability import incomparable_metrics
from ..regression.compare import CaseComparison, compare_case
from ..regression.repeat_plan import RepeatPlan
from .answers import Answers
from .keys import SESSION
from .lookahead import Queue

if TYPE_CHECKING:
    from .labels import Labels
    from .stages import Stages

__all__ = ["AueporaSession", "configure", "session_of"]

ASYNC_CONCURRENCY = 8
"""Calls in flight for async systems unless the user says otherwise: their clients are made for it."""


def session_of(config: pytest.Config) -> AueporaSession:
    """Return the session of *config*; made on first use, so fixtures work without ``--auepora``."""
    if SESSION not in config.stash:
        config.stash[SESSION] = AueporaSession(config)
    return config.stash[SESSION]


def configure(config: pytest.Config) -> None:
    """Register what ``--auepora`` switches on."""
    from .items import Collecting
    from .judge import Judge

    session = session_of(config)
    config.pluginmanager.register(Collecting(config), "auepora-collecting")
    if config.getini("auepora_junit_properties"):
        from .junit import JUnitProperties

        config.pluginmanager.register(JUnitProperties(), "auepora-junit")
    if not hasattr(config, "workerinput"):
        from . import quick_summary
        from .recorder import make_recorder
        from .reports import make_reports
        from .terminal import Terminal

        judge = Judge(config)
        config.pluginmanager.register(judge, "auepora-judge")
        if (target := session.suggest) is not None:
            from .suggesting import Suggesting

            config.pluginmanager.register(Suggesting(config, target), "auepora-suggesting")
        config.pluginmanager.register(make_reports(config, judge), "auepora-reports")
        if (recorder := make_recorder(config)) is not None:
            recorder.recover()
            config.pluginmanager.register(recorder, "auepora-recorder")
        if (replay := session.answers.replay) is not None:
            from .replay import Replaying

            config.pluginmanager.register(Replaying(replay), "auepora-replaying")
        config.pluginmanager.register(Terminal(config, judge), "auepora-terminal")
        quick_summary.register(config)


class AueporaSession:
    """Loads each thing once, and answers for the options."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = config.rootpath
        self.intents = self._intents()
        self.prune: bool = config.getoption("auepora_prune")
        self.processes = int(getattr(config, "workerinput", {}).get("workercount", 1))
        self.anchoring: bool = config.getoption("auepora_anchor")
        self.timeout = self._number("auepora_timeout", float)
        self.concurrency: int | None = self._number("auepora_concurrency", int)
        self.repeat = self._repeat()
        self.suggest: str | None = config.getoption("auepora_suggest")
        self.staged: frozenset[Path] = frozenset()
        self.seed: int | None = self._number("auepora_seed", int, zero=True)
        self.checking = bool(config.getoption("auepora_check") or config.getoption("auepora_reanchor"))
        override = config.getoption("auepora_baseline")
        self.override = config.invocation_params.dir / override if override else None
        self.queue: Queue | None = None
        self._relative: dict[Path, str] = {}
        self._suites: dict[Path, GoldenSuite] = {}
        self._metrics: dict[Path, dict[str, Metric]] = {}
        self._infos: dict[Path, dict[str, MetricInfo]] = {}
        self._baselines: dict[tuple[Path, str], tuple[Baseline | None, str]] = {}
        self._advisory: dict[Path, Mapping[str, str]] = {}
        self._incomparable: dict[tuple[Path, str], Mapping[str, str]] = {}
        self._systems: dict[int, tuple[Any, System]] = {}
        self._provenance: dict[tuple[Path, int], tuple[System, dict[str, Any]]] = {}
        self._callers: dict[bool, Caller] = {}
        self.answers = Answers(self)

    def _intents(self) -> frozenset[str]:
        words = frozenset(filter(None, (self.config.getoption("auepora_update") or "").split(",")))
        if unknown := words - set(INTENTS):
            raise pytest.UsageError(
                f"--auepora-update: unknown word {', '.join(sorted(unknown))}; there is {', '.join(INTENTS)}"
            )
        return words

    def _number(self, name: str, kind: type[int] | type[float], *, zero: bool = False) -> Any:
        given = self.config.getoption(name)
        if given is None and (text := self.config.getini(name)):
            try:
                given = kind(text)
            except ValueError:
                raise pytest.UsageError(f"{name} = {text}: expected a number") from None
        if given is not None and (given < 0 or not (given or zero)):
            wanted = "0 or more" if zero else "more than 0"
            raise pytest.UsageError(f"--{name.replace('_', '-')} {given}: expected {wanted}")
        return given

    def _repeat(self) -> RepeatPlan | None:
        if not (text := self.config.getoption("auepora_repeat") or self.config.getini("auepora_repeat")):
            return None
        try:
            return RepeatPlan.read(text)
        except ValueError as exc:
            raise pytest.UsageError(f"--auepora-repeat: {exc}") from None

    @property
    def accepting(self) -> bool:
        """Whether every result of this run is about to become the baseline."""
        return "all" in self.intents

    @property
    def updating(self) -> bool:
        """Whether any baseline file may be written."""
        return bool(self.intents) or self.prune

    @cached_property
    def stages(self) -> Stages:
        """What holds cases that may be asked again."""
        from .stages import Stages

        return Stages(self)

    @cached_property
    def registry(self) -> Registry:
        """All metrics, the project's own included."""
        registry = Registry()
        add_installed(registry)
        self.config.hook.pytest_auepora_metrics(registry=registry, config=self.config)
        return registry

    @cached_property
    def commit(self) -> str:
        """The commit that the project is at, or an empty string."""
        from ..core.git import commit_of

        return commit_of(self.root)

    @cached_property
    def labels(self) -> Labels:
        """What is known of the corpus, and of labels that moved in it."""
        from .labels import Labels

        return Labels(self)

    def settle(
        self, suite: GoldenSuite, case: GoldenCase, corpus: Any, variant: str, provenance: Mapping[str, Any]
    ) -> GoldenCase:
        """Return *case* with labels that moved in the project's *corpus* (None: its hook is asked) matched anew."""
        if corpus is None and not self.config.hook.pytest_auepora_corpus.get_hookimpls():
            return case
        return self.labels.settle(suite, case, corpus, variant, provenance)

    def relative(self, path: Path) -> str:
        """Return *path* as node ids write it."""
        if (found := self._relative.get(path)) is None:
            try:
                found = path.relative_to(self.root).as_posix()
            except ValueError:
                found = path.as_posix()
            self._relative[path] = found
        return found

    def suite(self, path: Path) -> GoldenSuite:
        """Load a golden file, and register its tags as markers.  Raises `GoldenFileError`."""
        if (suite := self._suites.get(path)) is None:
            suite = self._suites[path] = load_golden(path, self.registry)
            for tag in sorted({*suite.tags, *(t for c in suite.cases for t in c.tags)}):
                self.config.addinivalue_line("markers", f"{tag}: tag of golden cases")
        return suite

    def metrics(self, suite: GoldenSuite) -> dict[str, Metric]:
        """Return the metric objects of *suite*."""
        if (metrics := self._metrics.get(suite.path)) is None:
            metrics = self._metrics[suite.path] = suite_metrics(suite, self.registry)
        return metrics

    def infos(self, suite: GoldenSuite) -> dict[str, MetricInfo]:
        """Return what describes the metrics of *suite*, by name."""
        if (infos := self._infos.get(suite.path)) is None:
            infos = self._infos[suite.path] = blank_run(suite, self.metrics(suite)).metrics
        return infos

    def baseline(self, suite: GoldenSuite, variant: str) -> tuple[Baseline | None, str]:
        """Return the baseline of *suite*, or None and why: absent, or unreadable."""
        key = suite.path, variant
        if key not in self._baselines:
            try:
                self._baselines[key] = find_baseline(suite, variant, self.override)
            except BaselineError as exc:
                self._baselines[key] = None, f"broken: {exc}"
        return self._baselines[key]

    def baseline_path(self, suite: GoldenSuite, variant: str) -> Path:
        """Return where the baseline of *suite* is written."""
        return baseline_path(suite.path, suite.name, variant, self.override)

    def calibrations(self, suite: GoldenSuite) -> Path:
        """Return the folder that says which judges of *suite* may fail the run."""
        given = self.config.getini("auepora_calibrations")
        return calibrations_of(suite, self.root / given if given else None)

    def advisory(self, suite: GoldenSuite) -> Mapping[str, str]:
        """Return the metrics of *suite* that cannot fail a case, and why."""
        if (found := self._advisory.get(suite.path)) is None:
            standing = standing_of(self.infos(suite), suite.policy, self.calibrations(suite))
            found = self._advisory[suite.path] = standing.advisory
        return found

    def anchor(self, suite: GoldenSuite, variant: str) -> Anchor | None:
        """Return the older baseline that is judged as well; None where this run is about to replace it."""
        return None if self.anchoring else load_anchor(self.baseline_path(suite, variant), suite.name, variant)

    def run(self, suite: GoldenSuite, variant: str, provenance: Mapping[str, Any]) -> Run:
        """Return an empty run of *suite*."""
        run = blank_run(suite, self.metrics(suite), variant, self.relative(suite.path))
        run.provenance = dict(provenance)
        return run

    def incomparable(self, suite: GoldenSuite, variant: str, provenance: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the metrics that do not compare with the baseline, and why."""
        key = suite.path, variant
        if key not in self._incomparable:
            baseline, _ = self.baseline(suite, variant)
            run = self.run(suite, variant, provenance)
            self._incomparable[key] = incomparable_metrics(run, baseline) if baseline is not None else {}
        return self._incomparable[key]

    def system(self, rag: Any) -> System:
        """Return the adapted form of a fixture's value; the same for the same value."""
        known = self._systems.get(id(rag))
        if known is None or known[0] is not rag:
            known = self._systems[id(rag)] = rag, as_system(rag)
        return known[1]

    def provenance(self, suite: GoldenSuite, system: System) -> dict[str, Any]:
        """Return what is known of how the answers came about; the project's hook has the last word.

        Of a run that is replayed it is what was known then.
        """
        if isinstance(system, Answering):
            return system.provenance
        key = suite.path, id(system)
        known = self._provenance.get(key)
        if known is None or known[0] is not system:
            out = dict(system.provenance)
            if self.seed is not None:
                out["seed"] = self.seed
            said = self.config.hook.pytest_auepora_provenance(config=self.config, suite=suite.name, path=suite.path)
            for part in reversed(said):
                out.update(part or {})
            known = self._provenance[key] = system, out
        return known[1]

    def caller(self, system: System) -> Caller:
        """Return what makes the calls of *system*."""
        if (caller := self._callers.get(system.is_async)) is None:
            worker = hasattr(self.config, "workerinput")
            wanted = self.concurrency or (ASYNC_CONCURRENCY if system.is_async else 1)
            # a worker's items are everybody's list, not its own share, so it cannot look ahead; calls that run side
            # by side draw from the same global generators in whatever order they get there
            concurrency = 1 if worker or self.seed is not None else wanted
            stops_early = self.config.getoption("maxfail", 0)
            names = self.config.getini("auepora_retry")
            caller = self._callers[system.is_async] = Caller(
                concurrency,
                lookahead=concurrency if stops_early and concurrency > 1 else None,
                timeout=self.timeout,
                retry=RetryPolicy(tuple(names)) if names else None,
            )
        return caller

    def ask(self, system: System, case: GoldenCase, repeat: int = 0) -> Fn:
        """Return the call that puts *case* to *system* for the time *repeat*, counted from 0."""
        return ask_case(system, case, repeat, seed=self.seed)

    def drop_calls(self) -> None:
        """Forget calls started early: the systems they use are about to go."""
        for caller in self._callers.values():
            caller.drop()

    def close(self) -> None:
        """Cancel what still runs."""
        for caller in self._callers.values():
            caller.close()
        self._callers.clear()

    def convert(self, output: Any, sample: EvaluationSample) -> SystemOutputs | None:
        """Ask the project's own conversion first."""
        hook = self.config.hook.pytest_auepora_convert
        if not hook.get_hookimpls():  # a call of nobody still costs, and this is once per case
            return None
        found: SystemOutputs | None = hook(output=output, sample=sample, config=self.config)
        return found

    def where(self, suite: GoldenSuite, case: GoldenCase) -> str:
        """Return ``file:line`` of *case*."""
        return f"{self.relative(suite.path)}:{case.line}"

    def plan(self, suite: GoldenSuite) -> RepeatPlan:
        """Return how often the cases of *suite* are asked; with two stages only where that can fail a run."""
        plan = self.repeat or suite.repeat
        if self.suggest:
            return RepeatPlan.times(max(plan.total, 2) if self.repeat else RepeatPlan().baseline)
        return RepeatPlan.times(plan.baseline) if self.accepting else plan

    def repeats(self, suite: GoldenSuite) -> int:
        """Return how often each case of *suite* is asked by its own test: all there may be, unless more can follow."""
        plan = self.plan(suite)
        return plan.first if suite.path in self.staged else plan.total

    def measure(self, suite: GoldenSuite, case: GoldenCase, system: System, calls: Sequence[CallResult]) -> CaseResult:
        """Score the finished *calls* of one case, its repeats merged."""
        return merge_repeats(self.measure_each(suite, case, system, calls), self.infos(suite))

    def measure_each(
        self, suite: GoldenSuite, case: GoldenCase, system: System, calls: Sequence[CallResult]
    ) -> list[CaseResult]:
        """Score the finished *calls* of one case, each by itself."""
        metrics, where = self.metrics(suite), self.where(suite, case)
        observe = self.answers.observe
        measured = [
            measure_case(case, system, c, metrics, where=where, convert=self.convert, observe=observe) for c in calls
        ]
        for result in measured:
            result.concurrency *= self.processes  # the system has to serve them all at once
        return measured

    def widened(self, suite: GoldenSuite, first: CaseResult, singles: Sequence[CaseResult]) -> CaseResult:
        """Merge all repeats of a case that was judged by the *first* of them."""
        result = widened(first, merge_repeats(singles, self.infos(suite)))
        self.redact(result)
        return result

    def judge(
        self, suite: GoldenSuite, case: GoldenCase, result: CaseResult, variant: str, provenance: Mapping[str, Any]
    ) -> CaseComparison | None:
        """Judge one measured case, redact it, and return how it compares with its baseline, if there is one."""
        baseline, _ = self.baseline(suite, variant)
        comparison: CaseComparison | None = None
        if baseline is not None:
            incomparable = self.incomparable(suite, variant, provenance)
            comparison = compare_case(result, baseline.cases.get(case.id), self.infos(suite), incomparable)
        held_to = None if self.accepting else comparison
        judge_case(result, case.thresholds, self.infos(suite), held_to, suite.policy, advisory=self.advisory(suite))
        self.redact(result)
        return comparison

    @property
    def redacts(self) -> bool:
        """Whether the project takes anything out."""
        return bool(self.config.hook.pytest_auepora_redact.get_hookimpls())

    def redact(self, result: CaseResult) -> None:
        """Let the project take secrets out of what is about to be stored and shown."""
        if self.redacts:
            self.config.hook.pytest_auepora_redact(result=result, config=self.config)
