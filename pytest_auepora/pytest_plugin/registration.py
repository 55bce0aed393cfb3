"""What ``--auepora`` switches on, and in which process."""

from __future__ import annotations

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
        from .patience import Patience

        register(Patience(), "auepora-patience")
    if config.getini("auepora_junit_properties"):
        from .junit import JUnitProperties

        register(JUnitProperties(), "auepora-junit")
    if not hasattr(config, "workerinput"):
        _register_judging(config)


def _register_judging(config: pytest.Config) -> None:
    from .crashes import Crashes
    from .judge import Judge
    from .recorder import make_recorder
    from .reports import make_reports
    from .terminal import Terminal

    register, session = config.pluginmanager.register, session_of(config)
    judge = Judge(config)
    register(judge, "auepora-judge")
    if config.pluginmanager.hasplugin("xdist"):
        register(Crashes(), "auepora-crashes")
    if (target := session.options.suggest) is not None:
        from .suggesting import Suggesting

        register(Suggesting(config, target), "auepora-suggesting")
    register(make_reports(config, judge), "auepora-reports")
    if (recorder := make_recorder(config)) is not None:
        recorder.recover()
        register(recorder, "auepora-recorder")
    if (replay := session.answers.replay) is not None:
        from .replay import Replaying

        register(Replaying(replay), "auepora-replaying")
    register(Terminal(config, judge), "auepora-terminal")
