"""What ``--auepora`` switches on, and in which process."""

from __future__ import annotations

import os

import pytest

from .collect import Collecting
from .items import Running
from .selection import Selection
from .session import session_of

__all__ = ["configure", "configure_checking"]

_RUNS_CASES = (
    "auepora_update", "auepora_replay", "auepora_resume", "auepora_suggest", "auepora_report",
)  # fmt: skip


def configure(config: pytest.Config) -> None:
    """Register the parts of the plugin: everywhere what runs cases, and what judges them where nobody else does."""
    register = config.pluginmanager.register
    session = session_of(config)  # complains about options before anything is registered
    register(Collecting(), "auepora-collecting")
    register(Running(config), "auepora-running")
    register(selection := Selection(config), "auepora-selection")
    if session.options.timeout is None:
        from .watchdog import Patience

        register(Patience(), "auepora-patience")
    if config.getini("auepora_junit_properties"):
        from .reports import JUnitProperties

        register(JUnitProperties(), "auepora-junit")
    if not hasattr(config, "workerinput"):
        _register_judging(config, selection)


def configure_checking(config: pytest.Config) -> None:
    """Register what checks labels, in place of what judges cases."""
    from .checking import Checking, Report

    for name in _RUNS_CASES:
        if config.getoption(name):
            option = f"--{name.replace('_', '-')}"
            raise pytest.UsageError(f"{option} is about a run, --auepora-labels check and repair run no case")
    register = config.pluginmanager.register
    session_of(config).labels.read_options()
    register(Collecting(), "auepora-collecting")
    register(Running(config), "auepora-running")
    register(Checking(config), "auepora-checking")
    if not hasattr(config, "workerinput"):
        register(Report(config), "auepora-label-report")


def _wants_reports(config: pytest.Config) -> bool:
    """Whether anything is to be written beside the terminal, or said about it that has to be checked."""
    if config.getoption("auepora_report") or config.getini("auepora_report"):
        return True
    if sorted(config.getini("auepora_github")) != ["annotations", "summary"]:  # the default, which is known to be right
        return True
    return "GITHUB_STEP_SUMMARY" in os.environ or "GITHUB_ACTIONS" in os.environ


def _register_judging(config: pytest.Config, selection: Selection) -> None:
    from .controller import Judge
    from .history_recorder import make_recorder
    from .terminal import ShortFailures, Terminal

    register, session = config.pluginmanager.register, session_of(config)
    judge = Judge(config, selection)
    register(judge, "auepora-judge")
    if config.pluginmanager.hasplugin("xdist"):
        from .crashes import Crashes

        register(Crashes(), "auepora-crashes")
    if session.options.intents or session.options.anchoring:
        from .asking_again import AskingAgain

        register(AskingAgain(config), "auepora-asking-again")
    if (target := session.options.suggest) is not None:
        from .suggesting import Suggesting

        register(Suggesting(config, target), "auepora-suggesting")
    if _wants_reports(config):
        from .reports import make_reports

        register(make_reports(config, judge), "auepora-reports")
    if (recorder := make_recorder(config)) is not None:
        recorder.recover()
        register(recorder, "auepora-recorder")
    if (replay := session.answers.replay) is not None:
        from .replay import Replaying

        register(Replaying(replay), "auepora-replaying")
    register(Terminal(config, judge), "auepora-terminal")
    register(ShortFailures(config, judge), "auepora-short-failures")
