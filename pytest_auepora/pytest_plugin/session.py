"""What one pytest process knows: its golden files, and the parts that run their cases."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..base.files import remove_leftovers, shown_path
from ..base.git import commit_of
from ..base.progress import Progress
from ..core.metrics_base import Metric
from ..core.run import MetricInfo, Run
from ..errors import BaselineError, CorpusError, GoldenFileError, HistoryError
from ..evaluation.case_flow import CaseFlow
from ..evaluation.case_result import Ended
from ..evaluation.further import CallBudget, Purpose, uncounted
from ..evaluation.project_hooks import ProjectHooks
from ..evaluation.suite import blank_run, calibrations_of, find_baseline, suite_metrics
from ..evaluation.update import UpdatePlan, deciding_metrics
from ..io.golden.load import load_golden
from ..io.golden.model import GoldenCase, GoldenSuite
from ..io.golden.names import disk_name
from ..regression.baseline import Baseline, baseline_path
from ..regression.baseline_file import Anchor, load_anchor
from ..regression.guards.calibration import advisory_metrics
from ..regression.guards.case_trial import Confirmed
from ..regression.outcomes import Advisory, BaselineNote
from ..regression.policy import CLUSTERS_FOR_STATISTICS
from .compat import is_worker, parameters_of, positional_fixtures, process_count, variant_of
from .keys import CASE, CASE_PARAMETER, SUFFIXES
from .labels import SuiteLabels
from .lookahead import Callers, Queue
from .options import Options, is_asked_for
from .replay import Replay

if TYPE_CHECKING:
    from ..history.accepted import AcceptedTexts
    from ..labels.corpus import Recall
SESSION: pytest.StashKey[AueporaSession] = pytest.StashKey()
"""On the config."""
SUITE: pytest.StashKey[SessionSuite] = pytest.StashKey()
"""On a golden item: the suite that its case is of, or that it judges."""


@dataclass(eq=False, repr=False)
class AueporaSession:
    """The parts of the plugin in one process, and its golden files, each read once.

    Parts that need only some others are given those.  ``running`` is the golden item whose function is being called;
    ``answered`` is called after each call of a case, with ``last`` after the last, where progress is shown;
    ``suite_items`` has the node ids of the tests `suite`, by file and configuration; ``unselected`` has the suites
    whose cases were all selected, without the test `suite`; ``budget`` has the calls that may be made beside the first
    ones of the selected cases; ``begin_bar`` is `FurtherAnswers.begin` of the tests `suite`.
    """

    config: pytest.Config
    options: Options
    project: ProjectHooks
    replay: Replay | None
    progress: Progress
    callers: Callers
    queue: Queue
    answered: Callable[..., None] | None = None
    suite_items: dict[tuple[str, str], str] = field(default_factory=dict)
    unselected: set[tuple[str, str]] = field(default_factory=set)
    budget: CallBudget = field(default_factory=CallBudget)
    begin_bar: Callable[[int, Purpose], Callable[[], object]] = uncounted
    running: pytest.Function = field(init=False)
    _suites: dict[Path, SessionSuite] = field(init=False, default_factory=dict)
    _foreign: set[str] = field(init=False, default_factory=set)  # files of other plugins
    _collected: dict[Path, SessionSuite] = field(init=False, default_factory=dict)  # by baseline

    @property
    def asks_nothing(self) -> bool:
        """Whether the system may not be called, nor be made."""
        return self.replay is not None and self.replay.asks_nothing

    @cached_property
    def record_cap(self) -> int:
        """Characters kept of each answer; 0 where none is: no run is kept, or a replay's own run has the answers."""
        keep, is_recorded = self.options.keep, is_asked_for(self.config) and not self.asks_nothing
        is_kept = is_recorded and keep.answers != 0 and self.options.history_place is not None
        if not is_kept and not self.options.keeps_texts:
            return 0
        return sys.maxsize if keep.characters is None else keep.characters

    @cached_property
    def commit(self) -> str:
        """The commit that the project is at, or an empty string."""
        return commit_of(self.config.rootpath)

    @cached_property
    def old_recalls(self) -> list[Recall]:
        """What the corpus of ``--auepora-labels old=FILE`` says of chunk ids; nothing without it.

        Raises:
            pytest.UsageError: the file cannot be read.
        """
        if not (name := self.options.old_corpus):
            return []
        from ..labels.corpus import corpus_recall, load_corpus

        path = self.config.invocation_params.dir / name
        try:
            return [corpus_recall(load_corpus(path), path)]
        except CorpusError as exc:
            raise pytest.UsageError(f"--auepora-labels old={name}: {exc}") from None

    def load(self, path: Path | str) -> SessionSuite:
        """Load a golden file, named in full or from the rootdir, and register its tags as markers.

        Raises:
            GoldenFileError: it is wrong.
        """
        path = self.config.rootpath / path
        if (suite := self._suites.get(path)) is None:
            remove_leftovers(path.parent)
            golden = load_golden(path, self.project.registry)
            suite = self._suites[path] = SessionSuite(self, golden)
            for tag in sorted({*golden.tags, *(t for c in golden.cases for t in c.tags)}):
                self.config.addinivalue_line("markers", f"{tag}: tag of golden cases")
        return suite

    def find_case(self, nodeid: str) -> tuple[SessionSuite, GoldenCase] | None:
        """Return the golden case that *nodeid* names, and its suite; None where it names another test.

        Parameters, and ``@`` with its xdist group, follow the id of a case.
        """
        path, _, name = nodeid.partition("::")
        if not path.endswith(SUFFIXES) or path in self._foreign:
            return None
        try:
            suite = self.load(path)
        except GoldenFileError:  # no case comes from it: it is another plugin's
            self._foreign.add(path)
            return None
        plain = name.partition("[")[0]
        case = suite.cases.get(plain) or suite.cases.get(plain.rpartition("@")[0])
        return (suite, case) if case is not None else None

    def case_of(self, item: pytest.Item) -> tuple[SuiteVariant, GoldenCase] | None:
        """Return the golden case that *item* asks about, and its suite; None where it asks about none, or several."""
        case, suite = item.stash.get(CASE, None), item.stash.get(SUITE, None)
        if suite is None:
            suite, case = getattr(getattr(item, "callspec", None), "params", {}).get(CASE_PARAMETER, (None, None))
        return (suite.variant_of(item), case) if case is not None else None

    def find_asked(self, nodeid: str, known: Collection[str] = ()) -> tuple[SuiteVariant, GoldenCase] | None:
        """Return the same for the golden item that *nodeid* names, its configuration as far as its id tells.

        Some parameters in the id may be no part of it: one of the *known* configurations is the largest that they hold.
        """
        if (found := self.find_case(nodeid)) is None:
            return None
        suite, case = found
        name = nodeid.partition("::")[2].partition("[")[2].rpartition("]")[0]
        words = set(name.split("-"))
        candidates = [variant for variant in known if set(filter(None, variant.split("-"))) <= words]
        if candidates and name not in known:
            name = max(candidates, key=len)
        return suite.variant(name), case

    def limit_calls(self, cases: Iterable[tuple[SuiteVariant, GoldenCase]]) -> None:
        """Keep the calls that are left beside the first ones of *cases* for further ones, each process its share.

        Raises:
            pytest.UsageError: the first ones are more than ``--auepora-max-calls`` allows.
        """
        if (limit := self.options.max_calls) is None or self.replay is not None:
            return
        planned = 0
        for variant, case in cases:
            variant.planned[case.id] = variant.first_calls(case)
            planned += variant.planned[case.id]
        if planned > limit and not is_worker(self.config):
            raise pytest.UsageError(
                f"--auepora-max-calls {limit}: the selected cases take {planned} calls; allow more, or select fewer"
            )
        self.budget.left = max(0, limit - planned) // process_count(self.config)

    @property
    def collected(self) -> Collection[SessionSuite]:
        """The golden files that pytest collected."""
        return self._collected.values()

    def namesake(self, suite: SessionSuite) -> SessionSuite | None:
        """Return another golden file that was collected and has the same baseline, or None."""
        override = self.options.override
        if override is not None and override.suffix == ".json":  # one file, named on purpose
            override = None
        path = baseline_path(suite.golden.path, suite.golden.name, "", override)
        path = path.with_name(disk_name(path.name))
        first = self._collected.setdefault(path, suite)
        return None if first is suite else first

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Cancel calls before pytest tears session fixtures down, also after ``-x`` and Ctrl-C."""
        self.callers.close()


@dataclass(eq=False, repr=False)
class SessionSuite:
    """A golden file in this process, and what is the same for all configurations of its system.

    ``unnamed`` are the configurations that are called by their
    place among others.  What scores answers is imported where it is used.
    """

    session: AueporaSession
    golden: GoldenSuite
    unnamed: set[str] = field(init=False, default_factory=set)
    _variants: dict[str, SuiteVariant] = field(init=False, default_factory=dict)

    def variant(self, name: str) -> SuiteVariant:
        """Return the suite under the configuration *name*."""
        if (variant := self._variants.get(name)) is None:
            variant = self._variants[name] = SuiteVariant(self, name)
        return variant

    def variant_of(self, item: pytest.Item) -> SuiteVariant:
        """Return the suite under the configuration that *item* runs."""
        return self.variant(variant_of(item, self.golden.fixture))

    def unnamed_variant(self, item: pytest.Item, fixture: str | None = None) -> str:
        """Say why the configuration that *item* runs has no name of its own, or nothing; note it as not compared.

        *fixture* is what is asked, by default that of the golden file; an empty text where the test has the system.
        """
        fixture = self.golden.fixture if fixture is None else fixture
        if not (names := positional_fixtures(item, fixture)):
            return ""
        name = self.variant_of(item).name if fixture else parameters_of(item)
        self.unnamed.add(name)
        return (
            f"the configuration {name!r} is named by its place among the parameters of {names[0]!r}: in another order, "
            "each system would be compared with the baseline of another; give them names: "
            'params=[…], ids=["bm25", "dense"]'
        )

    @cached_property
    def cases(self) -> dict[str, GoldenCase]:
        """The cases, by id."""
        return {case.id: case for case in self.golden.cases}

    @cached_property
    def path(self) -> str:
        """The golden file, as node ids write it."""
        return shown_path(self.golden.path, self.session.config.rootpath)

    @cached_property
    def labels(self) -> SuiteLabels:
        """Its labels, which may have moved in the corpus."""
        session = self.session
        # a replay knows no corpus: labels were matched when the answer was recorded, that of today says nothing
        project = None if session.asks_nothing else session.project
        return SuiteLabels(self.golden, session.options, project, session.old_recalls)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metric objects, by name."""
        return suite_metrics(self.golden, self.session.project.registry)

    @cached_property
    def reads_accepted(self) -> bool:
        """Whether a metric compares answers with the accepted ones."""
        return any(metric.against_accepted for metric in self.metrics.values())

    @cached_property
    def judge_metrics(self) -> list[Metric]:
        """The metrics that judges score; for most suites there are none."""
        return [metric for metric in self.metrics.values() if metric.judged]

    @cached_property
    def infos(self) -> dict[str, MetricInfo]:
        """What describes the metrics, by name."""
        return self.variant("").blank_run().metrics

    @cached_property
    def calibrations(self) -> Path:
        """The folder that says which judges may fail the run."""
        config = self.session.config
        folder = config.getini("auepora_calibrations")
        return calibrations_of(self.golden, config.rootpath / folder if folder else None)

    @cached_property
    def advisory(self) -> Mapping[str, Advisory]:
        """The metrics that cannot fail a case, and why."""
        return advisory_metrics(self.infos, self.golden.policy, self.calibrations)

    @cached_property
    def scored_once(self) -> frozenset[str]:
        """The judged metrics of which an update need not know whether they vary: they fail no case by a drop.

        What varies of a judge's score counts where a calibrated judge has so few clusters that nothing else decides.
        """
        is_small = len({case.cluster or case.id for case in self.golden.cases}) < CLUSTERS_FOR_STATISTICS
        names = (metric.name for metric in self.judge_metrics)
        return frozenset(name for name in names if not is_small or name in self.advisory)

    @cached_property
    def repeats(self) -> int:
        """How often each case is asked."""
        return self.session.options.repeats(self.golden.repeat)


