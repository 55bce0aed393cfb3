"""The labels of golden files against a corpus in a file: ``pytest --auepora-labels check`` without pytest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..errors import CorpusError
from ..io.golden.load import GoldenSuite
from ..metrics.registry import Registry
from .exit_codes import UsageError

__all__ = ["FoundLabels", "LabelCheck", "label_check"]


@dataclass(frozen=True, slots=True)
class FoundLabels:
    """What became of the labels of one golden file, and what was rewritten."""

    suite: GoldenSuite
    labels: Sequence[Any]
    places: dict[tuple[str, int], tuple[int, int]]
    repaired: Any = None

    @property
    def is_bad(self) -> bool:
        """Whether a label moved and was not repaired."""
        from ..reporting.terminal.labels import left_of

        return bool(left_of(self.repaired, self.labels) or (self.repaired and self.repaired.problem))

    def lines(self, path: str) -> list[str]:
        """Return the report as text."""
        from ..reporting.terminal.labels import label_page, repaired_texts
        from ..reporting.terminal.layout import render

        page = label_page(self.suite.name, path, self.labels, self.places, self.repaired, width=120)
        return [*render(page).splitlines(), *(repaired_texts(self.repaired, self.labels) if self.repaired else ())]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return plain data, a mapping for each label."""
        done = self.repaired.new_ids if self.repaired is not None else {}
        return [
            {**one.to_dict(), "line": line, "col": col, "rewritten_to": done.get((one.case_id, one.index))}
            for one in self.labels
            for line, col in [self.places.get((one.case_id, one.index), (0, 0))]
        ]


class LabelCheck:
    """Checks golden files against the corpus that the command line names."""

    def __init__(self, given: argparse.Namespace, registry: Registry) -> None:
        from ..labels.corpus import load_corpus
        from ..labels.passages import corpus_recall

        self._registry = registry
        self._rewrite: bool = given.reanchor
        try:
            self._corpus = load_corpus(given.corpus)
            before = given.reanchor_from
            self._recalls = [corpus_recall(load_corpus(before), before)] if before is not None else []
        except CorpusError as exc:
            raise UsageError(str(exc)) from None

    def of(self, suite: GoldenSuite) -> FoundLabels:
        """Check the labels of *suite*, and rewrite them if that was asked for."""
        from ..history.recall import history_recall
        from ..io.label_edits import LabelFile
        from ..labels.check import check_case
        from ..labels.repair import baselines_of, repair
        from .sources import open_history

        recalls = list(self._recalls)
        with suppress(UsageError):  # history is switched off
            recalls.append(history_recall(open_history(""), suite.name, {c.id: c.content_hash for c in suite.cases}))
        checked = [check_case(case, self._corpus, recalls) for case in suite.cases]
        places = LabelFile(suite.path).places()
        done = repair(suite.path, checked, baselines_of(suite), self._registry) if self._rewrite else None
        return FoundLabels(suite, [one for labels in checked for one in labels], places, done)


def label_check(given: argparse.Namespace, registry: Registry) -> LabelCheck | None:
    """Return what checks labels, None where no corpus is named.

    Raises:
        UsageError: the corpus cannot be read, or an option stands there without one.
    """
    if given.corpus is None:
        if given.reanchor or given.reanchor_from is not None:
            raise UsageError("--reanchor and --reanchor-from need --corpus FILE: the chunks there are now")
        return None
    return LabelCheck(given, registry)
