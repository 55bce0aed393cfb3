"""``--auepora-suggest``: what the repeats of a run teach about judging the next, told and never applied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..core.run import Run
from ..regression.verdict import Verdict
from .keys import SESSION
from .terminal import is_ascii, write_lines

__all__ = ["Suggesting"]

PRINTED = "-"
"""The option without a file."""


class Suggesting:
    """One per pytest run; controller only."""

    def __init__(self, config: pytest.Config, target: str) -> None:
        self.config = config
        self.target = config.invocation_params.dir / target if target != PRINTED else None
        self._runs: list[tuple[Run, Verdict]] = []

    def pytest_auepora_run_finished(self, run: Run, verdict: Verdict) -> None:
        """Remember what is finished."""
        self._runs.append((run, verdict))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the noise and the patch of every run, and write the patches where they are wanted."""
        from ..regression.suggest import learn
        from ..reporting.terminal.suggestion import noise_table, patch_text
        from ..reporting.text import harmless

        texts, session = [], self.config.stash[SESSION]
        width = self.config.get_terminal_writer().fullwidth
        terminalreporter.section("auepora suggests", sep="=", bold=True)
        for run, verdict in self._runs:
            terminalreporter.line(harmless(run.title, ascii_only=is_ascii()), bold=True)
            if not run.is_full:
                seen = f"{len(run.cases)} of {len(run.expected_ids)} cases ran"
                terminalreporter.line(f"nothing: {seen}, and what is suggested is for all of them")
                continue
            found = learn(run, session.suite(session.root / run.path).policy)
            write_lines(terminalreporter, noise_table(found, width=width, ascii_only=is_ascii()))
            texts.append(patch_text(run, verdict, found))
            terminalreporter.line("")
            for text in harmless(texts[-1], ascii_only=is_ascii()).splitlines():
                terminalreporter.line(text)
        if self.target is not None and texts:
            _write(self.target, "---\n".join(texts), terminalreporter)


def _write(target: Path, text: str, terminalreporter: Any) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as exc:
        terminalreporter.line(f"{target}: cannot be written: {exc.strerror or exc}", red=True)
    else:
        terminalreporter.line(f"written to {target}")