@dataclass(eq=False, repr=False)
class SuiteVariant:
    """A suite under the configuration *name*: its baseline, and what ends its cases.

    ``source`` is the `AnswerSource` that answers now; each test may make its system anew.  ``can_return`` says whether
    the test `suite` gets the system that the cases got.  ``planned`` has the calls that are reserved for each case,
    where their number is limited: more are asked for as further ones.
    """

    suite: SessionSuite
    name: str
    source: Any = field(init=False, default=None)
    can_return: bool = field(init=False, default=False)
    planned: dict[str, int] = field(init=False, default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Its golden file, as node ids write it, and its name."""
        return self.suite.path, self.name

    def blank_run(self) -> Run:
        """Return an empty run."""
        return blank_run(self.suite.golden, self.suite.metrics, self.name, self.suite.path)

    @cached_property
    def baseline_path(self) -> Path:
        """Where the baseline is written."""
        golden = self.suite.golden
        return baseline_path(golden.path, golden.name, self.name, self.suite.session.options.override)

    @cached_property
    def baseline(self) -> tuple[Baseline | None, BaselineNote]:
        """The baseline, or None and why: absent, or unreadable."""
        if self.name in self.suite.unnamed:
            return None, BaselineNote("unnamed")
        try:
            return find_baseline(self.suite.golden, self.name, self.suite.session.options.override)
        except BaselineError as exc:
            place = shown_path(self.baseline_path, self.suite.session.config.rootpath)
            return None, BaselineNote("unreadable", place, str(exc))

    @property
    def anchor(self) -> Anchor | None:
        """The older baseline that is judged as well; None where this run is about to replace it, or has no name."""
        if self.suite.session.options.anchoring or self.name in self.suite.unnamed:
            return None
        return load_anchor(self.baseline_path, self.suite.golden.name, self.name)

    @cached_property
    def flow(self) -> CaseFlow:
        """What ends the cases, before anything is known of the answers."""
        suite, session = self.suite, self.suite.session
        return CaseFlow(
            self.blank_run(), suite.metrics, suite.golden.policy, baseline=self.baseline[0], advisory=suite.advisory,
            accepting=session.options.accepting, xfail=not session.config.getoption("runxfail", False),
            convert=session.project.convert, relabel=suite.labels.relabel, id_check_for=suite.labels.id_check_for,
            redact=session.project.redact, record_cap=session.record_cap, ended_by=ended_by,
            baseline_answers=self._baseline_answers(), progress=session.progress, cases=suite.golden.cases,
            confirmed=Confirmed(len(suite.golden.cases)),
        )  # fmt: skip

    @cached_property
    def plan(self) -> UpdatePlan | None:
        """How many answers an update asks of each case; None where nothing is accepted."""
        return self.update_plan(can_return=self.can_return)

    def first_calls(self, case: GoldenCase) -> int:
        """Return how many calls are made for *case* before anything is known of its answers."""
        if case.skip is not None:
            return 0
        return self.suite.repeats if self.plan is None or case.benchmark is not None else self.plan.answers(case.id)

    def update_plan(self, *, can_return: bool) -> UpdatePlan | None:
        """Return a new plan; *can_return* says whether earlier cases can be asked again behind the suite."""
        options, suite = self.suite.session.options, self.suite
        if not (options.intents or options.anchoring):
            return None
        return UpdatePlan(
            deciding_metrics(suite.infos, suite.advisory), self.baseline[0], suite.repeats, suite.golden.policy.again,
            can_return=can_return, only_new=options.intents == {"new"},
        )  # fmt: skip

    def accepted_texts(self) -> AcceptedTexts | None:
        """Return the accepted answers: beside the baseline, else beside the history; None where nobody keeps any.

        Raises:
            HistoryError: they cannot be read.
        """
        from ..history.accepted import find_accepted

        suite, options = self.suite, self.suite.session.options
        history = options.history_place if options.keep.answers != 0 or suite.reads_accepted else None
        root = suite.session.config.rootpath
        return find_accepted(self.baseline_path, suite.path, history, root, beside=options.keeps_texts)

    def _baseline_answers(self) -> Mapping[tuple[str, str], str]:
        """Return the accepted answer by case and hash of its content; none where no metric reads them."""
        try:
            texts = self.accepted_texts() if self.suite.reads_accepted else None
        except HistoryError:  # an update says so
            return {}
        return {(case_id, kept.hash): kept.answer or "" for case_id, kept in texts.items()} if texts is not None else {}


def ended_by(error: BaseException) -> Ended | None:
    """Return how *error* ends its case on purpose, None where it is an error; raise what ends the whole run."""
    if isinstance(error, (KeyboardInterrupt, pytest.exit.Exception)):
        raise error
    if isinstance(error, pytest.xfail.Exception):
        return Ended("xfail", str(error))
    unittest: Any = sys.modules.get("unittest")  # its skips are pytest's as well
    if isinstance(error, pytest.skip.Exception) or (unittest is not None and isinstance(error, unittest.SkipTest)):
        return Ended("skip", str(error))
    return None
