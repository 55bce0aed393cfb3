"""What one pytest process knows, and where pytest's objects have it: plain state, put together by `registration`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..io.golden.model import GoldenCase, GoldenSuite
    from .answer_source import AnswerSources
    from .hooks import ProjectHooks
    from .labels import Labels
    from .lookahead import Callers, JudgeAhead, Queue
    from .options import Options
    from .suites import Suites
    from .xdist import CaseReport


@dataclass(eq=False, repr=False)
class AueporaSession:
    """The parts of the plugin in one process; who needs but some of them is handed those.

    Attributes:
        options: what the user asks for.
        project: what the project says by hooks.
        suites: the golden files, and what is made from each.
        labels: the corpus, and labels that moved in it.
        answers: where answers come from, and how many.
        judging: asks LLM judges about answers that come early.
        callers: what makes the calls.
        queue: the cases that will be run, whose calls may be made ahead of time.
        answered: called after each call of a case, with ``last`` after the last, where progress is shown.
        running: the golden item whose function is being called.
    """

    options: Options
    project: ProjectHooks
    suites: Suites
    labels: Labels
    answers: AnswerSources
    judging: JudgeAhead
    callers: Callers
    queue: Queue
    answered: Callable[..., None] | None = None
    running: pytest.Function = field(init=False)


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
