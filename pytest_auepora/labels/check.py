"""The labels of golden cases against a corpus: what became of each, and which can be repaired without asking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..core.types import Document
from ..io.golden.load import GoldenCase
from ..metrics.ranking.gold import label_of
from .classify import Candidate, Finding, Kind, classify
from .corpus import Corpus
from .passages import Recall, recalled

__all__ = ["CheckedLabel", "check_case", "repairs", "tally"]


@dataclass(frozen=True, slots=True)
class CheckedLabel:
    """One label of a case.  ``index`` is its place among ``relevant_docs``; ``name`` is as reports write it."""

    case_id: str
    index: int
    name: str
    by_id: bool
    finding: Finding

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> CheckedLabel:
        """Read what `to_dict` gave."""
        said = dict(raw["finding"])
        said["candidates"] = tuple(Candidate(**c) for c in said["candidates"])
        return cls(**{**raw, "finding": Finding(**said)})


def check_case(case: GoldenCase, corpus: Corpus, recalls: Sequence[Recall] = ()) -> list[CheckedLabel]:
    """Say what became of every label of *case*; *recalls* know what ids stood for, the surest first."""
    out = []
    for index, label in enumerate(case.sample.relevant_docs or ()):
        by_id = _by_id(label)
        known = recalled(case.id, label, recalls) if by_id else ()
        out.append(CheckedLabel(case.id, index, label_of(label).name, by_id, classify(label, corpus, known)))
    return out


def _by_id(label: Document) -> bool:
    return bool(label.metadata.get("match", "id") == "id")


def repairs(labels: Sequence[CheckedLabel]) -> dict[int, str]:
    """Return the new id of each label of one case that provably is, or lies in, one chunk, by the label's index.

    Two labels that would come to name the same chunk are left alone: which of them to drop, and which grade
    holds, is for people to say.
    """
    wanted = {one.index: one.finding.new_id for one in labels if one.by_id and one.finding.moved and one.finding.new_id}
    names = Counter(wanted.get(one.index, one.name) for one in labels if one.by_id)
    return {index: new for index, new in wanted.items() if names[new] == 1}


def tally(labels: Iterable[CheckedLabel]) -> Counter[Kind]:
    """Count the labels by what became of them."""
    return Counter(one.finding.kind for one in labels)
