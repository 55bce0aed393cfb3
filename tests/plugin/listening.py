"""What a run inside this process found, as data, not as it prints it: judged runs, failed gates, mistakes in files."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import starmap
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from pytest_auepora.base.complaints import Problem
from pytest_auepora.pytest_plugin.keys import MISTAKES
from pytest_auepora.pytest_plugin.suite_judge import JudgedRun
from pytest_auepora.regression.outcomes import GateOutcome, Note, NoteKind
from pytest_auepora.reporting.wording.gates import gate_title


@dataclass(eq=False)
class Heard:
    """What the controller of a run knew once everything had been judged."""

    gates: list[str] = field(default_factory=list)
    runs: list[JudgedRun] = field(default_factory=list)
    mistakes: list[Problem] = field(default_factory=list)
    unused: list[Problem] = field(default_factory=list)


_HEARD: WeakKeyDictionary[pytest.RunResult, Heard] = WeakKeyDictionary()


def gates(result: pytest.RunResult) -> list[str]:
    """Titles of the gates that failed, with their configuration; those that no verdict has last."""
    return _HEARD[result].gates


def runs(result: pytest.RunResult) -> list[JudgedRun]:
    """All runs that were judged, a suite under one configuration each."""
    return _HEARD[result].runs


def judged(result: pytest.RunResult) -> JudgedRun:
    """The one run that was judged: its results, its verdict, what was accepted of it."""
    (one,) = runs(result)
    return one


def outcomes(result: pytest.RunResult) -> dict[str, GateOutcome]:
    """The judgements on the one suite, by their keys, as ``regression: mrr``."""
    return {gate.key: gate for gate in judged(result).verdict.gates}


def notes(result: pytest.RunResult) -> dict[NoteKind, Note]:
    """The notes of the one run that was judged, by kind."""
    return {note.kind: note for note in judged(result).verdict.notes}


def mistakes(result: pytest.RunResult) -> list[Problem]:
    """Mistakes in golden files."""
    return _HEARD[result].mistakes


def unused(result: pytest.RunResult) -> list[str]:
    """The files of baselines that no run used."""
    return [problem.path for problem in _HEARD[result].unused]


class Listener:
    """A plugin of the run: reads the verdicts of its controller at the end."""

    def __init__(self) -> None:
        self._heard = Heard()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note mistakes in golden files, each once, however many workers have read them."""
        for mistake in starmap(Problem, getattr(report, MISTAKES, ())):
            if mistake not in self._heard.mistakes:
                self._heard.mistakes.append(mistake)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note what the controller knows."""
        controller: Any = session.config.pluginmanager.get_plugin("auepora-controller")
        if controller is None:
            return
        heard = self._heard
        heard.runs, heard.unused = controller.finished_runs, controller.unused
        for one in heard.runs:
            variant = f"[{one.run.variant}]" if one.run.variant else ""
            heard.gates += [f"{gate_title(gate)}{variant}" for gate in one.verdict.gates if gate.state == "failed"]
        published = [
            name for _, is_gate, name in (one.partition("::gate: ") for one in controller.published) if is_gate
        ]
        heard.gates += [name for name in published if name not in heard.gates]

    def heard(self, result: pytest.RunResult) -> pytest.RunResult:
        """Keep what was noted, and return *result*."""
        _HEARD[result] = self._heard
        return result
