"""``--auepora-labels check`` and ``repair``: the labels of golden cases against the corpus, without a call."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from ..core.run import run_title
from ..errors import AueporaError
from ..labels.check import CheckedLabel, repairs
from ..labels.repair import Repaired, baselines_of, repair
from .compat import variant_of
from .session import CASE, CORPUS, SUITE, AueporaSession

if TYPE_CHECKING:
    from .labels import Labels
    from .options import Options
    from .suites import Suites

_CHECKED: pytest.StashKey[Checked] = pytest.StashKey()
_ATTRIBUTE = "auepora_labels"


@dataclass(slots=True)
class Checked:
    """The labels of one case in one configuration, as they travel to the process that reports them."""

    path: str
    variant: str
    labels: list[CheckedLabel] = field(default_factory=list)


def check_labels(session: AueporaSession) -> None:
    """Body of every golden item while labels are checked: fails where one of the case moved."""
    __tracebackhide__ = True
    item = session.running
    case, suite = item.stash[CASE], item.stash[SUITE]
    try:
        corpus = session.labels.corpus(suite, item.funcargs.get(CORPUS))
        if corpus is None:
            hook = "pytest_auepora_corpus"
            pytest.fail(f"no corpus to check against: define the fixture {CORPUS} or the hook {hook}", pytrace=False)
        labels = session.labels.check(suite, case, corpus)
    except AueporaError as exc:
        pytest.fail(str(exc), pytrace=False)
    path = session.suites.relative(suite.path)
    item.stash[_CHECKED] = Checked(path, variant_of(item, CORPUS), labels)
    mended = repairs(labels) if session.options.repairing else {}
    if bad := [one for one in labels if one.finding.moved and one.index not in mended]:
        from ..reporting.terminal.labels import moved_text

        places = session.labels.places(suite.path)
        told = (moved_text(one, _where(path, places.get((case.id, one.index)))) for one in bad)
        pytest.fail("\n".join(told), pytrace=False)


async def check_labels_async(session: AueporaSession) -> None:
    """Do the same where the corpus comes from an async fixture."""
    __tracebackhide__ = True
    check_labels(session)


def _where(path: str, place: tuple[int, int] | None) -> str:
    return path if place is None else f"{path}:{place[0]}:{place[1]}"


class Checking:
    """In every process: golden cases only, and what was found goes along with the report of the item."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out everything that is no golden case: it might call the system."""
        others = [item for item in items if CASE not in item.stash]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = [item for item in items if CASE in item.stash]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put what was found on the report, in a form that travels between processes."""
        report = yield
        if call.when == "call" and (found := item.stash.get(_CHECKED, None)) is not None:
            labels = [one.to_dict() for one in found.labels]
            text = json.dumps({"path": found.path, "variant": found.variant, "labels": labels})
            setattr(report, _ATTRIBUTE, text)
        return report


@dataclass(slots=True, eq=False)
class Report:
    """In the controller: gathers, rewrites if asked to, reports."""

    config: pytest.Config
    options: Options
    suites: Suites
    labels: Labels
    found: dict[str, list[Checked]] = field(default_factory=dict)
    repaired: dict[str, Repaired] = field(default_factory=dict)
    places: dict[str, dict[tuple[str, int], tuple[int, int]]] = field(default_factory=dict)
    note: str = ""

    def pytest_report_header(self) -> str:
        """Say that nothing will be called."""
        what = "check labels and rewrite those that provably moved" if self.options.repairing else "check labels"
        return f"auepora: {what}; the system is not called"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what was found about a case."""
        if (text := getattr(report, _ATTRIBUTE, None)) is not None:
            raw = json.loads(text)
            labels = [CheckedLabel.from_dict(one) for one in raw["labels"]]
            self.found.setdefault(raw["path"], []).append(Checked(raw["path"], raw["variant"], labels))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Rewrite the golden files, once everything is known."""
        from ..reporting.terminal.labels import left_of

        for path in self.found:
            self.places[path] = self.labels.places(self.config.rootpath / path)
        if not self.found and session.exitstatus == pytest.ExitCode.OK:
            self.note = "no golden case was checked"
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if not self.options.repairing:
            return
        if session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED:
            self.note = "the run was stopped, so nothing was rewritten"
            return
        for path, checked in self.found.items():
            baselines = baselines_of(suite := self.suites.at(path), self.options.override)
            labels = [one.labels for one in checked]
            done = self.repaired[path] = repair(suite.path, labels, baselines, self.suites.registry)
            # configurations that do not agree leave labels to people that each by itself would have repaired
            if done.problem or left_of(done, [label for one in checked for label in one.labels]):
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell, file by file, what became of the labels."""
        from ..reporting.terminal.labels import label_page, repaired_texts
        from ..reporting.text import harmless
        from .results.terminal import is_ascii, write_lines

        if not self.found and not self.note:
            return
        terminalreporter.section("auepora labels", sep="=", bold=True)
        width = self.config.get_terminal_writer().fullwidth
        for path, checked in sorted(self.found.items()):
            suite = self.suites.at(path)
            for variant in sorted({one.variant for one in checked}):
                labels = [label for one in checked if one.variant == variant for label in one.labels]
                title = run_title(suite.name, variant)
                lines = label_page(
                    title, path, labels, self.places[path], self.repaired.get(path), width=width, ascii_only=is_ascii()
                )
                write_lines(terminalreporter, lines)
            if (done := self.repaired.get(path)) is not None:
                for text in repaired_texts(done, [label for one in checked for label in one.labels]):
                    terminalreporter.line(harmless(text))
        if self.note:
            terminalreporter.line(harmless(f"auepora: {self.note}"), yellow=True)
