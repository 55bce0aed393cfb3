"""``--auepora-labels check`` and ``repair``: golden cases check their labels in place of calling the system."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from ..base.json import dumps
from ..base.records import read_record
from ..core.run import run_title
from ..errors import AueporaError
from ..labels.check import CheckedCase, CheckedLabel, provable_new_ids
from ..labels.repair import Repaired, baselines_of, repair
from ..reporting.terminal.labels import label_page, moved_text, remaining_labels, repaired_texts
from ..reporting.text import harmless
from .compat import variant_of
from .keys import CASE, CORPUS
from .output import terminal_width, write_lines
from .session import SUITE, AueporaSession

_CHECKED: pytest.StashKey[str] = pytest.StashKey()
_ATTRIBUTE = "auepora_labels"
"""The labels of one case in one configuration, as JSON: on its item, and on the report that travels."""


def check_labels(session: AueporaSession) -> None:
    """Body of every golden item while labels are checked: fails where one of the case moved."""
    __tracebackhide__ = True
    item = session.running
    case, suite = item.stash[CASE], item.stash[SUITE]
    try:
        corpus = suite.labels.corpus(item.funcargs.get(CORPUS))
        if corpus is None:
            hook = "pytest_auepora_corpus"
            pytest.fail(f"no corpus to check against: define the fixture {CORPUS} or the hook {hook}", pytrace=False)
        labels = suite.labels.check(case, corpus)
    except AueporaError as exc:
        pytest.fail(str(exc), pytrace=False)
    item.stash[_CHECKED] = dumps(CheckedCase(suite.path, variant_of(item, CORPUS), labels))
    new_ids = provable_new_ids(labels) if session.options.repairing else {}
    if moved := [label for label in labels if label.finding.moved and label.index not in new_ids]:
        places = suite.labels.places
        texts = (moved_text(label, _where(suite.path, places.get((case.id, label.index)))) for label in moved)
        pytest.fail("\n".join(texts), pytrace=False)


def _where(path: str, place: tuple[int, int] | None) -> str:
    return path if place is None else f"{path}:{place[0]}:{place[1]}"


class Checking:
    """In every process: runs golden cases only, and puts their checked labels on the report."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect everything that is no golden case: it might call the system."""
        others = [item for item in items if CASE not in item.stash]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if CASE in item.stash]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the checked labels on the report, as text that xdist can send."""
        report = yield
        if call.when == "call" and (checked := item.stash.get(_CHECKED, None)) is not None:
            setattr(report, _ATTRIBUTE, checked)
        return report


@dataclass(slots=True, eq=False)
class LabelReport:
    """In the controller: gathers checked labels, rewrites golden files if asked to, reports."""

    session: AueporaSession
    checked_labels: dict[str, dict[str, tuple[str, list[CheckedLabel]]]] = field(default_factory=dict)
    repaired: dict[str, Repaired] = field(default_factory=dict)
    note: str = ""

    def pytest_report_header(self) -> str:
        """Say that nothing will be called."""
        rewriting = " and rewrite those that provably moved" if self.session.options.repairing else ""
        return f"auepora: check labels{rewriting}; the system is not called"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the checked labels of a case; a rerun replaces them."""
        if (text := getattr(report, _ATTRIBUTE, None)) is not None:
            checked = read_record(CheckedCase, text, by_hand=False)
            self.checked_labels.setdefault(checked.path, {})[report.nodeid] = checked.variant, checked.labels

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Rewrite the golden files, once everything is known."""
        for path in self.checked_labels:
            _ = self.session.load(path).labels.places  # as they are now
        if not self.checked_labels and session.exitstatus == pytest.ExitCode.OK:
            self.note = "no golden case was checked"
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if not self.session.options.repairing:
            return
        if session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED:
            self.note = "the run was stopped, so nothing was rewritten"
            return
        for path, checked in self.checked_labels.items():
            golden = self.session.load(path).golden
            baselines = baselines_of(golden, self.session.options.override)
            labels = [of_case for _, of_case in checked.values()]
            repaired = self.repaired[path] = repair(golden.path, labels, baselines, self.session.project.registry)
            # configurations that do not agree leave labels to people that each by itself would have repaired
            if repaired.problem or remaining_labels(repaired, [label for of_case in labels for label in of_case]):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell, file by file, what became of the labels."""
        if not self.checked_labels and not self.note:
            return
        terminalreporter.section("auepora labels", sep="=", bold=True)
        width = terminal_width(self.session.config)
        for path, checked in sorted(self.checked_labels.items()):
            suite, repaired = self.session.load(path), self.repaired.get(path)
            for variant in sorted({variant for variant, _ in checked.values()}):
                labels = [label for other, of_case in checked.values() if other == variant for label in of_case]
                title = run_title(suite.golden.name, variant)
                page = label_page(title, path, labels, suite.labels.places, repaired, width=width)
                write_lines(terminalreporter, page)
            if repaired is not None:
                for text in repaired_texts(repaired, [label for _, of_case in checked.values() for label in of_case]):
                    terminalreporter.line(harmless(text))
        if self.note:
            terminalreporter.line(harmless(f"auepora: {self.note}"), yellow=True)
