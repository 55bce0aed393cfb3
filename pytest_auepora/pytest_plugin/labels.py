"""Labels of a golden file whose chunk ids are gone from the corpus.

What looks up labels is imported where it is used: most projects name no corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..base.files import shown_path
from ..evaluation.project_hooks import ProjectHooks
from ..io.golden.model import GoldenCase, GoldenSuite
from .options import Options

if TYPE_CHECKING:
    from ..io.edit import Slot
    from ..labels.check import CheckedLabel
    from ..labels.corpus import Corpus, Recall


@dataclass(eq=False, repr=False)
class SuiteLabels:
    """The labels of *suite* in this process, and the corpus that they are looked up in.

    Attributes:
        suite: the golden file.
        options: what the user asks for.
        project: says what the corpus is where no fixture does; None: nobody is asked.
        old_recalls: what tells which chunks the old ids stood for, besides the history.
    """

    suite: GoldenSuite
    options: Options
    project: ProjectHooks | None
    old_recalls: Sequence[Recall]
    _given: Any = field(init=False, default=None)
    _corpus: Corpus | None = field(init=False, default=None)

    @cached_property
    def _from_hook(self) -> Any:
        return self.project and self.project.corpus(self.suite.name, self.suite.path)

    def corpus(self, value: Any) -> Corpus | None:
        """Return the corpus: *value*, that of the fixture, else the hook's; None without either.

        Raises:
            CorpusError: it is none.
        """
        value = self._from_hook if value is None else value
        if value is not self._given:
            from ..labels.corpus import corpus_of

            self._given, self._corpus = value, None if value is None else corpus_of(value)
        return self._corpus

    def id_check_for(self, value: Any) -> Callable[[str], bool] | None:
        """Return the check whether an id is that of a chunk or document of the corpus; None without a corpus.

        Raises:
            CorpusError: it is none.
        """
        corpus = self.corpus(value)
        return None if corpus is None else lambda name: name in corpus or name in corpus.by_source

    def check(self, case: GoldenCase, corpus: Corpus) -> list[CheckedLabel]:
        """Return the labels of *case*, each with what became of it."""
        from ..labels.check import check_case

        return check_case(case, corpus, self._recalls)

    @cached_property
    def places(self) -> dict[Slot, tuple[int, int]]:
        """Line and column of every label in the golden file, as it was when first asked."""
        from ..io.edit import LabelFile

        return LabelFile(self.suite.path).places()

    @cached_property
    def _recalls(self) -> list[Recall]:
        """What tells which chunks the old ids stood for."""
        place, root = self.options.history_place, self.options.config.rootpath
        if place is None:
            return [*self.old_recalls]
        from ..history.answers import history_recall
        from ..history.store import HistoryStore

        hashes = {case.id: case.content_hash for case in self.suite.cases}
        path = shown_path(self.suite.path, root)
        return [*self.old_recalls, history_recall(HistoryStore(place, root), self.suite.name, path, hashes)]

    def relabel(self, case: GoldenCase, value: Any, rechunked: bool) -> GoldenCase:
        """Return *case* as it is to be scored: labels that moved are matched by passage or document.

        Nothing is looked up while all ids are in the corpus and still mean the same chunks.

        Args:
            case: the case.
            value: the project's corpus; None: its hook is asked.
            rechunked: whether documents are cut otherwise than for the baseline.

        Raises:
            CorpusError: what should be the corpus is none.
        """
        corpus = self.corpus(value)
        gold = case.sample.relevant_docs
        if corpus is None or not gold:
            return case
        by_id = [doc for doc in gold if doc.metadata.get("match", "id") == "id"]
        doubtful = any(doc.doc_id not in corpus or doc.text for doc in by_id)
        if not doubtful and not (by_id and (rechunked or self.old_recalls)):
            return case
        from ..labels.check import relabel

        return relabel(case, self.check(case, corpus), corpus, strict=self.options.strict_labels)
