"""The time in which a run would only wait for its first answers: what it takes later is made ready then.

Calls that overlap leave this thread idle until the first of them is back.  What scores, judges, keeps and shows is not
imported before calls can start, so it would be after the answers are there; here it costs nothing.  In a run whose
calls come one after the other there is no such time, and everything is imported where it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import AueporaSession

__all__ = ["make_ready"]


def make_ready(session: AueporaSession) -> None:
    """Import what *session* is sure to need, and ask for what it is sure to ask for.

    Whatever is wrong with any of it is left to whoever needs it, who meets it again and says so.
    """
    for module in _needed(session):
        with suppress(Exception):
            import_module(module, __package__)
    with suppress(Exception):
        session.commit  # noqa: B018 - a cached property


def _needed(session: AueporaSession) -> Iterator[str]:
    yield from ("..evaluation.case_flow", "..evaluation.suite_run", "..regression.verdict")
    if f"{__package__.partition('.')[0]}.metrics.generation.rouge" in sys.modules:
        yield "rouge_score.tokenizers"  # imports all of nltk
    known = session.config.pluginmanager.hasplugin
    if known("auepora-recorder"):
        yield from (
            "..evaluation.recording",
            "..history.journal",
            "..metrics.coverage",
        )  # the last for what a run amounts to
    if known("auepora-terminal"):
        yield from ("..reporting.terminal.layout", "..reporting.terminal.summary")
