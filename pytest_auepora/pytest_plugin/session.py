"""What one pytest process knows: its golden files, the parts that run their cases, and where pytest's objects have it.

`registration` puts it together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..core.files import shown_path
from ..core.git import commit_of
from ..core.progress import Progress
from ..errors import BaselineError
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenCase, GoldenSuite
from ..regression.policy import CLUSTERS_FOR_STATISTICS

if TYPE_CHECKING:
    from ..core.metrics_base import Metric
    from ..core.run import MetricInfo, Run
    from ..evaluation.case_flow import CaseFlow
    from ..evaluation.case_result import Ended
    from ..metrics.registry import Registry
    from ..regression.baseline import Anchor, Baseline
    from .answer_source import AnswerSources
    from .hooks import ProjectHooks
    from .labels import Labels
    from .lookahead import Callers, JudgeLookahead, Queue
    from .options import Options
    from .xdist import CaseReport

SUFFIXES = (".yaml", ".yml", ".jsonl")
"""How the names of golden files end."""
CORPUS = "auepora_corpus_ids"
"""The fixture that says what the system can return."""

SESSION: pytest.StashKey[AueporaSession] = pytest.StashKey()
"""On the config."""
CASE: pytest.StashKey[GoldenCase] = pytest.StashKey()
"""On an item: its golden case."""
SUITE: pytest.StashKey[GoldenSuite] = pytest.StashKey()
"""On an item: the suite of its case."""
CASE_REPORTS: pytest.StashKey[list[CaseReport]] = pytest.StashKey()
"""On an item: what it measured, to travel with its report."""


@dataclass(eq=False, repr=False)
class AueporaSession:
    """The parts of the plugin in one process; parts that need only some others are given those.

    Attributes:
        options: what the user asks for.
        project: what the project says by hooks.
        suites: the golden files, and what is made from each.
        labels: the corpus, and labels that moved in it.
        answers: where answers come from, and how many.
        judge_lookahead: asks LLM judges about answers that come early.
        callers: what makes the calls.
        queue: the cases that will be run, whose calls may be made ahead of time.
        progress: how far judges are, or calls of an update that asks again.
        answered: called after each call of a case, with ``last`` after the last, where progress is shown.
        running: the golden item whose function is being called.
    """

    options: Options
    project: ProjectHooks
    suites: Suites
    labels: Labels
    answers: AnswerSources
    judge_lookahead: JudgeLookahead
    callers: Callers
    queue: Queue
    progress: Progress
    answered: Callable[..., None] | None = None
    running: pytest.Function = field(init=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Cancel calls before pytest tears session fixtures down, also after ``-x`` and Ctrl-C."""
        self.callers.close()
        self.judge_lookahead.close()


