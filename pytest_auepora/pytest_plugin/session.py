"""What one pytest process knows: metrics, golden suites, baselines, the systems it calls.

What scores and judges answers is imported where it is used: calls are under way before (see `meanwhile`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..adapters.systems import System, as_system
from ..calls.call import Fn
from ..errors import BaselineError
from ..evaluation.replay import Answering, ask_case
from ..io.golden.load import GoldenCase, GoldenSuite, load_golden
from ..regression.guards.case_guard import Confirmations
from .answer_source import Answers
from .calling import Callers
from .endings import ended_by
from .keys import SESSION
from .lookahead import Queue
from .options import Options
from .project_hooks import ProjectHooks

if TYPE_CHECKING:
    from ..core.metrics_base import Metric
    from ..core.run import CaseResult, MetricInfo, Run
    from ..evaluation.case_flow import CaseFlow
    from ..regression.anchor import Anchor
    from ..regression.baseline.model import Baseline
    from .labels import Labels

__all__ = ["AueporaSession", "session_of"]


def session_of(config: pytest.Config) -> AueporaSession:
    """Return the session of *config*; made on first use, so fixtures work without ``--auepora``."""
    if SESSION not in config.stash:
        config.stash[SESSION] = AueporaSession(config)
    return config.stash[SESSION]


class AueporaSession:
    """Loads each thing once, and answers for the options.

    Attributes:
        running: the golden item whose function is being called.
        queue: those that will be run, where calls may be made ahead of time.
        answered: called after each call of a case, with ``last`` after the last, where progress is shown.
    """

    running: pytest.Function

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = config.rootpath
        self.options = Options(config)
        self.project = ProjectHooks(config)
        self.callers = Callers(config, self.options, self.use_time)
        self.queue = Queue(())
        self.answered: Callable[..., None] | None = None
        self._relative: dict[Path, str] = {}
        self._again: dict[Path, dict[str, int]] = {}
        self.confirmations = Confirmations()
        self._suites: dict[Path, GoldenSuite] = {}
        self._suites_by_baseline: dict[Path, Path] = {}
        self._metrics: dict[Path, dict[str, Metric]] = {}
        self._infos: dict[Path, dict[str, MetricInfo]] = {}
        self._baselines: dict[tuple[Path, str], tuple[Baseline | None, str]] = {}
        self._advisory: dict[Path, Mapping[str, str]] = {}
        self._flows: dict[tuple[Path, str], CaseFlow] = {}
        self._systems: dict[int, tuple[Any, System]] = {}
        self._provenance: dict[tuple[Path, int], tuple[System, dict[str, Any]]] = {}
        self.answers = Answers(self)

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

    def use_time(self) -> None:
        """Make ready what comes later while the first answers are awaited."""
        from .meanwhile import make_ready

        make_ready(self)

    def settle(
        self, suite: GoldenSuite, case: GoldenCase, corpus: Any, variant: str, provenance: Mapping[str, Any]
    ) -> GoldenCase:
        """Return *case* with labels that moved in the project's *corpus* (None: its hook is asked) matched anew."""
        if corpus is None and not self.project.has_corpus:
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
            suite = self._suites[path] = load_golden(path, self.project.registry)
            for tag in sorted({*suite.tags, *(t for c in suite.cases for t in c.tags)}):
                self.config.addinivalue_line("markers", f"{tag}: tag of golden cases")
        return suite

    def namesake(self, suite: GoldenSuite) -> Path | None:
        """Return another golden file that was collected and has the same baseline, or None."""
        from ..regression.baseline.file import baseline_path

        override = self.options.override
        if override is not None and override.suffix == ".json":  # one file, named on purpose
            override = None
        where = baseline_path(suite.path, suite.name, "", override)
        first = self._suites_by_baseline.setdefault(where, suite.path)
        return None if first == suite.path else first

    def metrics(self, suite: GoldenSuite) -> dict[str, Metric]:
        """Return the metric objects of *suite*."""
        if (metrics := self._metrics.get(suite.path)) is None:
            from ..evaluation.suite_run import suite_metrics

            metrics = self._metrics[suite.path] = suite_metrics(suite, self.project.registry)
        return metrics

    def infos(self, suite: GoldenSuite) -> dict[str, MetricInfo]:
        """Return what describes the metrics of *suite*, by name."""
        if (infos := self._infos.get(suite.path)) is None:
            from ..evaluation.suite_run import blank_run

            infos = self._infos[suite.path] = blank_run(suite, self.metrics(suite)).metrics
        return infos

    def baseline(self, suite: GoldenSuite, variant: str) -> tuple[Baseline | None, str]:
        """Return the baseline of *suite*, or None and why: absent, or unreadable."""
        key = suite.path, variant
        if key not in self._baselines:
            from ..evaluation.suite_run import find_baseline

            try:
                self._baselines[key] = find_baseline(suite, variant, self.options.override)
            except BaselineError as exc:
                from ..regression.baseline.model import BROKEN

                self._baselines[key] = None, f"{BROKEN}{exc}"
        return self._baselines[key]

    def baseline_path(self, suite: GoldenSuite, variant: str) -> Path:
        """Return where the baseline of *suite* is written."""
        from ..regression.baseline.file import baseline_path

        return baseline_path(suite.path, suite.name, variant, self.options.override)

    def calibrations(self, suite: GoldenSuite) -> Path:
        """Return the folder that says which judges of *suite* may fail the run."""
        from ..evaluation.suite_run import calibrations_of

        given = self.config.getini("auepora_calibrations")
        return calibrations_of(suite, self.root / given if given else None)

    def advisory(self, suite: GoldenSuite) -> Mapping[str, str]:
        """Return the metrics of *suite* that cannot fail a case, and why."""
        if (found := self._advisory.get(suite.path)) is None:
            from ..regression.guards.calibration import standing_of

            standing = standing_of(self.infos(suite), suite.policy, self.calibrations(suite))
            found = self._advisory[suite.path] = standing.advisory
        return found

    def anchor(self, suite: GoldenSuite, variant: str) -> Anchor | None:
        """Return the older baseline that is judged as well; None where this run is about to replace it."""
        from ..regression.anchor import load_anchor

        if self.options.anchoring:
            return None
        return load_anchor(self.baseline_path(suite, variant), suite.name, variant)

    def run(self, suite: GoldenSuite, variant: str, provenance: Mapping[str, Any]) -> Run:
        """Return an empty run of *suite*."""
        from ..evaluation.suite_run import blank_run

        run = blank_run(suite, self.metrics(suite), variant, self.relative(suite.path))
        run.provenance = dict(provenance)
        return run

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
            if self.options.seed is not None:
                out["seed"] = self.options.seed
            out |= self.project.provenance(suite.name, suite.path)
            known = self._provenance[key] = system, out
        return known[1]

    def ask(self, system: System, case: GoldenCase, repeat: int = 0) -> Fn:
        """Return the call that puts *case* to *system* for the time *repeat*, counted from 0."""
        return ask_case(system, case, repeat, seed=self.options.seed)

    def where(self, suite: GoldenSuite, case: GoldenCase) -> str:
        """Return ``file:line`` of *case*."""
        return f"{self.relative(suite.path)}:{case.line}"

    def let_go(self) -> None:
        """Forget what was read for the run that is over."""
        self.queue = Queue(())
        for read in (self._suites, self._baselines, self._flows):
            read.clear()

    def repeats(self, suite: GoldenSuite) -> int:
        """Return how often each case of *suite* is asked."""
        return self.options.repeats(suite.repeat)

    def again(self, suite: GoldenSuite, system: System | None = None) -> Mapping[str, int]:
        """Return how many more answers an update asks for, by case, to learn what varies; else none."""
        accepts = self.options.intents or self.options.anchoring
        if not accepts or isinstance(system, Answering):
            return {}
        if (plan := self._again.get(suite.path)) is None:
            from ..regression.baseline.model import again_plan

            asked = (case.id for case in suite.cases if case.skip is None and case.benchmark is None)
            known = self.repeats(suite) - 1  # repeats tell as much
            found = again_plan(asked, suite.policy.again)
            plan = self._again[suite.path] = {case_id: n - known for case_id, n in found.items() if n > known}
        return plan

    def confirms(self, suite: GoldenSuite, case: GoldenCase, system: System, result: CaseResult) -> range:
        """Return the numbers of the repeats that ask a failed case again, before it fails; none for most."""
        if self.options.intents or self.repeats(suite) > 1 or result.state != "failed":
            return range(0)
        if isinstance(system, Answering) and system.base is None:
            return system.confirms(case)
        timed = case.benchmark is not None
        wanted = self.confirmations.wants(suite.path, len(suite.cases), result, suite.policy, timed=timed)
        return range(1, 1 + suite.policy.confirm) if wanted else range(0)

    def flow(self, suite: GoldenSuite, variant: str, provenance: Mapping[str, Any] | None = None) -> CaseFlow:
        """Return what ends the cases of *suite* under one configuration; *provenance* once the system is known."""
        key = suite.path, variant
        if (flow := self._flows.get(key)) is None:
            from ..evaluation.case_flow import CaseFlow

            run, (baseline, _) = self.run(suite, variant, {}), self.baseline(suite, variant)
            flow = self._flows[key] = CaseFlow(
                run, self.metrics(suite), suite.policy, baseline=baseline,
                advisory=self.advisory(suite), accepting=self.options.accepting, convert=self.project.convert,
                settle=lambda case, corpus: self.settle(suite, case, corpus, variant, run.provenance),
                known=lambda corpus: self.labels.known(suite, corpus),
                redact=self.project.redact if self.project.redacts else None,
                record_cap=self.answers.record_cap, ended_by=ended_by,
            )  # fmt: skip
        if provenance is not None:
            flow.run.provenance = dict(provenance)
        return flow
