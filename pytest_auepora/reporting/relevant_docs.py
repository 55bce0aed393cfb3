"""The relevant documents of a case, with the ranks they were found at, now and in the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..core.grouping import grouped
from ..core.run import CaseResult
from ..regression.compare import CaseComparison
from .text import shortened


class RelevantDoc(NamedTuple):
    """A relevant document: the rank it was found at now and in the baseline; None is not returned.

    ``known`` says whether the baseline knows anything about it.
    """

    label: str
    grade: int
    rank: int | None
    before: int | None = None
    known: bool = False

    @property
    def short(self) -> str:
        """The label, cut where it holds a long quotation, whose end stays marked."""
        cut = shortened(self.label, 40)
        return f'{cut}"' if cut != self.label and cut.count('"') % 2 else cut

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
    grades = grouped((_name(label), int(label.get("grade", 1))) for label in labels)  # a label may be given twice
    if not result.ranks:
        return [RelevantDoc(_name(d), int(d.get("grade", 1)), None) for d in labels if int(d.get("grade", 1)) >= 1]
    out = []
    for name, rank in result.ranks.items():
        span_of = (label for label in labels if name.startswith(f"{label.get('id')}["))
        found = grades.get(name) or [int(label.get("grade", 1)) for label in span_of]
        out.append(RelevantDoc(name, max(found, default=1), rank, before.get(name), name in before))
    return out


def _name(label: Mapping[str, Any]) -> str:
    quote = label.get("quote")
    return f'{label.get("id")}: "{quote}"' if quote else str(label.get("id"))


def score_texts(hits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the scores that the system gave its documents; empty texts where it gave none, which arrive as zeros."""
    scores = [hit.get("score") for hit in hits]
    if not any(scores):
        return [""] * len(hits)
    return [f"{score:.4g}" if isinstance(score, (int, float)) else "" for score in scores]


def source_text(hit: Mapping[str, Any]) -> str:
    """Return the document that a hit was cut from, where its id does not say so itself; else nothing."""
    source = str(hit.get("doc") or "")
    return "" if str(hit.get("id")).startswith(source) else source