class Suites:
    """The golden files of one process: each is read once, and so is what it is scored with and held to.

    What scores and judges answers is imported where it is used.

    Args:
        config: pytest's.
        options: what the user asks for.
        project: its metrics, how it reads answers, and how it redacts them.
        labels: match labels that moved anew.
        progress: where judged scores are counted.
        record_cap: characters kept of each answer; 0 keeps none.
    """

    def __init__(
        self,
        config: pytest.Config,
        options: Options,
        project: ProjectHooks,
        labels: Labels,
        *,
        progress: Progress,
        record_cap: int,
    ) -> None:
        self.root = config.rootpath
        self._config, self._options, self._project, self._labels = config, options, project, labels
        self._progress, self._record_cap = progress, record_cap
        self._loaded: dict[Path, GoldenSuite] = {}
        self._by_baseline: dict[Path, Path] = {}
        self._metrics: dict[Path, dict[str, Metric]] = {}
        self._infos: dict[Path, dict[str, MetricInfo]] = {}
        self._baselines: dict[tuple[Path, str], tuple[Baseline | None, str]] = {}
        self._scored_once: dict[Path, frozenset[str]] = {}
        self._flows: dict[tuple[Path, str], CaseFlow] = {}

    @property
    def registry(self) -> Registry:
        """All metrics, the project's own included."""
        return self._project.registry

    @cached_property
    def commit(self) -> str:
        """The commit that the project is at, or an empty string."""
        return commit_of(self.root)

    def load(self, path: Path | str) -> GoldenSuite:
        """Load a golden file, named in full or from the rootdir, and register its tags as markers.

        Raises:
            GoldenFileError: it is wrong.
        """
        path = self.root / path
        if (suite := self._loaded.get(path)) is None:
            suite = self._loaded[path] = load_golden(path, self.registry)
            for tag in sorted({*suite.tags, *(t for c in suite.cases for t in c.tags)}):
                self._config.addinivalue_line("markers", f"{tag}: tag of golden cases")
        return suite

    def relative(self, path: Path) -> str:
        """Return *path* as node ids write it."""
        return shown_path(path, self.root)

    def namesake(self, suite: GoldenSuite) -> Path | None:
        """Return another golden file that was collected and has the same baseline, or None."""
        from ..regression.baseline import baseline_path

        override = self._options.override
        if override is not None and override.suffix == ".json":  # one file, named on purpose
            override = None
        first = self._by_baseline.setdefault(baseline_path(suite.path, suite.name, "", override), suite.path)
        return None if first == suite.path else first

    def metrics(self, suite: GoldenSuite) -> dict[str, Metric]:
        """Return the metric objects of *suite*."""
        if (metrics := self._metrics.get(suite.path)) is None:
            from ..evaluation.suite import suite_metrics

            metrics = self._metrics[suite.path] = suite_metrics(suite, self.registry)
        return metrics

    def infos(self, suite: GoldenSuite) -> dict[str, MetricInfo]:
        """Return what describes the metrics of *suite*, by name."""
        if (infos := self._infos.get(suite.path)) is None:
            infos = self._infos[suite.path] = self.run(suite, "").metrics
        return infos

    def baseline(self, suite: GoldenSuite, variant: str) -> tuple[Baseline | None, str]:
        """Return the baseline of *suite*, or None and why: absent, or unreadable."""
        key = suite.path, variant
        if key not in self._baselines:
            from ..evaluation.suite import find_baseline

            try:
                self._baselines[key] = find_baseline(suite, variant, self._options.override)
            except BaselineError as exc:
                from ..regression.baseline import BROKEN

                self._baselines[key] = None, f"{BROKEN}{exc}"
        return self._baselines[key]

    def baseline_path(self, suite: GoldenSuite, variant: str) -> Path:
        """Return where the baseline of *suite* is written."""
        from ..regression.baseline import baseline_path

        return baseline_path(suite.path, suite.name, variant, self._options.override)

    def anchor(self, suite: GoldenSuite, variant: str) -> Anchor | None:
        """Return the older baseline that is judged as well; None where this run is about to replace it."""
        from ..regression.baseline import load_anchor

        if self._options.anchoring:
            return None
        return load_anchor(self.baseline_path(suite, variant), suite.name, variant)

    def calibrations(self, suite: GoldenSuite) -> Path:
        """Return the folder that says which judges of *suite* may fail the run."""
        from ..evaluation.suite import calibrations_of

        folder = self._config.getini("auepora_calibrations")
        return calibrations_of(suite, self.root / folder if folder else None)

    def advisory(self, suite: GoldenSuite) -> Mapping[str, str]:
        """Return the metrics of *suite* that cannot fail a case, and why."""
        from ..regression.guards.calibration import standing_of

        return standing_of(self.infos(suite), suite.policy, self.calibrations(suite)).advisory

    def judge_metrics(self, suite: GoldenSuite) -> list[Metric]:
        """Return the metrics of *suite* that judges score; for most there are none."""
        return [metric for metric in self.metrics(suite).values() if metric.judged]

    def scored_once(self, suite: GoldenSuite) -> frozenset[str]:
        """Return the judged metrics of which an update need not know whether they vary: they fail no case by a drop.

        What varies of a judge's score counts where a calibrated judge has so few clusters that nothing else decides.
        """
        if (scored_once := self._scored_once.get(suite.path)) is None:
            is_small = len({case.cluster or case.id for case in suite.cases}) < CLUSTERS_FOR_STATISTICS
            names, advisory = (metric.name for metric in self.judge_metrics(suite)), self.advisory(suite)
            scored_once = self._scored_once[suite.path] = frozenset(n for n in names if not is_small or n in advisory)
        return scored_once

    def run(self, suite: GoldenSuite, variant: str) -> Run:
        """Return an empty run of *suite*."""
        from ..evaluation.suite import blank_run

        return blank_run(suite, self.metrics(suite), variant, self.relative(suite.path))

    def flow(self, suite: GoldenSuite, variant: str) -> CaseFlow:
        """Return what ends the cases of *suite* under one configuration, before anything is known of the answers."""
        key = suite.path, variant
        if (flow := self._flows.get(key)) is None:
            from ..evaluation.case_flow import CaseFlow

            run, (baseline, _) = self.run(suite, variant), self.baseline(suite, variant)
            project, may_have_corpus = self._project, self._project.has_corpus

            def relabel(case: GoldenCase, corpus: Any, recut: bool) -> GoldenCase:
                if corpus is None and not may_have_corpus:
                    return case
                return self._labels.relabel(suite, case, corpus, recut=recut)

            flow = self._flows[key] = CaseFlow(
                run, self.metrics(suite), suite.policy, baseline=baseline, advisory=self.advisory(suite),
                accepting=self._options.accepting, convert=project.convert, relabel=relabel,
                id_check_for=lambda corpus: self._labels.id_check_for(suite, corpus), redact=project.redact,
                record_cap=self._record_cap, ended_by=ended_by, baseline_answers=self._accepted_answers(suite, variant),
                progress=self._progress,
            )  # fmt: skip
        return flow

    def keep_answers(self, suite: GoldenSuite, run: Run, name: str, ids: Collection[str]) -> list[str]:
        """Keep the accepted answers of *run* to the cases *ids*, where a metric compares with them; say why if not."""
        try:
            if (folder := self._accepted_folder(suite)) is not None:
                from ..history.answers import save_accepted

                save_accepted(folder, name, run, ids)
        except OSError as exc:
            return [f"the accepted answers are not kept: {exc}"]
        return []

    def _accepted_folder(self, suite: GoldenSuite) -> Path | None:
        from ..history.settings import journal_folder

        place = self._options.history_place
        if place is None or not any(metric.against_accepted for metric in self.metrics(suite).values()):
            return None
        return journal_folder(place, self.root)

    def _accepted_answers(self, suite: GoldenSuite, variant: str) -> Mapping[tuple[str, str], str]:
        if (folder := self._accepted_folder(suite)) is None:
            return {}
        from ..history.answers import load_accepted

        return load_accepted(folder, self.baseline_path(suite, variant).name)


def ended_by(error: BaseException) -> Ended | None:
    """Return how *error* ends its case on purpose, None where it is an error; raise what ends the whole run."""
    from ..evaluation.case_result import Ended

    if isinstance(error, (KeyboardInterrupt, pytest.exit.Exception)):
        raise error
    if isinstance(error, pytest.xfail.Exception):
        return Ended("xfail", str(error))
    unittest: Any = sys.modules.get("unittest")  # its skips are pytest's as well
    if isinstance(error, pytest.skip.Exception) or (unittest is not None and isinstance(error, unittest.SkipTest)):
        return Ended("skip", str(error))
    return None
