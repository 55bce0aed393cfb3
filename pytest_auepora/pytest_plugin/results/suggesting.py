"""``--auepora-suggest``: thresholds learned from the repeats of a run, as a change of the golden file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Any

import pytest

from ...base.files import shown_path, write_atomically
from ...errors import AueporaError
from ...io.settings import with_settings
from ...regression.suggest import Suggestion, learn
from ...regression.thresholds import Gate
from ...reporting.terminal.session import noise_table, suggestion_notes
from ...reporting.text import harmless
from ..controller import RunController
from ..output import encodable, terminal_width, write_lines
from ..suite_judge import JudgedRun

PRINTED = "-"
"""The option without a file."""

_HINT = (
    "write it without a call: pytest --auepora-replay --auepora-suggest=FILE; the golden file is changed in place, "
    "any other FILE gets a patch"
)


class Suggesting:
    """Prints the noise and the change it suggests; writes it where that is wanted: into the golden file, or a patch."""

    def __init__(self, controller: RunController, target: str) -> None:
        self._controller, self.config = controller, controller.config
        self.target = self.config.invocation_params.dir / target if target != PRINTED else None

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the noise of every run, and the changes of every golden file."""
        terminalreporter.section("auepora suggests", sep="=", bold=True)
        by_path: dict[Path, list[Suggestion]] = {}
        for judged in self._controller.finished_runs:
            self._print_noise(judged, by_path, terminalreporter)
        self._print_changes(by_path, terminalreporter)

    def _print_noise(self, judged: JudgedRun, by_path: dict[Path, list[Suggestion]], terminalreporter: Any) -> None:
        run, golden = judged.run, judged.variant.suite.golden
        terminalreporter.line(harmless(run.title), bold=True)
        if not run.is_full:
            extent = f"{len(run.cases)} of {len(run.expected_ids)} cases ran"
            terminalreporter.line(f"nothing: {extent}, and what is suggested is for all of them")
            return
        learned = learn(run, golden.gates, golden.policy, golden.repeat)
        by_path.setdefault(golden.path, []).append(learned)
        write_lines(terminalreporter, noise_table(learned, width=terminal_width(self.config)))
        for note in suggestion_notes(run, judged.verdict, learned):
            terminalreporter.line(encodable(harmless(note)))
        terminalreporter.line("")

    def _print_changes(self, by_path: Mapping[Path, list[Suggestion]], terminalreporter: Any) -> None:
        texts, patch = {}, ""
        for path, suggestions in by_path.items():
            try:
                before, texts[path.resolve()] = _merge_suggestions(path, suggestions)
            except AueporaError as exc:
                terminalreporter.line(str(exc), red=True)
            else:
                patch += _diff(shown_path(path, self.config.rootpath), before, texts[path.resolve()])
        for line in encodable(harmless(patch)).splitlines():
            terminalreporter.line(line)
        if not patch:
            terminalreporter.line("no change to suggest")
        elif self.target is None:
            for line in wrap(_HINT, terminal_width(self.config)):
                terminalreporter.line(line, bold=True)
        else:
            _write(self.target, texts.get(self.target.resolve(), patch), terminalreporter)


def _merge_suggestions(path: Path, suggestions: list[Suggestion]) -> tuple[str, str]:
    """Return the text of a golden file, and that text with the suggestions of all its configurations."""
    gates: dict[tuple[str, str], Gate] = {}
    for gate in (gate for suggestion in suggestions for gate in suggestion.gates):
        loosest_gate = gates.setdefault((gate.title, gate.bound.op), gate)
        pick = min if gate.bound.op == "min" else max
        bound = loosest_gate.bound._replace(limit=pick(loosest_gate.bound.limit, gate.bound.limit))
        gates[gate.title, gate.bound.op] = replace(gate, bound=bound)
    before = path.read_bytes().decode()
    keys = {"assertions": "report"} if any(suggestion.by_chance for suggestion in suggestions) else {}
    return before, with_settings(path, before, list(gates.values()), keys)


def _diff(name: str, before: str, after: str) -> str:
    """Return a patch that `git apply` and `patch -p1` accept in the folder that *name* is relative to."""
    old, new = (StringIO(text).readlines() for text in (before, after))  # as git counts lines
    lines = unified_diff(old, new, f"a/{name}", f"b/{name}", n=1)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _write(target: Path, text: str, terminalreporter: Any) -> None:
    try:
        write_atomically(target, text)
    except AueporaError as exc:
        terminalreporter.line(str(exc), red=True)
    else:
        terminalreporter.line(f"written to {target}")
