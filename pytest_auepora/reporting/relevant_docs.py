"""The relevant documents of a case, with their ranks now and in the baseline; the answer that reports show of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..base.grouping import grouped
from ..core.run import CaseResult
from ..regression.compare import CaseComparison
from .text import shortened


class RelevantDoc(NamedTuple):
    """A relevant document: its rank now and before, None where not retrieved; ``known``: the baseline has it."""

    label: str
    grade: int
    rank: int | None
    before: int | None = None
    known: bool = False

    @property
    def short(self) -> str:
        """The label, shortened; a quotation in it stays closed."""
        text = shortened(self.label, 40)
        return f'{text}"' if text != self.label and text.count('"') % 2 else text

    @property
    def fell(self) -> int:
        """How many ranks further down it is than it was; 0 where it is not, or is not in both."""
        return max(self.rank - self.before, 0) if self.rank is not None and self.before is not None else 0

    def within(self, k: int | None) -> bool:
        """Whether it is in the top *k*; in the whole list for None."""
        return self.rank is not None and (k is None or self.rank <= k)

    def was_within(self, k: int | None) -> bool:
        """Whether it was in the top *k* of the baseline."""
        return self.before is not None and (k is None or self.before <= k)


def relevant_docs(result: CaseResult, comparison: CaseComparison | None = None) -> list[RelevantDoc]:
    """Return the relevant documents of a case with their ranks, in the order of the golden file."""
    before = comparison.before.ranks if comparison is not None and comparison.before is not None else {}
    labels = [
        (str(label.get("name") or label.get("id")), int(label.get("grade", 1)))
        for label in result.expected.get("relevant") or ()
    ]
    if not result.ranks:
        return [RelevantDoc(name, grade, None) for name, grade in labels if grade >= 1]
    grades = grouped(labels)  # a label may be given twice
    return [
        RelevantDoc(name, max(grades.get(name, ()), default=1), rank, before.get(name), name in before)
        for name, rank in result.ranks.items()
    ]


def as_shown(result: CaseResult) -> CaseResult:
    """Return *result* with texts, ranks and details of its worst repeat; its scores stay the means."""
    worst = result.worst_repeat
    if worst is None or worst.outputs is None:
        return result
    scores = {name: replace(score, details=worst.details.get(name, {})) for name, score in result.scores.items()}
    texts = replace(result.texts.read(), outputs=worst.outputs)
    return replace(result, ranks=worst.ranks, scores=scores, texts=texts)


def grade_of(hit: Mapping[str, Any]) -> int:
    """Return how relevant a returned document is: 0 for not at all, or not labelled."""
    return int(hit.get("grade") or 0)


def score_texts(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the retrieval scores of the documents; empty texts where all are missing or zero."""
    scores = [hit.get("score") for hit in hits]
    known = any(scores)
    return [f"{score:.4g}" if known and isinstance(score, (int, float)) else "" for score in scores]


def source_text(hit: Mapping[str, Any]) -> str:
    """Return the document that a hit is a chunk of, unless its id begins with it; else an empty string."""
    source = str(hit.get("doc") or "")
    return "" if str(hit.get("id")).startswith(source) else source
