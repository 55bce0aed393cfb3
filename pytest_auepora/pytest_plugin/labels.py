"""What one process knows of the corpus, and of labels whose chunk ids are gone from it.

What looks up labels is imported where it is used: most projects name no corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..errors import CorpusError

if TYPE_CHECKING:
    from ..io.edit import Slot
    from ..io.golden.model import GoldenCase, GoldenSuite
    from ..labels.check import CheckedLabel
    from ..labels.corpus import Corpus, Recall
    from .hooks import ProjectHooks
    from .options import Options


class Labels:
    """One per process that runs cases.

    Args:
        options: what the user asks for.
        project: says what the corpus is where no fixture does.
        replaying: whether what is scored was settled when it was recorded: the corpus of today says nothing about it.
    """

    def __init__(self, options: Options, project: ProjectHooks, *, replaying: bool = False) -> None:
        self._options, self._project, self._replaying = options, project, replaying
        self._given: dict[Path, tuple[Any, Corpus | None]] = {}
        self._hooked: dict[Path, Any] = {}
        self._places: dict[Path, dict[Slot, tuple[int, int]]] = {}
        self._recalls: dict[Path, list[Recall]] = {}

    def corpus(self, suite: GoldenSuite, given: Any) -> Corpus | None:
        """Return the corpus of *suite*: what the fixture gave, else what the hook says; None where nobody does.

        Raises:
            CorpusError: it is none.
        """
        from ..labels.corpus import corpus_of

        if given is None:
            given = self._from_hook(suite)
        known = self._given.get(suite.path)
        if known is None or known[0] is not given:
            known = self._given[suite.path] = given, None if given is None else corpus_of(given)
        return known[1]

    def known(self, suite: GoldenSuite, given: Any) -> Callable[[str], bool] | None:
        """Return what says whether an id is that of a chunk or document of the corpus; None where there is none.

        Raises:
            CorpusError: it is none.
        """
        corpus = None if self._replaying else self.corpus(suite, given)
        return None if corpus is None else lambda name: name in corpus or name in corpus.by_source

    def _from_hook(self, suite: GoldenSuite) -> Any:
        if suite.path not in self._hooked:
            self._hooked[suite.path] = self._project.corpus(suite.name, suite.path)
        return self._hooked[suite.path]

    def check(self, suite: GoldenSuite, case: GoldenCase, corpus: Corpus) -> list[CheckedLabel]:
        """Say what became of the labels of *case*."""
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
        _ = self._old

    @cached_property
    def _old(self) -> list[Recall]:
        """What ``--auepora-labels old=FILE`` remembers."""
        if not (given := self._options.old_corpus):
            return []
        from ..labels.corpus import corpus_recall, load_corpus

        path = self._options.config.invocation_params.dir / given
        try:
            return [corpus_recall(load_corpus(path), path)]
        except CorpusError as exc:
            raise pytest.UsageError(f"--auepora-labels old={given}: {exc}") from None

    def _recalls_of(self, suite: GoldenSuite) -> list[Recall]:
        if (found := self._recalls.get(suite.path)) is None:
            found = self._recalls[suite.path] = [*self._old, *self._history(suite)]
        return found

    def _history(self, suite: GoldenSuite) -> list[Recall]:
        from ..history.recall import history_recall
        from ..history.store import HistoryStore

        if (place := self._options.history_place) is None:
            return []
        return [history_recall(HistoryStore(place), suite.name, {c.id: c.content_hash for c in suite.cases})]

    def settle(
        self, suite: GoldenSuite, case: GoldenCase, given: Any, then: Mapping[str, Any] | None, now: Mapping[str, Any]
    ) -> GoldenCase:
        """Return *case* as it is to be scored: labels that moved are matched by passage or document.

        While all ids are in the corpus and nobody said that they mean other chunks now, nothing is looked up.

        Args:
            suite: its suite.
            case: the case.
            given: the project's corpus; None: its hook is asked.
            then: the provenance of the baseline, if there is one.
            now: that of this run.

        Raises:
            CorpusError: what should be the corpus is none.
        """
        if self._replaying or (given is None and not self._project.has_corpus):
            return case
        from ..core.metrics_base import CHUNK_KEYS
        from ..labels.check import settle
        from ..regression.compare.comparability import provenance_changes

        corpus = self.corpus(suite, given)
        gold = case.sample.relevant_docs
        if corpus is None or not gold:
            return case
        by_id = [doc for doc in gold if doc.metadata.get("match", "id") == "id"]
        doubtful = any(doc.doc_id not in corpus or doc.text for doc in by_id)
        changed = then is not None and not provenance_changes(then, now).keys().isdisjoint(CHUNK_KEYS)
        if not doubtful and not (by_id and (changed or self._old)):
            return case
        return settle(case, self.check(suite, case, corpus), corpus, strict=self._options.strict_labels)
