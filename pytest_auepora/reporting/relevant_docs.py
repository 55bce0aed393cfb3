"""The relevant documents of a case, with their ranks now and in the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.grouping import grouped
from ..core.run import CaseResult
from ..regression.compare import CaseComparison
from .text import shortened


class RelevantDoc(NamedTuple):
    """A relevant document: its rank now and in the baseline; None where it was not retrieved.

    ``known`` says whether the baseline has it.
    """

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

    def within(self, k: int | None) -> bool:
        """Whether it is in the top *k*; in the whole list for None."""
        return self.rank is not None and (k is None or self.rank <= k)

    def was_within(self, k: int | None) -> bool:
        """Whether it was in the top *k* of the baseline."""
        return self.before is not None and (k is None or self.before <= k)


def relevant_docs(result: CaseResult, comparison: CaseComparison | None = None) -> list[RelevantDoc]:
    """Return the relevant documents of a case with their ranks, in the order of the golden file."""
    before = comparison.before.ranks if comparison is not None and comparison.before is not None else {}
    labels: Sequence[Mapping[str, Any]] = result.expected.get("relevant") or ()
    grades = grouped((_label_name(label), int(label.get("grade", 1))) for label in labels)  # a label may be given twice
    if not result.ranks:
        return [
            RelevantDoc(_label_name(d), int(d.get("grade", 1)), None) for d in labels if int(d.get("grade", 1)) >= 1
        ]
    out = []
    for name, rank in result.ranks.items():
        span_of = (label for label in labels if name.startswith(f"{label.get('id')}["))
        label_grades = grades.get(name) or [int(label.get("grade", 1)) for label in span_of]
        out.append(RelevantDoc(name, max(label_grades, default=1), rank, before.get(name), name in before))
    return out


def _label_name(label: Mapping[str, Any]) -> str:
    quote = label.get("quote")
    return f'{label.get("id")}: "{quote}"' if quote else str(label.get("id"))


def score_texts(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the retrieval scores of the documents; empty texts where all are missing or zero."""
    scores = [hit.get("score") for hit in hits]
    if not any(scores):
        return [""] * len(hits)
    return [f"{score:.4g}" if isinstance(score, (int, float)) else "" for score in scores]


def source_text(hit: Mapping[str, Any]) -> str:
    """Return the document that a hit is a chunk of, unless its id begins with it; else an empty string."""
    source = str(hit.get("doc") or "")
    return "" if str(hit.get("id")).startswith(source) else source
