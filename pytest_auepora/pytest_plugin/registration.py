"""Builds the parts of the plugin and registers them, in each process those it needs."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from ..base.plugins import in_use, register_installed
from ..base.progress import Progress, is_watched
from ..errors import AueporaError, MetricError
from ..evaluation.project_hooks import ProjectHooks
from ..metrics.judge.settings import load_settings, use_judge
from .collect import Collecting
from .compat import TimeLimits, is_worker, process_count
from .controller import RunController
from .endings import Exits, SystemBudget, read_budget
from .items import Running
from .lookahead import Callers, JudgeLookahead, Queue
from .options import Options, flag, words_of
from .replay import Replay, make_replay
from .results.progress import RunProgress, Watchdog
from .results.reports import AllurePublished, JUnitProperties, Reports
from .results.terminal import CaseWords, ShortFailures, Terminal
from .session import SESSION, AueporaSession
from .suite_items import SuiteItems

_RUNS_CASES = (
    "auepora_update", "auepora_replay", "auepora_resume", "auepora_suggest", "auepora_report",
)  # fmt: skip


def session_of(config: pytest.Config) -> AueporaSession:
    """Return the session of *config*; made on first use, so fixtures work without ``--auepora``."""
    if SESSION not in config.stash:
        _start_session(config, _read_options(config))
    return config.stash[SESSION]


def _start_session(config: pytest.Config, options: Options, replay: Replay | None = None) -> AueporaSession:
    try:
        register_installed(config.pluginmanager)
    except AueporaError as exc:
        raise pytest.UsageError(str(exc)) from None
    hooks_in_use = ExitStack()
    hooks_in_use.enter_context(in_use(config.pluginmanager, config))
    config.add_cleanup(hooks_in_use.close)
    raised = Exception, SystemExit, pytest.fail.Exception, pytest.skip.Exception
    project_hooks = ProjectHooks(config.rootpath, raised, (pytest.exit.Exception,))
    progress = Progress("judged scores", show=False)  # `RunProgress` shows it, or calls in its place
    callers = Callers(config, options, JudgeLookahead(options.concurrency, progress))
    session = config.stash[SESSION] = AueporaSession(
        config, options, project_hooks, replay, progress, callers, Queue(())
    )
    config.pluginmanager.register(session, "auepora-session")
    return session


def _read_options(config: pytest.Config) -> Options:
    """Return what the user asks for, and have metrics ask the LLM judge of the project's settings.

    Raises:
        pytest.UsageError: an option, the judge's file or its prompts cannot be read.
    """
    options = Options(config)
    name = config.getini("auepora_judge")
    path = config.rootpath / name if name else None
    use_judge(path, concurrency=options.concurrency, processes=process_count(config))
    if path is not None:
        from ..metrics.judge.prompts import check_prompts

        try:
            load_settings(path)
            check_prompts()
        except MetricError as exc:
            raise pytest.UsageError(f"auepora_judge: {exc}") from None
    return options


def configure(config: pytest.Config) -> None:
    """Register the parts of the plugin: those that run cases in every process, the controller in one."""
    options = _read_options(config)  # it raises before anything is registered
    is_controller, unread = not is_worker(config), ""
    if is_controller and options.history_place is not None:
        from .results.history_recorder import prepare_history

        unread = prepare_history(options.history_place, config.rootpath, options.keep)
    session = _start_session(config, options, make_replay(config, options))
    register = config.pluginmanager.register
    register(collecting := Collecting(config), "auepora-collecting")
    register(Running(session), "auepora-running")
    register(SuiteItems(session), "auepora-suites")
    register(TimeLimits(), "auepora-time-limits")
    register(Exits(), "auepora-exits")
    if session.replay is not None:
        register(session.replay, "auepora-replay")
    if options.timeout is None:
        register(Watchdog(), "auepora-watchdog")
    if flag(config, "auepora_junit_properties"):
        register(JUnitProperties(session), "auepora-junit")
    if is_controller:
        _register_controller(session, collecting, unread)


def configure_checking(config: pytest.Config) -> None:
    """Register the parts that check labels, in place of those that run cases."""
    from .labels_checking import Checking, LabelReport

    for name in _RUNS_CASES:
        if config.getoption(name):
            option = f"--{name.replace('_', '-')}"
            raise pytest.UsageError(f"{option} is about a run, --auepora-labels check and repair run no case")
    session = session_of(config)
    _ = session.old_recalls  # wrong usage is said before any case
    register = config.pluginmanager.register
    register(Collecting(config), "auepora-collecting")
    register(Running(session), "auepora-running")
    register(Checking(), "auepora-checking")
    if not is_worker(config):
        register(LabelReport(session), "auepora-label-report")


def _register_controller(session: AueporaSession, collecting: Collecting, unread: str) -> None:
    config, options = session.config, session.options
    register = config.pluginmanager.register
    register(controller := RunController(session, collecting), "auepora-controller")
    if config.getoption("dist", "no") != "no":  # pytest-xdist's
        from .workers import Workers

        register(Workers(session), "auepora-workers")
    if options.intents or options.anchoring or options.why or is_watched():
        register(RunProgress(session), "auepora-progress")
    if options.suggest is not None:
        from .results.suggesting import Suggesting

        register(Suggesting(controller, options.suggest), "auepora-suggesting")
    register(reports := Reports(controller), "auepora-reports")
    if words := words_of(config, "auepora_budget"):
        register(SystemBudget(session, read_budget(words)), "auepora-budget")
    if options.history_place is not None:
        from .results.history_recorder import Recorder

        register(Recorder(session, options.history_place, unread), "auepora-recorder")
    if getattr(config.option, "allure_report_dir", None):
        register(AllurePublished(controller), "auepora-allure")
    register(Terminal(controller, reports), "auepora-terminal")
    if config.get_verbosity() > 0:
        register(CaseWords(session), "auepora-case-words")
    register(ShortFailures(controller), "auepora-short-failures")
