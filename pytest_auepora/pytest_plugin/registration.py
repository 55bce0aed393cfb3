"""What ``--auepora`` switches on, and in which process."""

from __future__ import annotations

import os

import pytest

from .items import Collecting
from .session import session_of

__all__ = ["configure"]


def configure(config: pytest.Config) -> None:
    """Register the parts of the plugin: everywhere what runs cases, and what judges them where nobody else does."""
    register = config.pluginmanager.register
    session = session_of(config)  # complains about options before anything is registered
    register(Collecting(config), "auepora-collecting")
    if session.options.timeout is None:
        from .watchdog import Patience

        register(Patience(), "auepora-patience")
    if config.getini("auepora_junit_properties"):
        from .junit import JUnitProperties

        register(JUnitProperties(), "auepora-junit")
    if not hasattr(config, "workerinput"):
        _register_judging(config)


def _wants_reports(config: pytest.Config) -> bool:
    """Whether anything is to be written beside the terminal, or said about it that has to be checked."""
    if config.getoption("auepora_report") or config.getini("auepora_report"):
        return True
    if sorted(config.getini("auepora_github")) != ["annotations", "summary"]:  # the default, which is known to be right
        return True
    return "GITHUB_STEP_SUMMARY" in os.environ or "GITHUB_ACTIONS" in os.environ


def _register_judging(config: pytest.Config) -> None:
    from .controller import Judge
    from .history_recorder import make_recorder
    from .terminal import Terminal

    register, session = config.pluginmanager.register, session_of(config)
    judge = Judge(config)
    register(judge, "auepora-judge")
    if config.pluginmanager.hasplugin("xdist"):
        from .crashes import Crashes

        register(Crashes(), "auepora-crashes")
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
