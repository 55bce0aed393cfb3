"""Labels whose chunk ids are gone from the corpus: rematched in a run, checked by ``--auepora-labels``.

What looks up labels is imported where it is used: most projects name no corpus.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..core.files import shown_path
from ..core.run import run_title
from ..errors import AueporaError, CorpusError
from .compat import variant_of
from .session import CASE, CORPUS, SUITE, AueporaSession

if TYPE_CHECKING:
    from ..io.edit import Slot
    from ..io.golden.model import GoldenCase, GoldenSuite
    from ..labels.check import CheckedLabel
    from ..labels.corpus import Corpus, Recall
    from ..labels.repair import Repaired
    from .hooks import ProjectHooks
    from .options import Options


class Labels:
    """One per process that runs cases.

    Args:
        options: what the user asks for.
        project: says what the corpus is where no fixture does.
        replaying: whether labels were matched when the answer was recorded: the corpus of today says nothing about it.
    """

    def __init__(self, options: Options, project: ProjectHooks, *, replaying: bool = False) -> None:
        self._options, self._project, self._replaying = options, project, replaying
        self._given: dict[Path, tuple[Any, Corpus | None]] = {}
        self._hooked: dict[Path, Any] = {}
        self._places: dict[Path, dict[Slot, tuple[int, int]]] = {}
        self._recalls: dict[Path, list[Recall]] = {}

    def corpus(self, suite: GoldenSuite, value: Any) -> Corpus | None:
        """Return the corpus of *suite*: the fixture's, else the hook's; None without either.

        Raises:
            CorpusError: it is none.
        """
        from ..labels.corpus import corpus_of

        if value is None:
            value = self._from_hook(suite)
        cached = self._given.get(suite.path)
        if cached is None or cached[0] is not value:
            cached = self._given[suite.path] = value, None if value is None else corpus_of(value)
        return cached[1]

    def id_check_for(self, suite: GoldenSuite, value: Any) -> Callable[[str], bool] | None:
        """Return the check whether an id is that of a chunk or document of the corpus; None without a corpus.

        Raises:
            CorpusError: it is none.
        """
        corpus = None if self._replaying else self.corpus(suite, value)
        return None if corpus is None else lambda name: name in corpus or name in corpus.by_source

    def _from_hook(self, suite: GoldenSuite) -> Any:
        if suite.path not in self._hooked:
            self._hooked[suite.path] = self._project.corpus(suite.name, suite.path)
        return self._hooked[suite.path]

    def check(self, suite: GoldenSuite, case: GoldenCase, corpus: Corpus) -> list[CheckedLabel]:
        """Return the labels of *case*, each with what became of it."""
        from ..labels.check import check_case

        return check_case(case, corpus, self._recalls_of(suite))

    def places(self, path: Path) -> dict[Slot, tuple[int, int]]:
        """Return line and column of every label of the golden file at *path*, as it was when first asked."""
        from ..io.edit import LabelFile

        if path not in self._places:
            self._places[path] = LabelFile(path).places()
        return self._places[path]

    def read_options(self) -> None:
        """Read the file that ``--auepora-labels old=FILE`` names.

        Raises:
            pytest.UsageError: it cannot be read.
        """
        _ = self._old_recalls

    @cached_property
    def _old_recalls(self) -> list[Recall]:
        """The recall of the corpus that ``--auepora-labels old=FILE`` names."""
        if not (file_name := self._options.old_corpus):
            return []
        from ..labels.corpus import corpus_recall, load_corpus

        path = self._options.config.invocation_params.dir / file_name
        try:
            return [corpus_recall(load_corpus(path), path)]
        except CorpusError as exc:
            raise pytest.UsageError(f"--auepora-labels old={file_name}: {exc}") from None

    def _recalls_of(self, suite: GoldenSuite) -> list[Recall]:
        if (recalls := self._recalls.get(suite.path)) is None:
            recalls = self._recalls[suite.path] = [*self._old_recalls]
            if (place := self._options.history_place) is not None:
                from ..history.answers import history_recall
                from ..history.store import HistoryStore

                hashes = {case.id: case.content_hash for case in suite.cases}
                path = shown_path(suite.path, root := self._options.config.rootpath)
                recalls.append(history_recall(HistoryStore(place, root), suite.name, path, hashes))
        return recalls

    def relabel(self, suite: GoldenSuite, case: GoldenCase, value: Any, *, recut: bool) -> GoldenCase:
        """Return *case* as it is to be scored: labels that moved are matched by passage or document.

        Nothing is looked up while all ids are in the corpus and still mean the same chunks.

        Args:
            suite: its suite.
            case: the case.
            value: the project's corpus; None: its hook is asked.
            recut: whether documents are cut otherwise than for the baseline.

        Raises:
            CorpusError: what should be the corpus is none.
        """
        if self._replaying:
            return case
        from ..labels.check import relabel

        corpus = self.corpus(suite, value)
        gold = case.sample.relevant_docs
        if corpus is None or not gold:
            return case
        by_id = [doc for doc in gold if doc.metadata.get("match", "id") == "id"]
        doubtful = any(doc.doc_id not in corpus or doc.text for doc in by_id)
        if not doubtful and not (by_id and (recut or self._old_recalls)):
            return case
        return relabel(case, self.check(suite, case, corpus), corpus, strict=self._options.strict_labels)


# -- checking labels, in place of running cases

_CHECKED: pytest.StashKey[str] = pytest.StashKey()
_ATTRIBUTE = "auepora_labels"
"""The labels of one case in one configuration, as JSON: on its item, and on the report that travels."""


def check_labels(session: AueporaSession) -> None:
    """Body of every golden item while labels are checked: fails where one of the case moved."""
    __tracebackhide__ = True
    from ..labels.check import provable_new_ids

    item = session.running
    case, suite = item.stash[CASE], item.stash[SUITE]
    try:
        corpus = session.labels.corpus(suite.golden, item.funcargs.get(CORPUS))
        if corpus is None:
            hook = "pytest_auepora_corpus"
            pytest.fail(f"no corpus to check against: define the fixture {CORPUS} or the hook {hook}", pytrace=False)
        labels = session.labels.check(suite.golden, case, corpus)
    except AueporaError as exc:
        pytest.fail(str(exc), pytrace=False)
    item.stash[_CHECKED] = json.dumps([suite.path, variant_of(item, CORPUS), [label.to_dict() for label in labels]])
    new_ids = provable_new_ids(labels) if session.options.repairing else {}
    if moved := [label for label in labels if label.finding.moved and label.index not in new_ids]:
        from ..reporting.terminal.labels import moved_text

        places = session.labels.places(suite.golden.path)
        texts = (moved_text(label, _where(suite.path, places.get((case.id, label.index)))) for label in moved)
        pytest.fail("\n".join(texts), pytrace=False)


async def check_labels_async(session: AueporaSession) -> None:
    """Do the same where the corpus comes from an async fixture."""
    __tracebackhide__ = True
    check_labels(session)


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
            from ..labels.check import CheckedLabel

            path, variant, labels = json.loads(text)
            checked = variant, [CheckedLabel.from_dict(label) for label in labels]
            self.checked_labels.setdefault(path, {})[report.nodeid] = checked

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Rewrite the golden files, once everything is known."""
        from ..reporting.terminal.labels import remaining_labels

        for path in self.checked_labels:
            self.session.labels.places(self.session.config.rootpath / path)  # as they are now
        if not self.checked_labels and session.exitstatus == pytest.ExitCode.OK:
            self.note = "no golden case was checked"
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if not self.session.options.repairing:
            return
        if session.shouldstop or session.shouldfail or session.exitstatus == pytest.ExitCode.INTERRUPTED:
            self.note = "the run was stopped, so nothing was rewritten"
            return
        from ..labels.repair import baselines_of, repair

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
        from ..reporting.terminal.labels import label_page, repaired_texts
        from ..reporting.text import harmless
        from .results.terminal import is_ascii, write_lines

        if not self.checked_labels and not self.note:
            return
        terminalreporter.section("auepora labels", sep="=", bold=True)
        width = self.session.config.get_terminal_writer().fullwidth
        for path, checked in sorted(self.checked_labels.items()):
            golden = self.session.load(path).golden
            places, repaired = self.session.labels.places(golden.path), self.repaired.get(path)
            for variant in sorted({variant for variant, _ in checked.values()}):
                labels = [label for other, of_case in checked.values() if other == variant for label in of_case]
                title = run_title(golden.name, variant)
                lines = label_page(title, path, labels, places, repaired, width=width, ascii_only=is_ascii())
                write_lines(terminalreporter, lines)
            if repaired is not None:
                for text in repaired_texts(repaired, [label for _, of_case in checked.values() for label in of_case]):
                    terminalreporter.line(harmless(text))
        if self.note:
            terminalreporter.line(harmless(f"auepora: {self.note}"), yellow=True)
